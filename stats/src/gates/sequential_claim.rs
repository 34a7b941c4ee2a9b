//! The first half of a claim: pairs that are looked at one by one until a gain beyond the margin is certain.
//!
//! Each pair is a bet on the clipped size of its gain beyond the margin; see [`crate::e_process`]. The gate
//! replays the pairs in order and decides at the first one that makes a wealth of 1/`level`, which is where a
//! measurement would have stopped. Where the side that goes first is drawn at random, log-ratios of identical
//! kernels are symmetric about zero whatever the machine does, and nothing else is needed.
//!
//! ```
//! use tilewright_stats::{Decision, Evidence, Gate, SequentialClaim};
//! let pairs = |n| Evidence::Pairs { incumbent: vec![100.0; n], candidate: vec![80.0; n] };
//! assert_eq!(SequentialClaim::DEFAULT.judge(&pairs(15)).kind, Decision::Inconclusive);
//! assert_eq!(SequentialClaim::DEFAULT.judge(&pairs(16)).kind, Decision::Faster);
//! ```
//!
//! Waudby-Smith & Ramdas 2024; Ramdas et al. 2023; Howard & Ramdas 2022 for the interval of the median.

use super::finding::{Effect, Finding};
use super::{Gate, sealed::Sealed};
use crate::e_process::{ClippedBetting, median_sequence};
use crate::samples::median;
use crate::{Evidence, Level, Margin, SampleError, Settings, SettingsError, log_ratios};

/// Sequential gate with a margin. See `docs/statistics.md`.
///
/// The interval of its verdict holds at any stopping time; its ratio is overstated by having been looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequentialClaim {
    /// Relative effect that must be exceeded.
    pub margin: Margin,
    /// Probability of ever deciding wrongly on one side; the wealth must reach its inverse.
    pub level: Level,
}

impl SequentialClaim {
    /// 1 % at e ≥ 10⁴.
    pub const DEFAULT: Self = Self { margin: Margin::ONE_PERCENT, level: Level::ONE_IN_TEN_THOUSAND };

    /// A comparison to feed with pairs as they are measured; it decides where this gate will.
    pub fn start(&self) -> ClippedBetting {
        ClippedBetting::new(self.margin, self.level)
    }

    /// The comparison after these pairs.
    ///
    /// # Errors
    /// When the lengths differ, there is no pair, or a time is not positive and finite.
    pub fn replay(&self, incumbent: &[f64], candidate: &[f64]) -> Result<ClippedBetting, SampleError> {
        let mut betting = self.start();
        for ratio in log_ratios(incumbent, candidate)? {
            betting.observe(ratio);
        }
        Ok(betting)
    }
}

impl Gate for SequentialClaim {
    fn id(&self) -> &'static str {
        "sequential_claim"
    }

    fn settings(&self) -> Settings {
        Settings::of([("margin", self.margin.get()), ("level", self.level.get())])
    }

    fn with(&self, settings: &Settings) -> Result<Box<dyn Gate>, SettingsError> {
        let settings = settings.only(&["margin", "level"])?;
        Ok(Box::new(Self { margin: settings.margin()?, level: settings.level()? }))
    }
}

impl Sealed for SequentialClaim {
    fn decide(&self, evidence: &Evidence) -> Result<Finding, SampleError> {
        let Evidence::Pairs { incumbent, candidate } = evidence else {
            return Ok(Finding::unsuitable(evidence));
        };
        let decision = self.replay(incumbent, candidate)?.decision();
        let ratios = log_ratios(incumbent, candidate)?;
        let interval = median_sequence(&ratios, Level::FIVE_PERCENT);
        Ok(Finding::new(decision, &Effect { log: median(&ratios)?, interval }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;

    #[test]
    fn the_gate_decides_where_the_running_comparison_did() {
        let candidate: Vec<f64> = (0..60).map(|i| if i % 9 == 3 { 100.5 } else { 96.0 }).collect();
        let mut betting = SequentialClaim::DEFAULT.start();
        let stop = candidate
            .iter()
            .position(|time: &f64| betting.observe(time.ln() - 100.0_f64.ln()) != Decision::Inconclusive);
        let stop = stop.unwrap();
        let judge = |pairs: usize| {
            let candidate = candidate[..pairs].to_vec();
            SequentialClaim::DEFAULT.judge(&Evidence::Pairs { incumbent: vec![100.0; pairs], candidate }).kind
        };
        assert_eq!((judge(stop), judge(stop + 1)), (Decision::Inconclusive, Decision::Faster));
    }

    #[test]
    fn an_effect_of_just_the_margin_is_never_claimed() {
        let pairs = Evidence::Pairs { incumbent: vec![101.0; 5000], candidate: vec![100.0; 5000] };
        assert_eq!(SequentialClaim::DEFAULT.judge(&pairs).kind, Decision::Inconclusive);
    }
}
