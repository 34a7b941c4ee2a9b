//! Pairs of an undisturbed machine: what the system's counters call disturbed is measured again.

use std::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tilewright_journal::{Conditions, EvalError};
use tilewright_runtime::Contention;
use tilewright_stats::PairedTimes;
use tilewright_stats::course::Drift;

use crate::protocol::{TimePlan, WarmUp};
use crate::stand::{Samples, TestStand};

/// Pairs of one request: long enough together that the coordinator's clock would show hidden time, and that the
/// launches which warm up again after a ceiling was measured are few.
const REQUEST_PAIRS: std::ops::RangeInclusive<u32> = 4..=16;
/// Time of the pairs of one request, ns.
const REQUEST_NS: f64 = 3e8;

/// Times that a request is made before its time counts as hidden.
const HONEST_ATTEMPTS: u32 = 8;

/// How the pairs of a comparison are taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairPlan {
    /// Launches of one sample of incumbent and candidate.
    pub(crate) launches: [u32; 2],
    /// About how long a sample of each takes, ns.
    sample_ns: [f64; 2],
}

/// Pairs, and what happened while they were taken.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Gathered {
    pub(crate) times: PairedTimes,
    contention: Contention,
    repeated: u64,
    tainted: bool,
}

impl PairPlan {
    /// Samples of about this length, of kernels whose launches take so long, ns.
    pub(crate) fn new(launch_ns: [f64; 2], sample_ns: f64) -> Self {
        let launches = launch_ns.map(|launch_ns| (sample_ns / launch_ns).ceil().clamp(1.0, 1e6) as u32);
        Self::of(launch_ns, launches)
    }

    /// So many launches of the candidate a sample, and a share `delay` more of the incumbent.
    pub(crate) fn delayed(launch_ns: [f64; 2], launches: u32, delay: f64) -> Self {
        let delayed = (f64::from(launches) * (1.0 + delay)).round() as u32;
        Self::of(launch_ns, [delayed, launches])
    }

    fn of(launch_ns: [f64; 2], launches: [u32; 2]) -> Self {
        let sample = |side: usize| launch_ns[side] * f64::from(launches[side]);
        Self { launches, sample_ns: [sample(0), sample(1)] }
    }

    /// The longer sample, ns.
    pub(super) fn longest_ns(&self) -> f64 {
        self.sample_ns[0].max(self.sample_ns[1])
    }

    fn pair_ns(&self) -> f64 {
        self.sample_ns[0] + self.sample_ns[1]
    }

    /// Pairs that fit into this time, ns, within these bounds.
    pub(super) fn pairs_in(&self, time_ns: f64, bounds: std::ops::RangeInclusive<u32>) -> u32 {
        (time_ns / self.pair_ns()).clamp(f64::from(*bounds.start()), f64::from(*bounds.end())) as u32
    }

    /// Pairs of one request.
    pub(super) fn request_pairs(&self) -> u32 {
        self.pairs_in(REQUEST_NS, REQUEST_PAIRS)
    }
}

impl Gathered {
    /// Up to `wanted` more pairs of the stand's incumbent and candidate, as few at a time as it takes to find
    /// the machine undisturbed; ends early once there are `enough`. `patience_ns` is what may be spent on pairs
    /// that are measured again; when it is used up, disturbed ones are kept and what was gathered is tainted.
    pub(crate) fn gather(
        &mut self,
        stand: &mut TestStand,
        plan: &PairPlan,
        wanted: u32,
        (patience_ns, rng): (&mut f64, &mut ChaCha8Rng),
        enough: &dyn Fn(&PairedTimes) -> bool,
    ) -> Result<(), EvalError> {
        let most = plan.request_pairs();
        let (mut batch, mut left) = (most, wanted);
        while left > 0 && !enough(&self.times) {
            let pairs = left.min(batch).max(stand.least_pairs());
            let request = TimePlan {
                pairs,
                launches: plan.launches,
                candidate_first: rng.random(),
                checked_pair: rng.random_range(0..pairs),
                warm_up: WarmUp::Both,
                cold: false,
            };
            let limit = Duration::from_secs(5)
                + Duration::from_nanos((20.0 * plan.pair_ns() * f64::from(pairs + 2)) as u64);
            let (samples, contention) = honest(stand, &request, limit)?;
            self.contention = self.contention.and(contention);
            let disturbed = contention.is_disturbed(stand.threads());
            if disturbed && *patience_ns > 0.0 {
                *patience_ns -= contention.elapsed_ns as f64;
                self.repeated += u64::from(pairs);
                batch = (batch / 2).max(stand.least_pairs());
                continue;
            }
            self.tainted |= disturbed;
            self.times.incumbent.extend(samples.incumbent);
            self.times.candidate.extend(samples.candidate);
            left = left.saturating_sub(pairs);
            batch = (batch + 1).min(most);
        }
        Ok(())
    }

    /// What happened, for the record.
    pub(crate) fn conditions(&self) -> Conditions {
        let Contention {
            elapsed_ns,
            steal_ns,
            others_ns,
            waited_ns,
            involuntary_switches,
            migrations,
            clock_mhz,
            celsius,
        } = self.contention;
        Conditions {
            repeated: self.repeated,
            tainted: self.tainted,
            elapsed_ns,
            steal_ns,
            others_ns,
            waited_ns,
            involuntary_switches,
            migrations,
            clock_mhz,
            celsius,
            drift: Drift::of(&self.times.incumbent).ok(),
        }
    }
}

/// Pairs whose sum fits into the coordinator's clock, taken again when the machine was busy meanwhile.
///
/// Time for which the worker was ready and had no processor is no time of a kernel: the system counts it, and it is
/// left out, up to half of the bracket. A worker that hides time runs meanwhile.
fn honest(
    stand: &mut TestStand,
    plan: &TimePlan,
    limit: Duration,
) -> Result<(Samples, Contention), EvalError> {
    let mut hidden = (0, 0);
    for attempt in 0..HONEST_ATTEMPTS {
        let (batch, contention) = stand.compare_watched(plan, limit)?;
        let waited = contention.waited_ns.unwrap_or(0).min(batch.bracket_ns / 2);
        hidden = (batch.unexplained_ns.saturating_sub(waited), batch.bracket_ns);
        if hidden.0 <= hidden.1 / 20 {
            return Ok((batch, contention));
        }
        // What disturbs a request of a few milliseconds mostly disturbs the next one too.
        std::thread::sleep(Duration::from_millis(1 << attempt));
    }
    let (unexplained, bracket) = hidden;
    Err(EvalError::TimerTampered(format!(
        "launches account for all but {unexplained} ns of {bracket} ns of the coordinator's clock"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_as_long_as_asked_and_requests_short() {
        let plan = PairPlan::new([50e3, 30e3], 2e5);
        assert_eq!((plan.launches, plan.longest_ns()), ([4, 7], 210e3));
        assert_eq!((plan.request_pairs(), plan.pairs_in(5e9, 12..=60)), (16, 60));
        let long = PairPlan::new([1e9, 5e8], 2e5);
        assert_eq!((long.launches, long.request_pairs(), long.pairs_in(5e9, 12..=60)), ([1, 1], 4, 12));
    }
}
