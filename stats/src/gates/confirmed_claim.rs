//! Judges a claim: what is published, replaces a kept kernel, or is reported as a gain.
//!
//! Both halves must say the same: the sequential test on the pairs that were looked at one by one, and the
//! replication on fresh pairs of a fresh process. Ratio and interval are those of the fresh pairs alone. The
//! gate cannot be set to less than 1 % or to a level above 10⁻⁴, so that a file cannot hold a lenient claim.
//!
//! ```
//! use tilewright_stats::{ConfirmedClaim, Decision, Evidence, Gate, PairedTimes};
//! let pairs = |ratio: f64| PairedTimes { incumbent: vec![100.0; 20], candidate: vec![100.0 * ratio; 20] };
//! let judge = |sequential, confirmation| {
//!     ConfirmedClaim::DEFAULT.judge(&Evidence::Claim { sequential, confirmation }).kind
//! };
//! assert_eq!(judge(pairs(0.8), pairs(0.9)), Decision::Faster);
//! assert_eq!(judge(pairs(0.8), pairs(1.0)), Decision::Inconclusive);
//! assert_eq!(judge(pairs(1.0), pairs(0.9)), Decision::Inconclusive);
//! ```

use super::finding::Finding;
use super::{Gate, Replication, SequentialClaim, sealed::Sealed};
use crate::{Decision, Evidence, Level, Margin, Reason, SampleError, Settings, SettingsError};

/// The gate of claims. See `docs/statistics.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfirmedClaim {
    margin: Margin,
    level: Level,
}

impl ConfirmedClaim {
    /// 1 % at e ≥ 10⁴: the most lenient that a claim may be.
    pub const DEFAULT: Self =
        Self { margin: SequentialClaim::DEFAULT.margin, level: SequentialClaim::DEFAULT.level };

    /// A gate with this margin and this level of the sequential test, or the default's where that is stricter.
    pub fn at_least(margin: Margin, level: Level) -> Self {
        let strictest = |level: Level, other: Level| if level < other { level } else { other };
        let widest = |margin: Margin, other: Margin| if margin > other { margin } else { other };
        Self { margin: widest(margin, Self::DEFAULT.margin), level: strictest(level, Self::DEFAULT.level) }
    }

    /// Relative effect that must be exceeded.
    pub fn margin(&self) -> Margin {
        self.margin
    }

    /// Level of the sequential test.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The sequential half.
    pub fn sequential(&self) -> SequentialClaim {
        SequentialClaim { margin: self.margin, level: self.level }
    }

    /// The confirming half.
    pub fn replication(&self) -> Replication {
        Replication { margin: self.margin, ..Replication::DEFAULT }
    }
}

impl Gate for ConfirmedClaim {
    fn id(&self) -> &'static str {
        "confirmed_claim"
    }

    fn settings(&self) -> Settings {
        Settings::of([("margin", self.margin.get()), ("level", self.level.get())])
    }

    fn with(&self, settings: &Settings) -> Result<Box<dyn Gate>, SettingsError> {
        let settings = settings.only(&["margin", "level"])?;
        let (margin, level) = (settings.margin()?, settings.level()?);
        let strict = Self::at_least(margin, level);
        if strict.margin != margin {
            return Err(SettingsError::Lenient { name: "margin", value: margin.get() });
        }
        if strict.level != level {
            return Err(SettingsError::Lenient { name: "level", value: level.get() });
        }
        Ok(Box::new(strict))
    }
}

impl Sealed for ConfirmedClaim {
    fn decide(&self, evidence: &Evidence) -> Result<Finding, SampleError> {
        let Evidence::Claim { sequential, confirmation } = evidence else {
            return Ok(Finding::unsuitable(evidence));
        };
        let found = self.sequential().decide(&sequential.clone().into())?;
        let confirmed = self.replication().decide(&confirmation.clone().into())?;
        if found.kind == confirmed.kind {
            return Ok(confirmed);
        }
        Ok(Finding { kind: Decision::Inconclusive, reason: Reason::NotMet, ..confirmed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PairedTimes;

    #[test]
    fn the_effect_is_that_of_the_confirmation() {
        let pairs = |ratio: f64| PairedTimes { incumbent: vec![10.0; 30], candidate: vec![10.0 * ratio; 30] };
        let verdict = ConfirmedClaim::DEFAULT
            .judge(&Evidence::Claim { sequential: pairs(0.5), confirmation: pairs(0.9) });
        assert_eq!((verdict.kind, verdict.margin), (Decision::Faster, 0.01));
        assert!((verdict.ratio.unwrap() - 0.9).abs() < 1e-12);
    }

    #[test]
    fn it_cannot_be_set_to_less_than_a_claim_needs() {
        let with = |margin, level| {
            ConfirmedClaim::DEFAULT.with(&Settings::of([("margin", margin), ("level", level)]))
        };
        assert!(with(0.012, 1e-5).is_ok());
        assert_eq!(with(0.005, 1e-4).unwrap_err(), SettingsError::Lenient { name: "margin", value: 0.005 });
        assert_eq!(with(0.01, 1e-3).unwrap_err(), SettingsError::Lenient { name: "level", value: 1e-3 });
        let strict = ConfirmedClaim::at_least(Margin::NONE, Level::FIVE_PERCENT);
        assert_eq!(strict, ConfirmedClaim::DEFAULT);
    }
}
