//! Moves the incumbent within a search: a cheap, lenient look at few pairs.
//!
//! Wilcoxon's signed-rank test without margin, one-sided on either side at
//! `level`. Below five pairs no outcome reaches 5 %, so unanimous pairs do: three
//! of three (p = 1/8) move the incumbent. Being wrong here costs little, since the
//! two kernels are then about equal and a claim is judged by another gate.
//!
//! ```
//! use tilewright_stats::{Decision, Evidence, Gate, Racing};
//! let pairs = Evidence::Pairs { incumbent: vec![10.0, 10.2, 10.1], candidate: vec![9.0, 9.1, 9.3] };
//! assert_eq!(Racing::DEFAULT.judge(&pairs).kind, Decision::Faster);
//! ```
//!
//! After Maron & Moore 1994 ("Hoeffding races") and López-Ibáñez et al. 2016 (irace):
//! drop a contender when its bound is worse than the best's.

use super::finding::{Effect, Finding, decide};
use super::{Gate, sealed::Sealed};
use crate::significance::wilcoxon_signed_rank;
use crate::{Evidence, Level, SampleError, Settings, SettingsError, log_ratios};

/// Lenient gate within a search. See the gate's entry in `docs/statistics.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Racing {
    /// One-sided level, reached from five pairs on; below, pairs must be unanimous.
    pub level: Level,
}

impl Racing {
    /// 5 % a side.
    pub const DEFAULT: Self = Self { level: Level::FIVE_PERCENT };
    /// Most often that it judges a kernel faster than itself: three unanimous pairs, one time in eight.
    pub const MOST_WRONG: f64 = 0.125;
    /// Fewest pairs that differ for any decision.
    pub const LEAST_PAIRS: usize = 3;
}

impl Gate for Racing {
    fn id(&self) -> &'static str {
        "racing"
    }

    fn settings(&self) -> Settings {
        Settings::of([("level", self.level.get())])
    }

    fn with(&self, settings: &Settings) -> Result<Box<dyn Gate>, SettingsError> {
        Ok(Box::new(Self { level: settings.only(&["level"])?.level()? }))
    }
}

impl Sealed for Racing {
    fn decide(&self, evidence: &Evidence) -> Result<Finding, SampleError> {
        let Evidence::Pairs { incumbent, candidate } = evidence else {
            return Ok(Finding::unsuitable(evidence));
        };
        let ratios = log_ratios(incumbent, candidate)?;
        let p = wilcoxon_signed_rank(&ratios)?;
        let differing = ratios.iter().filter(|ratio| ratio.abs() > crate::pairs::SAME).count();
        let unanimous = 0.5_f64.powi(differing.min(64) as i32);
        // Unanimity stands in for the level only where the default level is out of reach.
        let level = if differing < 5 { self.level.get().max(unanimous) } else { self.level.get() };
        let enough = differing >= Self::LEAST_PAIRS;
        let kind = decide(enough && p.less <= level, enough && p.greater <= level);
        Ok(Finding::new(kind, &Effect::of_pairs(&ratios)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;

    fn judge(candidate: &[f64]) -> Decision {
        let incumbent = vec![100.0; candidate.len()];
        Racing::DEFAULT.judge(&Evidence::Pairs { incumbent, candidate: candidate.to_vec() }).kind
    }

    #[test]
    fn three_pairs_must_agree() {
        assert_eq!(judge(&[99.0, 98.0, 97.0]), Decision::Faster);
        assert_eq!(judge(&[101.0, 102.0, 103.0]), Decision::Slower);
        assert_eq!(judge(&[99.0, 98.0, 101.0]), Decision::Inconclusive);
        assert_eq!(judge(&[99.0, 98.0]), Decision::Inconclusive);
        assert_eq!(judge(&[99.0, 98.0, 100.0]), Decision::Inconclusive);
    }

    #[test]
    fn from_five_pairs_on_the_level_counts() {
        assert_eq!(judge(&[90.0, 91.0, 92.0, 93.0, 94.0]), Decision::Faster);
        assert_eq!(judge(&[90.0, 91.0, 92.0, 93.0, 101.0]), Decision::Inconclusive);
        assert_eq!(judge(&[90.0, 91.0, 92.0, 93.0, 94.0, 95.0, 101.0]), Decision::Faster);
    }
}
