//! `tilewright score`: how good strategies are on spaces that others have measured.

mod charts;
pub(crate) mod files;
mod table;
mod warm;

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value, json};
use tilewright_results::write_parquet;
use tilewright_search::score::{
    Contestant, Estimate, ScoreReport, ScoreSettings, ScoredSpace, StrategyScore, score,
};
use tilewright_search::{External, Strategy, strategies, strategy};

use warm::Advice;

use crate::arguments::Score;
use crate::proposer::Proposer;
use crate::{UsageError, output, output_file};

pub(crate) use files::recorded_space;

/// The strategy that every other is seen beside.
const YARDSTICK: &str = "random";

/// Runs the command.
pub(crate) fn run(arguments: &Score) -> Result<()> {
    let contestants = contestants(arguments)?;
    let spaces = files::spaces(&arguments.files, &arguments.problem)?;
    for space in spaces.iter().filter(|space| space.recorded().is_cut_off()) {
        let found = space.recorded().configurations().len();
        output::note(&format!(
            "warning: {} was cut off; its first {found} configurations count",
            space.name()
        ));
    }
    let advice = Advice::learn(&arguments.warm_from, &spaces)?;
    for space in advice.without() {
        output::note(&format!(
            "note: no other recording in --warm-from has parameters of {space}; it is scored cold"
        ));
    }
    let contestants: Vec<Contestant> = contestants.into_iter().map(|it| advice.warm(it)).collect();
    let settings = ScoreSettings { runs: arguments.runs, seed: arguments.seed };
    let total = contestants.len() as u64 * spaces.len() as u64 * u64::from(settings.runs);
    let bar = progress(arguments.quiet, total);
    let report = score(&spaces, &contestants, settings, &|| bar.inc(1));
    bar.finish_and_clear();
    let report = report?;
    let charts = match &arguments.charts {
        Some(folder) => charts::write(folder, &report)?,
        None => Vec::new(),
    };
    if let Some(file) = &arguments.parquet {
        output_file::write(file, |out| Ok(write_parquet(&table::of_runs(&report), out)?))?;
    }
    if arguments.json {
        return output::json(&in_json(&report, &spaces, &advice, &charts));
    }
    output::result(&table::text(&report, &spaces))?;
    for chart in charts {
        output::note(&format!("wrote {chart}"));
    }
    Ok(())
}

/// The strategies asked for, each once, and random search.
fn contestants(arguments: &Score) -> Result<Vec<Contestant>> {
    let names = &arguments.strategy;
    let all = names.is_empty() || names.iter().any(|name| name == "all");
    let given = arguments.proposer.proposer.is_some();
    let external = names.iter().any(|name| name == External::ID) || (all && given);
    let proposer = Proposer::of(&arguments.proposer, external, None, &Arc::default())?;
    let mut chosen: Vec<Contestant> = Vec::new();
    if all {
        chosen.extend(strategies().iter().copied().map(Contestant::from));
    } else {
        for name in names.iter().filter(|name| *name != External::ID).map(String::as_str).chain([YARDSTICK]) {
            let known: Vec<&str> = strategies().iter().map(|entry| entry.id).collect();
            let unknown = || {
                UsageError(format!(
                    "unknown strategy `{name}`; there are: all, external, {}",
                    known.join(", ")
                ))
            };
            chosen.push(strategy(name).ok_or_else(unknown)?.into());
        }
    }
    if let Some(proposer) = proposer {
        let create = move |_: &ScoredSpace, _: u32| -> Box<dyn Strategy> {
            let started = proposer.start(Vec::new());
            Box::new(started.unwrap_or_else(|error| External::unavailable(format!("{error:#}"))))
        };
        chosen.push(Contestant { name: External::ID.to_owned(), create: Box::new(create) });
    }
    let mut seen = BTreeSet::new();
    Ok(chosen.into_iter().filter(|contestant| seen.insert(contestant.name.clone())).collect())
}

fn progress(quiet: bool, total: u64) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(4));
    let style = ProgressStyle::with_template("{bar:24} {pos} of {len} runs · {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
    bar
}

fn in_json(report: &ScoreReport, spaces: &[ScoredSpace], advice: &Advice, charts: &[String]) -> Value {
    let described = spaces.iter().map(|space| {
        let (recorded, window) = (space.recorded(), space.window());
        let value = json!({
            "kernel": recorded.kernel(),
            "device": recorded.device(),
            "digest": recorded.digest(),
            "configurations": recorded.configurations().len(),
            "valid": space.baseline().values().len(),
            "cut_off": recorded.is_cut_off(),
            "optimum_ms": window.optimum,
            "median_ms": window.median,
            "window_s": [window.seconds.first(), window.seconds.last()],
            "budget_s": window.budget_seconds,
        });
        (space.name().to_owned(), value)
    });
    let scored =
        report.strategies.iter().map(|of| (of.strategy.clone(), strategy_in_json(of, report.settings)));
    json!({
        "version": 1,
        "runs": report.settings.runs,
        "seed": report.settings.seed,
        "warm": advice.is_some(),
        "advice": advice.origins(),
        "spaces": described.collect::<Map<_, _>>(),
        "strategies": scored.collect::<Map<_, _>>(),
        "charts": charts,
    })
}

fn strategy_in_json(of: &StrategyScore, settings: ScoreSettings) -> Value {
    let spaces = of.spaces.iter().map(|space| {
        let Estimate { score, low, high } = space.estimate;
        let (runs, evaluations) = (settings.runs, space.evaluations);
        let value =
            json!({ "score": score, "low": low, "high": high, "runs": runs, "evaluations": evaluations, "scores": space.scores });
        (space.space.clone(), value)
    });
    json!({ "aggregate": of.aggregate, "spaces": spaces.collect::<Map<_, _>>() })
}
