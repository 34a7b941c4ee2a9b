//! Does a trained policy of mutation help? Cross-validation over kernels on recorded spaces.
//!
//! `policy spaces/*.json.gz --runs 50` trains one policy for each kernel on the recordings of all other kernels
//! (never on another device of the same one), then has each strategy search every space with paired seeds, and
//! prints the mean difference of scores with a bootstrap interval over pairs of runs.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Parser;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tilewright_recorded::{Content, read};
use tilewright_search::policy::{Learning, Policy, TrainSettings, train};
use tilewright_search::score::{Contestant, ScoreSettings, ScoredSpace, StrategyScore, score};
use tilewright_search::{EvolutionPolicy, strategy};
use tilewright_stats::samples::quantile;

/// Cross-validates a policy of mutation over kernels
#[derive(Debug, Parser)]
struct Arguments {
    /// Recordings: Kernel Tuner caches, T4 results
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Runs of each strategy on each space
    #[arg(long, default_value_t = 50)]
    runs: u32,
    /// Seed of training and of every run
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Searches that each policy is trained on
    #[arg(long, default_value_t = TrainSettings::default().episodes)]
    episodes: u32,
    /// Largest step of a weight
    #[arg(long, default_value_t = TrainSettings::default().rate)]
    rate: f64,
    /// Share of what the next step earned that counts for this one
    #[arg(long, default_value_t = TrainSettings::default().discount)]
    discount: f64,
    /// Reward for keeping the choice open
    #[arg(long, default_value_t = TrainSettings::default().openness)]
    openness: f64,
    /// Factor of a step of policy gradient within a search, of trained policies that go on learning
    #[arg(long, default_value_t = 0.05)]
    online: f64,
    /// Write the policies trained here, as KERNEL.json
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
}

/// Strategies that others are compared with.
const YARDSTICKS: [&str; 2] = ["evolution", "evolution-uniform"];
const RESAMPLES: usize = 2_000;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let spaces = arguments.files.iter().map(|file| space(file)).collect::<Result<Vec<_>>>()?;
    let policies = Arc::new(policies(&arguments, &spaces)?);
    if let Some(folder) = &arguments.save {
        for (kernel, policy) in policies.iter() {
            let file = folder.join(format!("{kernel}.json"));
            std::fs::write(&file, policy.to_json()?)
                .with_context(|| format!("writing {}", file.display()))?;
        }
    }
    let named = |name: &str| strategy(name).with_context(|| format!("no strategy `{name}`"));
    let mut contestants: Vec<Contestant> =
        YARDSTICKS.iter().map(|name| named(name).map(Contestant::from)).collect::<Result<_>>()?;
    contestants.push(named(EvolutionPolicy::ID)?.into());
    let untrained = Policy::untrained(&mut ChaCha8Rng::seed_from_u64(arguments.seed));
    contestants.push(Contestant {
        name: "untrained, frozen".to_owned(),
        create: Box::new(move |_, _| Box::new(EvolutionPolicy::with(untrained.clone(), Learning::Frozen))),
    });
    let trained = [
        ("trained, frozen", Learning::Frozen),
        ("trained, goes on", Learning::Online { rate: arguments.online }),
    ];
    for (name, learning) in trained {
        let policies = Arc::clone(&policies);
        contestants.push(Contestant {
            name: name.to_owned(),
            create: Box::new(move |space, _| {
                let policy = policies[space.recorded().kernel()].clone();
                Box::new(EvolutionPolicy::with(policy, learning))
            }),
        });
    }
    // Runs have seeds that training does not draw.
    let settings = ScoreSettings { runs: arguments.runs, seed: arguments.seed.wrapping_add(1) };
    let report = score(&spaces, &contestants, settings, &|| ())?;
    for of in &report.strategies {
        let by_space: Vec<String> =
            of.spaces.iter().map(|space| format!("{:6.2}", space.estimate.score)).collect();
        println!("{:<18} {:6.3}  {}", of.strategy, of.aggregate.score, by_space.join(" "));
    }
    println!();
    for of in &report.strategies {
        for yardstick in report.strategies.iter().filter(|other| YARDSTICKS.contains(&&*other.strategy)) {
            if of.strategy != yardstick.strategy {
                println!("{}", difference(of, yardstick, arguments.seed));
            }
        }
    }
    Ok(())
}

fn space(file: &Path) -> Result<ScoredSpace> {
    let name = file.file_name().context("no file name")?.to_string_lossy();
    let name = name.trim_end_matches(".gz").trim_end_matches(".json");
    match read(file).with_context(|| format!("reading {}", file.display()))? {
        Content::Space(space) => Ok(ScoredSpace::new(name, space)?),
        Content::Problem(_) => bail!("{}: a problem without times", file.display()),
    }
}

/// For each kernel, a policy trained on all others.
fn policies(arguments: &Arguments, spaces: &[ScoredSpace]) -> Result<BTreeMap<String, Policy>> {
    let settings = TrainSettings {
        episodes: arguments.episodes,
        rate: arguments.rate,
        discount: arguments.discount,
        openness: arguments.openness,
        ..TrainSettings::default()
    };
    let mut policies = BTreeMap::new();
    for kernel in spaces.iter().map(|space| space.recorded().kernel()) {
        if policies.contains_key(kernel) {
            continue;
        }
        let others: Vec<&ScoredSpace> =
            spaces.iter().filter(|space| space.recorded().kernel() != kernel).collect();
        if others.is_empty() {
            bail!("all recordings are of {kernel}; give some of other kernels");
        }
        eprintln!("for {kernel}: training on {} spaces of other kernels", others.len());
        policies.insert(kernel.to_owned(), train(&others, &settings, arguments.seed));
    }
    Ok(policies)
}

/// Mean difference of scores, pairs of runs drawn anew within each space for the interval.
fn difference(of: &StrategyScore, yardstick: &StrategyScore, seed: u64) -> String {
    let pairs: Vec<Vec<f64>> = of
        .spaces
        .iter()
        .zip(&yardstick.spaces)
        .map(|(of, other)| of.scores.iter().zip(&other.scores).map(|(of, other)| of - other).collect())
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let means: Vec<f64> = pairs.iter().map(|pairs| mean(pairs)).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let of_space = |pairs: &Vec<f64>| {
                pairs.iter().map(|_| pairs[rng.random_range(0..pairs.len())]).sum::<f64>()
                    / pairs.len() as f64
            };
            mean(&pairs.iter().map(of_space).collect::<Vec<_>>())
        })
        .collect();
    let at = |share| quantile(&resampled, share).unwrap_or(f64::NAN);
    let by_space: Vec<String> = means.iter().map(|mean| format!("{mean:+.2}")).collect();
    format!(
        "{:<18} - {:<18} {:+.4} [{:+.4}, {:+.4}]  {}",
        of.strategy,
        yardstick.strategy,
        mean(&means),
        at(0.025),
        at(0.975),
        by_space.join(" ")
    )
}
