//! A strict test of an effect beyond a margin, on one set of pairs.
//!
//! Up to version 0.1 it judged what was published; records of that time are read back with it. Claims are now
//! judged by [`ConfirmedClaim`](super::ConfirmedClaim).
//!
//! Wilcoxon's signed-rank test that the log-ratios lie beyond the margin,
//! two-sided p < `level`, and the 95 % interval of the median beyond it as well.
//! The test is of "more than 1 %", not of "not 0" with an estimate above 1 %:
//! with many pairs a difference too small to matter would pass the latter.
//!
//! ```
//! use tilewright_stats::{Claim, Decision, Evidence, Gate};
//! let incumbent: Vec<f64> = (0..12).map(|i| 100.0 + f64::from(i % 3)).collect();
//! let candidate = incumbent.iter().map(|time| time * 0.97).collect();
//! assert_eq!(Claim::DEFAULT.judge(&Evidence::Pairs { incumbent, candidate }).kind, Decision::Faster);
//! ```
//!
//! The number of pairs is fixed beforehand; to stop early, use the sign
//! e-process. Murphy & Myors 1999 on minimum-effect tests.

use super::finding::{Effect, Finding, beyond, decide};
use super::{Gate, sealed::Sealed};
use crate::significance::wilcoxon_signed_rank;
use crate::{Evidence, Level, Margin, SampleError, Settings, SettingsError, log_ratios};

/// Strict gate with a margin, for a number of pairs fixed beforehand. See `docs/statistics.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// Relative effect that must be exceeded.
    pub margin: Margin,
    /// Two-sided level of the signed-rank test.
    pub level: Level,
}

impl Claim {
    /// 1 % at p < 0.001.
    pub const DEFAULT: Self = Self { margin: Margin::ONE_PERCENT, level: Level::ONE_IN_A_THOUSAND };

    /// Fewest pairs with which this gate can decide at all: 11 by default.
    pub fn least_pairs(&self) -> usize {
        let unanimous = (2.0 / self.level.get()).log2().floor() as usize + 1;
        // Six pairs make the first 95 % interval of a median.
        unanimous.max(6)
    }
}

impl Gate for Claim {
    fn id(&self) -> &'static str {
        "claim"
    }

    fn settings(&self) -> Settings {
        Settings::of([("margin", self.margin.get()), ("level", self.level.get())])
    }

    fn with(&self, settings: &Settings) -> Result<Box<dyn Gate>, SettingsError> {
        let settings = settings.only(&["margin", "level"])?;
        Ok(Box::new(Self { margin: settings.margin()?, level: settings.level()? }))
    }
}

impl Sealed for Claim {
    fn decide(&self, evidence: &Evidence) -> Result<Finding, SampleError> {
        let Evidence::Pairs { incumbent, candidate } = evidence else {
            return Ok(Finding::unsuitable(evidence));
        };
        let ratios = log_ratios(incumbent, candidate)?;
        let p = beyond(&ratios, self.margin, wilcoxon_signed_rank)?;
        let effect = Effect::of_pairs(&ratios)?;
        let enough = ratios.len() >= self.least_pairs();
        let significant = |p: f64| enough && 2.0 * p < self.level.get();
        let faster = significant(p.less) && effect.beats(self.margin);
        let slower = significant(p.greater) && effect.loses_by(self.margin);
        Ok(Finding::new(decide(faster, slower), &effect))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, Reason};

    fn judge(gate: Claim, pairs: usize, ratio: f64) -> crate::Verdict {
        let incumbent: Vec<f64> = (0..pairs).map(|i| 1000.0 + i as f64).collect();
        let candidate = incumbent.iter().map(|time| time * ratio).collect();
        gate.judge(&Evidence::Pairs { incumbent, candidate })
    }

    #[test]
    fn eleven_unanimous_pairs_are_the_fewest() {
        assert_eq!(Claim::DEFAULT.least_pairs(), 11);
        assert_eq!(judge(Claim::DEFAULT, 10, 0.9).kind, Decision::Inconclusive);
        assert_eq!(judge(Claim::DEFAULT, 11, 0.9).kind, Decision::Faster);
        assert_eq!(judge(Claim::DEFAULT, 11, 1.1).kind, Decision::Slower);
    }

    #[test]
    fn an_effect_within_the_margin_is_never_claimed_however_many_pairs() {
        let verdict = judge(Claim::DEFAULT, 5000, 0.992);
        assert_eq!((verdict.kind, verdict.reason), (Decision::Inconclusive, Reason::NotMet));
        let narrow = Claim { margin: Margin::new(0.005).unwrap(), ..Claim::DEFAULT };
        assert_eq!(judge(narrow, 5000, 0.992).kind, Decision::Faster);
        assert!((judge(narrow, 20, 0.992).ratio.unwrap() - 0.992).abs() < 1e-12);
    }
}
