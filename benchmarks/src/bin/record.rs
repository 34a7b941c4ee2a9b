//! Measures whole sub-spaces and writes them as recordings: `record --out benchmarks/data`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports its progress")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Parser;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use tilewright_benchmarks::recording::{Point, Recording, SUBSPACES, SubSpace, points, subspace, value};
use tilewright_codegen::isa;
use tilewright_evaluator::{
    DeviceRunner, DeviceSettings, Pacing, Runner, Task, device_limits, run_if_worker,
};
use tilewright_genome::SearchSpace;
use tilewright_ir::{CacheState, Limits, Workload, WorkloadKey};
use tilewright_journal::{Candidate, Subject};
use tilewright_recorded::Value;
use tilewright_runtime::{Clock, HostFacts};
use tilewright_stats::Level;

/// The instruction set of all recordings: every processor that matters here has it.
const ISA: &str = "avx2";
/// Samples of each schedule; a gate for recorded samples needs several.
const SAMPLES: u32 = 8;
/// Schedules between two lines of progress.
const REPORT_EVERY: usize = 500;

const EXAMPLES: &str = "\
Examples:
  record --list                              the sub-spaces and their sizes
  record --out benchmarks/data               all but the tiny one; killed, the same command goes on
  record matmul-64x64x64 --out benchmarks/data

Let nothing else run meanwhile. NAME.open.json grows line by line; NAME.json.gz is made of it at the end.";

/// Verifies and measures every schedule of a sub-space, in random order, beside nothing but itself
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
struct Arguments {
    /// Sub-spaces by name [default: all but the tiny one]
    spaces: Vec<String>,
    /// Where recordings go
    #[arg(long, value_name = "DIR", default_value = "benchmarks/data")]
    out: PathBuf,
    /// Stop after so many schedules; the recording stays open
    #[arg(long, value_name = "COUNT")]
    most: Option<usize>,
    /// Only say what there is
    #[arg(long)]
    list: bool,
}

/// A sub-space on this machine.
struct Bench {
    sub: SubSpace,
    workload: Workload,
    points: Vec<Point>,
}

fn main() -> Result<()> {
    run_if_worker();
    let arguments = Arguments::parse();
    let chosen: Vec<SubSpace> = if arguments.spaces.is_empty() {
        SUBSPACES[..SUBSPACES.len() - 1].to_vec()
    } else {
        let found = arguments.spaces.iter().map(|name| subspace(name).with_context(|| unknown(name)));
        found.collect::<Result<_>>()?
    };
    let host = HostFacts::detect();
    let Some(isa) = isa(ISA).filter(|isa| isa.available()) else { bail!("this processor has no {ISA}") };
    let limits = device_limits(isa, 1, &host);
    for sub in chosen {
        let bench = bench(sub, &limits)?;
        println!("{}: {} legal schedules of {}", sub.name, bench.points.len(), bench.workload);
        if !arguments.list {
            std::fs::create_dir_all(&arguments.out)?;
            let settings = DeviceSettings {
                seed: 1,
                isa,
                executable: std::env::current_exe()?,
                pacing: pacing(),
                claim_level: Level::ONE_IN_TEN_THOUSAND,
            };
            record(&bench, &host, settings, &arguments.out, arguments.most)?;
        }
    }
    Ok(())
}

fn unknown(name: &str) -> String {
    let known: Vec<&str> = SUBSPACES.iter().map(|sub| sub.name).collect();
    format!("no sub-space `{name}`; there are: {}", known.join(", "))
}

fn pacing() -> Pacing {
    Pacing { first_pairs: SAMPLES, most_pairs: SAMPLES, ..Pacing::default() }
}

fn bench(sub: SubSpace, limits: &Limits) -> Result<Bench> {
    let workload: Workload = sub.workload.parse()?;
    let space = SearchSpace::of(&workload, limits)?;
    if let Some((name, _)) = sub.genes.iter().find(|(name, _)| space.gene(name).is_none()) {
        bail!("{}: no gene `{name}`", sub.name);
    }
    let points = points(&sub, &workload, &space, limits);
    Ok(Bench { sub, workload, points })
}

fn record(
    bench: &Bench,
    host: &HostFacts,
    settings: DeviceSettings,
    folder: &Path,
    most: Option<usize>,
) -> Result<()> {
    let names: Vec<&str> = bench.sub.genes.iter().map(|(name, _)| *name).collect();
    let path = folder.join(format!("{}.open.json", bench.sub.name));
    let mut recording = Recording::open(&path, bench.sub.workload, host.brand.trim(), &names)?;
    let values = |point: &Point| -> Vec<Value> {
        let named = point.values.iter().zip(bench.sub.genes);
        named.map(|(of, (_, kept))| value(of.as_ref(), *kept)).collect()
    };
    let mut left: Vec<&Point> =
        bench.points.iter().filter(|point| !recording.contains(&values(point))).collect();
    // A machine that drifts shall not favour a corner of the space.
    left.shuffle(&mut ChaCha8Rng::seed_from_u64(recording.len() as u64));
    left.truncate(most.unwrap_or(usize::MAX));
    let key = WorkloadKey {
        workload: bench.workload.clone(),
        target: host.fingerprint(),
        threads: 1,
        cache: CacheState::Warm,
    };
    let subject = Arc::new(Subject::Workload(key.clone()));
    let mut runner = DeviceRunner::new(key, settings)?;
    let (clock, total, mut failures) = (Clock::start(), left.len(), 0);
    for (done, point) in left.into_iter().enumerate() {
        let candidate = Candidate { subject: Arc::clone(&subject), schedule: point.schedule.clone() };
        let task = Task { candidate, program: Some(Arc::clone(&point.program)), seed: done as u64 };
        let report = runner.run(None, std::slice::from_ref(&task));
        let Some(evaluation) = report.evaluations.first() else { bail!("the runner gave no answer") };
        if let Err(error) = &evaluation.outcome {
            failures += 1;
            eprintln!("{}: {error}", point.schedule);
        }
        recording.append(&values(point), evaluation)?;
        if (done + 1) % REPORT_EVERY == 0 {
            let seconds = clock.nanoseconds() as f64 / 1e9;
            let left = seconds * (total - done - 1) as f64 / (done + 1) as f64;
            eprintln!("{}: {} of {total}, {seconds:.0} s, {left:.0} s left", bench.sub.name, done + 1);
        }
    }
    if recording.len() < bench.points.len() {
        println!("{}: {} of {} recorded", bench.sub.name, recording.len(), bench.points.len());
        return Ok(());
    }
    let whole = folder.join(format!("{}.json.gz", bench.sub.name));
    let space = recording.finish(&whole, &date())?;
    let bytes = std::fs::metadata(&whole)?.len();
    println!(
        "{}: {} configurations, {failures} failed now, {bytes} bytes",
        whole.display(),
        space.configurations().len()
    );
    Ok(())
}

/// Today, as recordings bear it.
fn date() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}
