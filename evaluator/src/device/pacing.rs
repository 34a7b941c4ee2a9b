//! How many samples a candidate gets: few when it is clearly slower, more when it is close.

use tilewright_stats::{Decision, Evidence, Gate, Racing};

use crate::protocol::WarmUp;
use crate::stand::Samples;

/// Effort on one candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pacing {
    /// A first impression slower than the incumbent by more than this factor ends after one pair.
    pub screen_ratio: f64,
    /// Pairs of a candidate that passes the screen.
    pub first_pairs: u32,
    /// Most pairs, for candidates close to the incumbent; at most 64.
    pub most_pairs: u32,
    /// Time that pairs beyond the first ones may take together, ns.
    pub most_ns: f64,
    /// Least length of a sample, ns: short kernels are launched several times.
    pub sample_ns: f64,
    /// Launches from this length on are long, ns: pairs are decided on one by one, and nothing is run only to warm up
    /// what the launch before has warmed.
    pub long_ns: f64,
    /// The screen of long kernels, applied to the first pair.
    pub long_screen_ratio: f64,
}

impl Default for Pacing {
    fn default() -> Self {
        Self {
            screen_ratio: 2.5,
            first_pairs: 3,
            most_pairs: 7,
            most_ns: 5e8,
            sample_ns: 16e3,
            long_ns: 1e6,
            long_screen_ratio: 1.3,
        }
    }
}

/// Slower than the incumbent by this factor in every pair: no more pairs are needed.
const CLEARLY_SLOWER: f64 = 1.05;
/// A median ratio above this, and judged slower: as above.
const SLOWER: f64 = 1.02;
/// Faster by this factor in every pair: no more than so many pairs are needed. Anything closer gets all pairs
/// and is looked at once, since looking again and again until something shows would find what is not there.
const CLEARLY_FASTER: (f64, usize) = (0.97, 5);

impl Pacing {
    /// Launches of one sample of incumbent and candidate.
    pub(crate) fn launches(&self, first_ns: f64, incumbent_ns: f64) -> [u32; 2] {
        let launches =
            |launch_ns: f64| (self.sample_ns / launch_ns.max(1.0)).ceil().clamp(1.0, 10_000.0) as u32;
        // What is screened out needs no precision.
        let candidate = if self.screens(first_ns, incumbent_ns) { 1 } else { launches(first_ns) };
        [launches(incumbent_ns), candidate]
    }

    fn screens(&self, first_ns: f64, incumbent_ns: f64) -> bool {
        first_ns > self.screen_ratio * incumbent_ns
    }

    /// Verifying launches from this length on are not repeated for a better impression, ns. A first launch
    /// finds cold caches, so what is to be screened must be slower than that.
    pub(crate) fn repeat_below_ns(&self, incumbent_ns: Option<f64>) -> u64 {
        incumbent_ns.map_or(self.long_ns, |launch_ns| (2.0 * self.screen_ratio * launch_ns).min(self.long_ns))
            as u64
    }

    pub(crate) fn is_long(&self, incumbent_ns: f64) -> bool {
        incumbent_ns >= self.long_ns
    }

    /// Pairs to begin with.
    pub(crate) fn begin(&self, first_ns: f64, incumbent_ns: f64) -> u32 {
        if self.screens(first_ns, incumbent_ns) || self.is_long(incumbent_ns) {
            1
        } else {
            self.first_pairs.clamp(1, 64)
        }
    }

    /// What to run before the first pair of a request.
    pub(crate) fn warm_up(
        &self,
        [first_ns, incumbent_ns]: [f64; 2],
        first_request: bool,
        candidate_first: bool,
    ) -> WarmUp {
        if self.screens(first_ns, incumbent_ns) {
            WarmUp::None
        } else if !self.is_long(incumbent_ns) {
            WarmUp::Both
        } else if first_request && candidate_first {
            // The verification has just run the candidate, so the incumbent goes between.
            WarmUp::Second
        } else {
            WarmUp::None
        }
    }

    /// Further pairs, 0 when there are enough.
    pub(crate) fn more(&self, samples: &Samples, incumbent_ns: f64) -> u32 {
        let taken = samples.candidate.len();
        let mut ratios: Vec<f64> = samples
            .candidate
            .iter()
            .zip(&samples.incumbent)
            .map(|(candidate, incumbent)| candidate / incumbent)
            .collect();
        ratios.sort_by(f64::total_cmp);
        let (Some(&lowest), Some(&highest)) = (ratios.first(), ratios.last()) else { return 0 };
        let median = ratios[taken / 2];
        let pair_ns = samples.pair_ns().max(self.sample_ns);
        let affordable = ((self.most_ns / pair_ns) as u32).max(self.first_pairs);
        let left = self.most_pairs.min(affordable).min(64).saturating_sub(taken as u32);
        if (taken as u32) < self.first_pairs {
            let screen = if self.is_long(incumbent_ns) { self.long_screen_ratio } else { self.screen_ratio };
            return if lowest > screen { 0 } else { left.min(self.first_pairs - taken as u32) };
        }
        if lowest > CLEARLY_SLOWER {
            return 0;
        }
        if highest < CLEARLY_FASTER.0 && taken >= CLEARLY_FASTER.1 {
            return 0;
        }
        let pairs =
            Evidence::Pairs { incumbent: samples.incumbent.clone(), candidate: samples.candidate.clone() };
        let slower = median > SLOWER && Racing::DEFAULT.judge(&pairs).kind == Decision::Slower;
        // Asking takes about as long as a pair of short launches, so all at once.
        if slower { 0 } else { left.min(4) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(ratios: &[f64]) -> Samples {
        Samples {
            incumbent: vec![100.0; ratios.len()],
            candidate: ratios.iter().map(|ratio| 100.0 * ratio).collect(),
            ..Samples::default()
        }
    }

    // U025, U127
    #[test]
    fn effort_goes_to_close_candidates() {
        let pacing = Pacing::default();
        let more = |ratios: &[f64]| pacing.more(&samples(ratios), 100.0);
        assert_eq!(pacing.begin(300.0, 100.0), 1);
        assert_eq!(more(&[3.0]), 0);
        assert_eq!(more(&[2.0]), 2);
        assert_eq!(pacing.begin(120.0, 100.0), 3);
        assert_eq!(more(&[1.2, 1.3, 1.1]), 0);
        assert_eq!(more(&[1.01, 1.0, 0.99]), 4);
        assert_eq!(more(&[0.9, 0.91, 0.92]), 4);
        assert_eq!(more(&[0.9, 0.91, 0.92, 0.93, 0.9]), 0);
        assert_eq!(more(&[0.99, 0.98, 0.99, 0.98, 0.99]), 2);
        assert_eq!(more(&[1.0; 7]), 0);
        assert_eq!(pacing.more(&samples(&[1.4]), 1e7), 0);
        assert_eq!(pacing.more(&samples(&[1.2]), 1e7), 2);
        let long = |ratios: &[f64]| {
            let scaled = |times: Vec<f64>| times.into_iter().map(|time| time * 2e6).collect();
            let Samples { incumbent, candidate, .. } = samples(ratios);
            Samples { incumbent: scaled(incumbent), candidate: scaled(candidate), ..Samples::default() }
        };
        assert_eq!(pacing.more(&long(&[1.0]), 2e8), 2);
        assert_eq!(pacing.more(&long(&[1.0; 3]), 2e8), 0);
    }

    // U036
    #[test]
    fn short_kernels_are_launched_several_times_a_sample() {
        let pacing = Pacing::default();
        assert_eq!(pacing.launches(6e3, 5e3), [4, 3]);
        assert_eq!(pacing.launches(0.0, 20e3), [1, 10_000]);
        assert_eq!(pacing.launches(13e3, 5e3), [4, 1]);
        assert_eq!(pacing.launches(1e9, 1e9), [1, 1]);
    }
}
