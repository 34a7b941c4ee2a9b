//! Compares search strategies on this machine: equal budgets, paired seeds, winners measured again side by side
//! with the default schedule in a fresh process.
//!
//! `strategies --evaluations 150 --seeds 10` runs every shape × seed × strategy and prints, for each strategy
//! against the yardstick (random search), the mean log-ratio of the winners' times with its 95 % interval.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clap::Parser;
use serde::Serialize;
use tilewright_codegen::isas;
use tilewright_evaluator::{DeviceRunner, DeviceSettings, Pacing, device_limits};
use tilewright_genome::SearchSpace;
use tilewright_ir::{CacheState, Workload, WorkloadKey, default_schedule};
use tilewright_journal::{Event, Fidelity, Subject};
use tilewright_runtime::HostFacts;
use tilewright_search::{
    Budget, Campaign, CampaignParts, CampaignSettings, Lowering, ProposalOrder, Ranked, Ranker, SinkError,
    strategy,
};
use tilewright_simulator::{Chip, chip_for_host, simulate};
use tilewright_stats::Level;
use tilewright_stats::interval::mean_ratio;
use tilewright_stats::samples::median;

/// Compares strategies at equal budget.
#[derive(Debug, Parser)]
struct Arguments {
    /// Candidates evaluated in each run
    #[arg(long, default_value_t = 150)]
    evaluations: u64,
    /// Seeds of each shape
    #[arg(long, default_value_t = 10)]
    seeds: u64,
    /// The strategies; the first is the yardstick
    #[arg(long, num_args = 1.., default_values = ["random", "evolution", "evolution-uniform"])]
    strategies: Vec<String>,
    /// The shapes
    #[arg(long, num_args = 1.., default_values = SHAPES)]
    shapes: Vec<Workload>,
    /// Rank proposals by the simulator
    #[arg(long)]
    ranked: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const SHAPES: [&str; 6] = [
    "matmul:m=64,n=64,k=64,dtype=f32",
    "matmul:m=128,n=128,k=128,dtype=f32",
    "matmul:m=256,n=256,k=256,dtype=f32",
    "matmul:m=100,n=37,k=250,dtype=f32,layout=nt",
    "matmul:m=8,n=1024,k=256,dtype=f32",
    "matmul:m=13,n=17,k=19,dtype=f32",
];

/// Winner of one run.
#[derive(Debug, Serialize)]
struct Run {
    shape: String,
    strategy: String,
    seed: u64,
    /// Winner's time over the default's, median of the confirmation's pairs.
    ratio: f64,
}

/// A strategy against the yardstick.
#[derive(Debug, Serialize)]
struct Comparison {
    strategy: String,
    yardstick: String,
    pairs: usize,
    /// Mean over pairs of log(yardstick's time / strategy's time): above 0, the strategy is better.
    mean_log_ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
}

struct ByTheSimulator(Chip);

impl Ranker for ByTheSimulator {
    fn rank(&mut self, candidates: &[Ranked<'_>]) -> Vec<Option<f64>> {
        candidates.iter().map(|ranked| Some(simulate(ranked.program?, &self.0).ok()?.time_ns)).collect()
    }
}

fn main() -> Result<()> {
    tilewright_evaluator::run_if_worker();
    let arguments = Arguments::parse();
    let mut runs = Vec::new();
    for shape in &arguments.shapes {
        for seed in 0..arguments.seeds {
            for name in &arguments.strategies {
                let ratio = run(shape, name, seed, &arguments)?;
                eprintln!("{shape} seed {seed} {name}: {ratio:.4}");
                runs.push(Run { shape: shape.to_string(), strategy: name.clone(), seed, ratio });
            }
        }
    }
    let times = |name: &str| -> Vec<f64> {
        runs.iter().filter(|run| run.strategy == name).map(|run| run.ratio).collect()
    };
    let yardstick = arguments.strategies.first().context("no strategy given")?;
    let mut comparisons = Vec::new();
    for name in &arguments.strategies[1..] {
        let found = mean_ratio(&times(name), &times(yardstick), Level::FIVE_PERCENT)?;
        comparisons.push(Comparison {
            strategy: name.clone(),
            yardstick: yardstick.clone(),
            pairs: found.pairs,
            mean_log_ratio: found.ratio.ln(),
            low: found.interval.map(|interval| interval.low.ln()),
            high: found.interval.map(|interval| interval.high.ln()),
        });
    }
    if arguments.json {
        let value = serde_json::json!({ "version": 1, "comparisons": comparisons, "runs": runs });
        println!("{}", serde_json::to_string_pretty(&value)?);
        return Ok(());
    }
    for found in comparisons {
        println!(
            "{:<20} against {}: mean log-ratio {:+.4} [{:+.4}, {:+.4}] over {} pairs",
            found.strategy,
            found.yardstick,
            found.mean_log_ratio,
            found.low.unwrap_or(f64::NAN),
            found.high.unwrap_or(f64::NAN),
            found.pairs
        );
    }
    Ok(())
}

/// One search; the ratio of its winner.
fn run(workload: &Workload, name: &str, seed: u64, arguments: &Arguments) -> Result<f64> {
    let host = HostFacts::detect();
    let isa = isas().iter().copied().rfind(|isa| isa.available()).context("no instruction set")?;
    let limits = device_limits(isa, 1, &host);
    let default = default_schedule(workload, &limits);
    let key = WorkloadKey {
        workload: workload.clone(),
        target: host.fingerprint(),
        threads: 1,
        cache: CacheState::Warm,
    };
    let settings = DeviceSettings {
        seed,
        isa,
        executable: std::env::current_exe()?,
        pacing: Pacing::default(),
        claim_level: Level::ONE_IN_TEN_THOUSAND,
    };
    let mut runner = DeviceRunner::new(key.clone(), settings)?;
    let ranker: Box<dyn Ranker> = if arguments.ranked {
        Box::new(ByTheSimulator(
            chip_for_host(&host.vendor, host.family, host.model, limits.vector_bytes).clone(),
        ))
    } else {
        Box::new(ProposalOrder)
    };
    let parts = CampaignParts {
        subject: Subject::Workload(key),
        space: SearchSpace::of(workload, &limits)?,
        default,
        strategy: (strategy(name).with_context(|| format!("no strategy {name}"))?.create)(),
        ranker,
        prepare: Box::new(Lowering { workload: workload.clone(), limits }),
        fidelity: Fidelity::Measured,
    };
    let budget = Budget { trials: Some(arguments.evaluations), ..Budget::default() };
    let mut campaign = Campaign::new(CampaignSettings { seed, budget, ..CampaignSettings::default() }, parts);
    let mut sink = |_: &Event| -> Result<(), SinkError> { Ok(()) };
    let result = campaign.run(&mut runner, &mut sink, &AtomicBool::new(false))?;
    let confirmation = result.confirmation.context("nothing valid was found")?;
    if confirmation.winner.trial == confirmation.default.trial {
        return Ok(1.0);
    }
    let (incumbent, candidate) = confirmation.evidence.sides().context("the confirmation has no pairs")?;
    let ratios: Vec<f64> =
        candidate.iter().zip(incumbent).map(|(winner, default)| winner / default).collect();
    Ok(median(&ratios)?)
}
