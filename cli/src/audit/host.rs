//! What the judging of claims makes of this machine: kernels beside themselves, and planted delays.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tilewright_evaluator::{StandSettings, Twins};
use tilewright_ir::{CacheState, default_schedule, legalise, lower};
use tilewright_journal::EvalError;
use tilewright_runtime::{Clock, HostFacts};
use tilewright_stats::interval::proportion_upper;
use tilewright_stats::samples::{noise_floor_at, pair_spread};
use tilewright_stats::{ConfirmedClaim, Decision, Level, Margin, PairedTimes, SequentialClaim};

use super::load::{COURSE, Load};
use crate::output;
use crate::target::Target;

/// A kernel of a few microseconds, so that many comparisons fit into the time.
const WORKLOAD: &str = "matmul:m=32,n=32,k=32,dtype=f32";
/// Most pairs of a comparison, as of a claim.
const PAIRS: u32 = 60;
/// Length of a sample where a kernel is compared with itself, ns.
const SAMPLE_NS: f64 = 1e4;
/// Times that a busy machine is asked again how it behaves without a planted gain.
const PATIENT_TRIES: u32 = 10;
/// Comparisons between two changes of the load.
const LOAD_EVERY: u64 = 50;
/// Time after which no more comparisons are begun, ns: the rest of the audit needs some too.
const MOST_NS: [u64; 2] = [18 * 60 * 1_000_000_000, 60 * 1_000_000_000];

/// Kernels beside themselves on this machine.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HostAa {
    /// Comparisons of a kernel with itself, under changing load.
    pub(crate) comparisons: u64,
    /// Most pairs of each.
    pub(crate) pairs: u32,
    /// Those in which a gain was found.
    pub(crate) false_claims: u64,
    /// Exact one-sided 95 % bound of their rate.
    pub(crate) upper_bound_95: f64,
    /// Relative effect that had to be exceeded.
    pub(crate) margin: f64,
    /// Spread of the log-ratios of pairs on the machine as it was found.
    pub(crate) spread: f64,
    /// The same comparisons at e ≥ 100 and without a margin: how much of the level is used up where two copies
    /// of a kernel may truly differ a little.
    pub(crate) without_margin: WithoutMargin,
    /// Highest e-value with the margin.
    pub(crate) highest_e_value: f64,
}

/// Comparisons at a lenient level without a margin.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct WithoutMargin {
    pub(crate) threshold: f64,
    pub(crate) reached: u64,
    pub(crate) nominal: f64,
}

/// A planted gain, and how often it is found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Power {
    /// The gain, relative: as planted, in whole launches.
    pub(crate) gain: f64,
    /// What of it lies beyond the margin, as asked for.
    pub(crate) beyond_margin: f64,
    /// Most pairs.
    pub(crate) pairs: u32,
    /// Share of the runs in which it was found.
    pub(crate) found: f64,
    /// Runs.
    pub(crate) runs: u32,
}

/// Planted gains on this machine.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HostPower {
    /// Relative effect that a claim must exceed here.
    pub(crate) margin: f64,
    /// Spread of log-ratios of pairs.
    pub(crate) spread: f64,
    /// Length of a sample, ns.
    pub(crate) sample_ns: f64,
    /// Comparisons that had to keep pairs of a disturbed machine.
    pub(crate) disturbed: u32,
    pub(crate) gains: Vec<Power>,
}

/// Starts the kernel that is compared with itself.
pub(crate) fn start(seed: u64) -> Result<Twins> {
    let host = HostFacts::detect();
    let target = Target::of_host(&host, None)?;
    let workload = WORKLOAD.parse()?;
    let limits = target.limits(1);
    let program = legalise(&lower(&workload, &default_schedule(&workload, &limits), &limits)?, &limits)?;
    let artifact = target.isa.compile(&program)?;
    let key = target.key(&workload, 1, CacheState::Warm);
    let executable = std::env::current_exe().context("cannot find this program's file")?;
    let settings = StandSettings { executable, seed, thorough: false };
    Twins::start(&key, &artifact, settings).context("cannot start a worker process")
}

/// Compares the kernel with itself `comparisons` times, while load comes and goes.
pub(crate) fn aa(
    twins: &mut Twins,
    (comparisons, quick): (u64, bool),
    (seed, quiet): (u64, bool),
    stop: &AtomicBool,
) -> Result<HostAa> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let launches = twins.launches(SAMPLE_NS);
    let (gate, spread) = gate(&twins.pairs(PAIRS, launches, Twins::draw_order(&mut rng))?)?;
    let claim = gate.sequential();
    let lenient = SequentialClaim { margin: Margin::NONE, level: Level::ONE_PERCENT };
    let clock = Clock::start();
    let load = Load::start(tilewright_runtime::usable_processors().len())?;
    let (mut done, mut false_claims, mut reached, mut highest) = (0, 0, 0, 0.0_f64);
    while done < comparisons
        && !stop.load(Ordering::Relaxed)
        && clock.nanoseconds() < MOST_NS[usize::from(quick)]
    {
        if done % LOAD_EVERY == 0 {
            load.set(COURSE[(done / LOAD_EVERY) as usize % COURSE.len()]);
        }
        if !quiet && done > 0 && done % 2000 == 0 {
            output::note(&format!("{done} of {comparisons} comparisons of a kernel with itself"));
        }
        let PairedTimes { incumbent, candidate } =
            twins.pairs(PAIRS, launches, Twins::draw_order(&mut rng))?;
        let betting = claim.replay(&incumbent, &candidate)?;
        false_claims += u64::from(betting.decision() == Decision::Faster);
        highest = highest.max(betting.e_value());
        reached += u64::from(lenient.replay(&incumbent, &candidate)?.decision() == Decision::Faster);
        done += 1;
    }
    drop(load);
    Ok(HostAa {
        comparisons: done,
        pairs: PAIRS,
        false_claims,
        upper_bound_95: proportion_upper(false_claims, done.max(1), Level::FIVE_PERCENT)?,
        margin: gate.margin().get(),
        spread,
        without_margin: WithoutMargin {
            threshold: lenient.level.e_threshold(),
            reached,
            nominal: lenient.level.get(),
        },
        highest_e_value: highest,
    })
}

/// The gate of claims for a machine of which these are pairs of a kernel with itself, and their spread.
fn gate(PairedTimes { incumbent, candidate }: &PairedTimes) -> Result<(ConfirmedClaim, f64)> {
    let floor = noise_floor_at(incumbent, candidate, PAIRS as usize)?;
    let gate = ConfirmedClaim::at_least(Margin::of_claim(floor), ConfirmedClaim::DEFAULT.level());
    Ok((gate, pair_spread(incumbent, candidate)?))
}

/// Plants gains, each in `runs` comparisons of so many pairs.
pub(crate) fn power(twins: &mut Twins, runs: u32, seed: u64, stop: &AtomicBool) -> Result<HostPower> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut tries = 0..PATIENT_TRIES;
    let (sample_ns, alone) = loop {
        let sample_ns = twins.quiet_sample_ns(&mut rng);
        match sample_ns
            .and_then(|sample_ns| Ok((sample_ns, twins.delayed(PAIRS, (sample_ns, 0.0), &mut rng)?)))
        {
            Err(EvalError::TimerTampered(_)) if tries.next().is_some() => {}
            measured => break measured?,
        }
    };
    let (gate, spread) = gate(&alone.times)?;
    let (claim, margin) = (gate.sequential(), gate.margin().get());
    let mut disturbed = u32::from(alone.conditions.tainted);
    let mut gains = Vec::new();
    for (beyond_margin, pairs) in [(0.02, PAIRS), (0.04, 40)] {
        let (mut found, mut done, mut gain) = (0, 0, 0.0);
        while done < runs && !stop.load(Ordering::Relaxed) {
            done += 1;
            let planted = match twins.delayed(pairs, (sample_ns, margin + beyond_margin), &mut rng) {
                Ok(planted) => planted,
                // A claim would be withheld: nothing is found.
                Err(EvalError::TimerTampered(_)) => {
                    disturbed += 1;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let betting = claim.replay(&planted.times.incumbent, &planted.times.candidate)?;
            found += u32::from(betting.decision() == Decision::Faster);
            disturbed += u32::from(planted.conditions.tainted);
            gain = planted.delay;
        }
        let share = f64::from(found) / f64::from(done.max(1));
        gains.push(Power { gain, beyond_margin, pairs, found: share, runs: done });
    }
    Ok(HostPower { margin, spread, sample_ns, disturbed, gains })
}
