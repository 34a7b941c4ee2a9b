//! What the judging of claims makes of samples that others have recorded, in the order of recording.

use std::path::PathBuf;

use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tilewright_recorded::RecordedSpace;
use tilewright_stats::interval::proportion_interval;
use tilewright_stats::samples::median;
use tilewright_stats::significance::mann_whitney;
use tilewright_stats::{Decision, Level, Margin, PairedTimes, SequentialClaim};

use crate::score::files;

/// Fewest samples of a configuration that is used: what bets could not decide with fewer.
const LEAST_SAMPLES: usize = 18;
/// Level at which so few pairs can decide at all.
const LEVEL: Level = Level::ONE_PERCENT;
/// Gains that are planted beyond the margin.
const BEYOND: [f64; 2] = [0.02, 0.04];

/// Recorded kernels beside themselves.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RecordedAa {
    /// E-value from which on a gain is found.
    pub(crate) threshold: f64,
    /// Configurations, each compared with itself once: neighbouring samples are a pair, a coin says whose.
    pub(crate) comparisons: u64,
    /// Most pairs of one.
    pub(crate) pairs: u64,
    /// Those in which a gain was found.
    pub(crate) false_claims: u64,
    /// How often that may happen.
    pub(crate) nominal: f64,
    /// Exact one-sided bounds of the rate, each at 95 %.
    pub(crate) lower_bound_95: f64,
    pub(crate) upper_bound_95: f64,
    /// The first half of the same samples as incumbent, the second as candidate.
    pub(crate) naive: Naive,
    /// Planted gains at the same number of pairs.
    pub(crate) power: Vec<RecordedPower>,
    /// Space by space.
    pub(crate) spaces: Vec<RecordedSpaceAa>,
}

/// One side after the other, judged by Mann–Whitney at 1 % and by a median ratio beyond the margin.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Naive {
    pub(crate) comparisons: u64,
    pub(crate) false_claims: u64,
}

/// A planted gain, and how often it is found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RecordedPower {
    pub(crate) beyond_margin: f64,
    pub(crate) found: f64,
}

/// One recording.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RecordedSpaceAa {
    pub(crate) name: String,
    pub(crate) comparisons: u64,
    pub(crate) false_claims: u64,
    pub(crate) naive_false_claims: u64,
}

/// Judges every configuration of these files beside itself.
pub(crate) fn recorded(paths: &[PathBuf], seed: u64) -> Result<RecordedAa> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let claim = SequentialClaim { margin: Margin::ONE_PERCENT, level: LEVEL };
    let (mut naive, mut found, mut pairs) = (Naive::default(), [0_u64; BEYOND.len()], 0);
    let mut spaces = Vec::new();
    for space in files::spaces(paths, &[])? {
        let (mut comparisons, mut false_claims, mut naive_claims) = (0, 0, 0);
        for samples in series(space.recorded()) {
            let PairedTimes { incumbent, candidate } = in_turns(samples, &mut rng);
            pairs = pairs.max(incumbent.len() as u64);
            comparisons += 1;
            false_claims += u64::from(claim.replay(&incumbent, &candidate)?.decision() == Decision::Faster);
            naive_claims += u64::from(one_after_the_other(samples, claim.margin)?);
            for (found, beyond) in found.iter_mut().zip(BEYOND) {
                let ratio = 1.0 / (1.0 + claim.margin.get() + beyond);
                let faster: Vec<f64> = candidate.iter().map(|time| time * ratio).collect();
                *found += u64::from(claim.replay(&incumbent, &faster)?.decision() == Decision::Faster);
            }
        }
        naive.comparisons += comparisons;
        naive.false_claims += naive_claims;
        let name = space.name().to_owned();
        spaces.push(RecordedSpaceAa { name, comparisons, false_claims, naive_false_claims: naive_claims });
    }
    let comparisons: u64 = spaces.iter().map(|space| space.comparisons).sum();
    let false_claims: u64 = spaces.iter().map(|space| space.false_claims).sum();
    if comparisons == 0 {
        let text = format!("no configuration among the files has {LEAST_SAMPLES} single samples");
        return Err(crate::UsageError(text).into());
    }
    // Both ends of a two-sided interval at 90 % are one-sided bounds at 95 %.
    let bounds = proportion_interval(false_claims, comparisons, Level::new(0.1)?)?;
    let share = |found: u64| found as f64 / comparisons as f64;
    Ok(RecordedAa {
        threshold: LEVEL.e_threshold(),
        comparisons,
        pairs,
        false_claims,
        nominal: LEVEL.get(),
        lower_bound_95: bounds.low,
        upper_bound_95: bounds.high,
        naive,
        power: BEYOND
            .iter()
            .zip(found)
            .map(|(&beyond_margin, found)| RecordedPower { beyond_margin, found: share(found) })
            .collect(),
        spaces,
    })
}

/// Samples of the configurations that have enough of them, in the order of recording.
fn series(space: &RecordedSpace) -> impl Iterator<Item = &[f64]> {
    let timings =
        space.configurations().iter().filter_map(|configuration| configuration.result.as_ref().ok());
    timings.map(|timing| timing.samples_ms.as_slice()).filter(|samples| {
        samples.len() >= LEAST_SAMPLES && samples.iter().all(|time| time.is_finite() && *time > 0.0)
    })
}

/// Neighbouring samples as pairs, the side that went first drawn by a coin.
fn in_turns(samples: &[f64], rng: &mut ChaCha8Rng) -> PairedTimes {
    let mut times = PairedTimes::default();
    for pair in samples.chunks_exact(2) {
        let first = usize::from(rng.random_bool(0.5));
        times.incumbent.push(pair[first]);
        times.candidate.push(pair[1 - first]);
    }
    times
}

/// Whether the second half counts as faster than the first.
fn one_after_the_other(samples: &[f64], margin: Margin) -> Result<bool> {
    let (incumbent, candidate) = samples.split_at(samples.len() / 2);
    let ratio = median(candidate)? / median(incumbent)?;
    Ok(ratio.ln() < -margin.log() && mann_whitney(candidate, incumbent)?.two_sided() < LEVEL.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_deceives_one_side_after_the_other_and_not_the_pairs() {
        let samples: Vec<f64> = (0..32).map(|i| 1.1 - 0.003 * f64::from(i)).collect();
        assert!(one_after_the_other(&samples, Margin::ONE_PERCENT).unwrap());
        let claim = SequentialClaim { margin: Margin::ONE_PERCENT, level: LEVEL };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..200 {
            let PairedTimes { incumbent, candidate } = in_turns(&samples, &mut rng);
            assert_eq!(incumbent.len(), 16);
            let decision = claim.replay(&incumbent, &candidate).unwrap().decision();
            assert_eq!(decision, Decision::Inconclusive);
        }
    }
}
