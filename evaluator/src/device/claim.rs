//! The first half of a claim, in the worker of the search: what the machine resolves, then pairs that are looked
//! at one by one until the gain is certain.

use rand_chacha::ChaCha8Rng;
use tilewright_journal::{ClaimBasis, Conditions, EvalError};
use tilewright_stats::samples::{noise_floor_at, pair_spread};
use tilewright_stats::{ConfirmedClaim, Decision, Level, Margin, PairedTimes};

use super::undisturbed::{Gathered, PairPlan};
use super::{Compiled, DeviceRunner};
use crate::stand::TestStand;

/// Most pairs of a claim, and the number that its margin is reckoned for.
pub(super) const MOST_PAIRS: u32 = 60;
/// Pairs of the incumbent with itself.
const SELF_PAIRS: std::ops::RangeInclusive<u32> = 12..=MOST_PAIRS;
/// Time of those, ns, unless that makes them too few.
const SELF_NS: f64 = 3e9;
/// Pairs of the sequential test. Fewer than the least could not reach its threshold if all were won.
const PAIRS: std::ops::RangeInclusive<u32> = 24..=MOST_PAIRS;
/// Time of those, ns, unless that makes them too few.
const PAIRS_NS: f64 = 1e10;
/// Least length of a sample, ns, and the length beyond which noise is not averaged out any further.
const SAMPLE_NS: (f64, f64) = (2e5, 3.2e6);
/// Spread of log-ratios at which samples are long enough: gains of 2 % beyond the margin are found with it.
const QUIET: f64 = 0.015;
/// Pairs that a length of samples is tried with.
const TRIED_PAIRS: u32 = 16;
/// Time that may be spent on measuring disturbed pairs again, ns.
pub(super) const PATIENCE_NS: f64 = 1e10;

/// What the first half of a claim leaves behind.
pub(super) struct SequentialHalf {
    /// Fixed before the comparison began.
    pub(super) gate: ConfirmedClaim,
    /// Length of samples, ns.
    pub(super) sample_ns: f64,
    pub(super) times: PairedTimes,
    pub(super) basis: ClaimBasis,
}

impl DeviceRunner {
    /// Compares a winner with the default, both compiled, pair by pair.
    ///
    /// # Errors
    /// How one of the two failed.
    pub(super) fn sequential_half(
        &mut self,
        winner: &Compiled,
        default: &Compiled,
        rng: &mut ChaCha8Rng,
    ) -> Result<SequentialHalf, EvalError> {
        let limit = self.patience();
        // The stand's incumbent will not be the search's any more.
        self.incumbent = None;
        let blame = |error: EvalError| EvalError::Lost(format!("the default failed: {error}"));
        let default_ns = self.stand.examine(&default.artifact, limit).map_err(blame)?.first_ns;
        self.stand.set_incumbent(&default.artifact)?;
        let Resolution { sample_ns, times: alone, spread, margin } =
            resolution(&mut self.stand, default_ns, rng)?;
        let gate = ConfirmedClaim::at_least(margin, self.settings.claim_level);

        let winner_ns = self.stand.examine(&winner.artifact, limit)?.first_ns;
        let plan = PairPlan::new([default_ns, winner_ns], sample_ns);
        let found = sequential_pairs(&mut self.stand, &plan, &gate, rng)?;
        let test = gate.sequential();
        let betting = test.replay(&found.times.incumbent, &found.times.candidate).map_err(unusable)?;
        let basis = ClaimBasis {
            self_comparison: alone,
            spread,
            margin: gate.margin().get(),
            threshold: gate.level().e_threshold(),
            e_value: betting.e_value(),
            pairs: betting.pairs() as u64,
            launches: plan.launches,
            sequential: found.conditions(),
            confirmation: Conditions::default(),
        };
        Ok(SequentialHalf { gate, sample_ns, times: found.times, basis })
    }
}

/// What a machine resolves.
pub(super) struct Resolution {
    /// Length of samples, ns.
    pub(super) sample_ns: f64,
    /// Pairs of a kernel with itself.
    times: PairedTimes,
    /// Spread of their log-ratios.
    spread: f64,
    /// What a claim must exceed.
    pub(super) margin: Margin,
}

/// Measures what the machine resolves, with one kernel on both sides of the stand.
///
/// # Errors
/// When the kernel fails.
pub(super) fn resolution(
    stand: &mut TestStand,
    launch_ns: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Resolution, EvalError> {
    let sample_ns = quiet_sample_ns(stand, launch_ns, rng)?;
    let plan = PairPlan::new([launch_ns; 2], sample_ns);
    let mut alone = Gathered::default();
    let pairs = plan.pairs_in(SELF_NS, SELF_PAIRS);
    let mut patience_ns = PATIENCE_NS / 2.0;
    alone.gather(stand, &plan, pairs, (&mut patience_ns, rng), &|_| false)?;
    let PairedTimes { incumbent, candidate } = &alone.times;
    let floor = noise_floor_at(incumbent, candidate, MOST_PAIRS as usize).map_err(unusable)?;
    let spread = pair_spread(incumbent, candidate).map_err(unusable)?;
    Ok(Resolution { sample_ns, spread, margin: Margin::of_claim(floor), times: alone.times })
}

/// Pairs until the gate's sequential half has decided, or there are as many as it may have.
///
/// # Errors
/// How a kernel failed.
pub(super) fn sequential_pairs(
    stand: &mut TestStand,
    plan: &PairPlan,
    gate: &ConfirmedClaim,
    rng: &mut ChaCha8Rng,
) -> Result<Gathered, EvalError> {
    let test = gate.sequential();
    let decided = |times: &PairedTimes| {
        let replayed = test.replay(&times.incumbent, &times.candidate);
        replayed.is_ok_and(|betting| betting.decision() != Decision::Inconclusive)
    };
    let mut found = Gathered::default();
    let mut patience_ns = PATIENCE_NS;
    found.gather(stand, plan, plan.pairs_in(PAIRS_NS, PAIRS), (&mut patience_ns, rng), &decided)?;
    Ok(found)
}

/// Samples that cannot be judged are no times.
fn unusable(error: tilewright_stats::SampleError) -> EvalError {
    EvalError::Implausible(error.to_string())
}

/// The shortest length of samples at which a kernel on both sides of a stand is quiet, or the longest that is
/// tried, ns.
///
/// # Errors
/// When the kernel fails.
pub(crate) fn quiet_sample_ns(
    stand: &mut TestStand,
    launch_ns: f64,
    rng: &mut ChaCha8Rng,
) -> Result<f64, EvalError> {
    let (mut sample_ns, longest_ns) = SAMPLE_NS;
    let mut patience_ns = PATIENCE_NS / 4.0;
    // A launch that is longer than a sample is its own sample.
    while sample_ns < longest_ns && launch_ns < longest_ns {
        let plan = PairPlan::new([launch_ns; 2], sample_ns);
        let mut tried = Gathered::default();
        tried.gather(stand, &plan, TRIED_PAIRS, (&mut patience_ns, rng), &|_| false)?;
        let spread = pair_spread(&tried.times.incumbent, &tried.times.candidate);
        if spread.is_ok_and(|spread| spread <= QUIET) {
            break;
        }
        sample_ns *= 2.0;
    }
    Ok(sample_ns)
}

/// The level of a claim where nothing asks for a stricter one.
pub(super) const CLAIM_LEVEL: Level = Level::ONE_IN_TEN_THOUSAND;
