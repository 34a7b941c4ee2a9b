//! Strategies of other tuners beside Tilewright's on recorded spaces: `field spaces/*.json.gz --runs 25`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Parser;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde_json::{Map, json};
use tilewright_benchmarks::field::{Plan, TOOLS, Tool, Trace, contestant, seed};
use tilewright_recorded::{Content, read};
use tilewright_search::score::{Contestant, Estimate, ScoreReport, ScoreSettings, ScoredSpace, score};
use tilewright_search::{strategies, strategy};

/// Compares search strategies of several tuners on recorded spaces
#[derive(Debug, Parser)]
struct Arguments {
    /// Recordings: Kernel Tuner caches, T4 results, campaigns
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Runs of each strategy on each space
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Seed of every random draw
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Strategies of Tilewright [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    strategy: Vec<String>,
    /// Other tuners [default: those that are installed]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    tools: Option<Vec<String>>,
    /// Where traces of other tuners are kept: what is there is not run again
    #[arg(long, value_name = "DIR", default_value = "target/field")]
    traces: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let spaces = arguments.files.iter().map(|file| space(file)).collect::<Result<Vec<_>>>()?;
    let names = if arguments.strategy.is_empty() {
        strategies().iter().map(|entry| entry.id.to_owned()).collect()
    } else {
        arguments.strategy.clone()
    };
    let entries = names.iter().map(|name| strategy(name).with_context(|| format!("no strategy `{name}`")));
    let mut contestants: Vec<Contestant> =
        entries.map(|entry| entry.map(Contestant::from)).collect::<Result<_>>()?;
    let mut versions: BTreeMap<&str, String> = BTreeMap::new();
    for (tool, strategy, traces) in traces(&arguments, &spaces)? {
        versions.extend(traces.first().map(|(_, trace)| (tool.name, trace.version.clone())));
        contestants.push(contestant(format!("{}: {strategy}", tool.name), traces));
    }
    let settings = ScoreSettings { runs: arguments.runs, seed: arguments.seed };
    let report = score(&spaces, &contestants, settings, &|| ())?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&in_json(&report, &versions))?);
    } else {
        print!("{}", text(&report, &versions));
    }
    Ok(())
}

fn space(file: &Path) -> Result<ScoredSpace> {
    let Content::Space(recorded) = read(file)? else { bail!("{}: no recording", file.display()) };
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.trim_end_matches(".gz").trim_end_matches(".json").to_owned();
    Ok(ScoredSpace::new(&name, recorded)?)
}

/// Runs of a tool's strategy, by space.
type Runs = (Tool, &'static str, Vec<(String, Trace)>);

/// The runs of all tools; what is not known yet is run on all processors.
fn traces(arguments: &Arguments, spaces: &[ScoredSpace]) -> Result<Vec<Runs>> {
    let field = Path::new(env!("CARGO_MANIFEST_DIR")).join("field");
    if let Some(unknown) =
        arguments.tools.iter().flatten().find(|name| TOOLS.iter().all(|of| of.name != **name))
    {
        bail!("no tool `{unknown}`; there are: {}", TOOLS.map(|tool| tool.name).join(", "));
    }
    let wanted = |tool: &Tool| match &arguments.tools {
        Some(names) => names.iter().any(|name| name == tool.name),
        None => tool.is_installed(&field),
    };
    for tool in TOOLS.iter().filter(|tool| !wanted(tool)) {
        eprintln!("{} is left out (benchmarks/install-field.sh installs it)", tool.name);
    }
    let folder = &arguments.traces;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let seeds: Vec<u64> = (0..arguments.runs).map(|run| seed(arguments.seed, run)).collect();
    let mut jobs = Vec::new();
    for space in spaces {
        let plan = folder.join(format!("{}.plan.json", space.name()));
        let content = serde_json::to_string(&Plan::write(space, seeds.clone(), folder)?)?;
        std::fs::write(&plan, content).with_context(|| format!("cannot write {}", plan.display()))?;
        for tool in TOOLS.iter().filter(|tool| wanted(tool)) {
            jobs.extend(tool.strategies.iter().map(|&strategy| (space, plan.clone(), *tool, strategy)));
        }
    }
    let run = |(space, plan, tool, strategy): (&ScoredSpace, PathBuf, Tool, &'static str)| -> Result<_> {
        // The digest stands for the recording, so that a changed one is run anew.
        let digest = space.recorded().digest();
        let digest = digest.get(..12).unwrap_or(digest);
        let (runs, seed) = (arguments.runs, arguments.seed);
        let name = format!("{}-{digest}.{}.{strategy}.{runs}-{seed}.json", space.name(), tool.name);
        let file = folder.join(name);
        let known = std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
        let trace = if let Some(trace) = known {
            trace
        } else {
            let trace = tool.run(&field, &plan, strategy)?;
            std::fs::write(&file, serde_json::to_string(&trace)?)?;
            eprintln!("{}: {strategy} on {}", tool.name, space.name());
            trace
        };
        Ok((tool, strategy, space.name().to_owned(), trace))
    };
    let done: Vec<_> = jobs.into_par_iter().map(run).collect::<Result<_>>()?;
    let mut all: Vec<Runs> = Vec::new();
    for (tool, strategy, space, trace) in done {
        match all.iter_mut().find(|(of, name, _)| (of.name, *name) == (tool.name, strategy)) {
            Some((_, _, traces)) => traces.push((space, trace)),
            None => all.push((tool, strategy, vec![(space, trace)])),
        }
    }
    Ok(all)
}

fn in_json(report: &ScoreReport, versions: &BTreeMap<&str, String>) -> serde_json::Value {
    let strategies = report.strategies.iter().map(|of| {
        let spaces = of.spaces.iter().map(|space| {
            let Estimate { score, low, high } = space.estimate;
            let evaluations = space.evaluations;
            (
                space.space.clone(),
                json!({ "score": score, "low": low, "high": high, "evaluations": evaluations }),
            )
        });
        (of.strategy.clone(), json!({ "aggregate": of.aggregate, "spaces": spaces.collect::<Map<_, _>>() }))
    });
    json!({
        "version": 1,
        "runs": report.settings.runs,
        "seed": report.settings.seed,
        "tools": versions,
        "strategies": strategies.collect::<Map<_, _>>(),
    })
}

fn text(report: &ScoreReport, versions: &BTreeMap<&str, String>) -> String {
    let mut ranked: Vec<_> = report.strategies.iter().collect();
    ranked.sort_by(|first, second| second.aggregate.score.total_cmp(&first.aggregate.score));
    let width = ranked.iter().map(|of| of.strategy.len()).max().unwrap_or(0);
    let mut text = format!("{:width$}  {:>24}", "strategy", "score, all spaces");
    let spaces = ranked.first().map_or(&[][..], |of| &of.spaces);
    text.extend((1..=spaces.len()).map(|number| format!("  {:>6}", format!("({number})"))));
    text.push('\n');
    for of in &ranked {
        let Estimate { score, low, high } = of.aggregate;
        let interval = format!("{score:.3} [{low:.3}, {high:.3}]");
        text.push_str(&format!("{:width$}  {interval:>24}", of.strategy));
        text.extend(of.spaces.iter().map(|space| format!("  {:>6.2}", space.estimate.score)));
        text.push('\n');
    }
    text.extend(spaces.iter().enumerate().map(|(at, space)| {
        let means = ranked.iter().map(|of| of.spaces[at].evaluations);
        let (least, most) =
            means.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), of| (low.min(of), high.max(of)));
        format!("({}) {}: {least:.0} to {most:.0} evaluations a run\n", at + 1, space.space)
    }));
    text.extend(versions.iter().map(|(tool, version)| format!("{tool} {version}\n")));
    text
}
