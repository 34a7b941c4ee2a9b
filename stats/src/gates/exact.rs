//! Judges simulated times, which carry no noise: the lower one is faster.
//!
//! ```
//! use tilewright_stats::{Decision, Evidence, Exact, Gate};
//! let simulated = Evidence::Exact { incumbent: 2000.0, candidate: 1500.0 };
//! let verdict = Exact.judge(&simulated);
//! assert_eq!((verdict.kind, verdict.ratio), (Decision::Faster, Some(0.75)));
//! ```
//!
//! What a simulator gets wrong about the chip is no concern of this gate; the
//! kind of evidence stays visible instead.

use super::finding::{Finding, decide};
use super::{Gate, sealed::Sealed};
use crate::interval::Interval;
use crate::pairs::SAME;
use crate::{Decision, Evidence, Reason, SampleError, Settings, SettingsError, log_ratios};

/// Gate for simulated times, without settings. See `docs/statistics.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exact;

impl Gate for Exact {
    fn id(&self) -> &'static str {
        "exact"
    }

    fn settings(&self) -> Settings {
        Settings::default()
    }

    fn with(&self, settings: &Settings) -> Result<Box<dyn Gate>, SettingsError> {
        settings.only(&[])?;
        Ok(Box::new(Self))
    }
}

impl Sealed for Exact {
    fn decide(&self, evidence: &Evidence) -> Result<Finding, SampleError> {
        let &Evidence::Exact { incumbent, candidate } = evidence else {
            return Ok(Finding::unsuitable(evidence));
        };
        let log = log_ratios(&[incumbent], &[candidate])?[0];
        let kind = decide(log < -SAME, log > SAME);
        let reason = if kind == Decision::Inconclusive { Reason::NotMet } else { Reason::Met };
        let ratio = candidate / incumbent;
        Ok(Finding { kind, reason, ratio: Some(ratio), interval: Some(Interval { low: ratio, high: ratio }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_are_inconclusive_and_impossible_ones_invalid() {
        let judge = |incumbent, candidate| Exact.judge(&Evidence::Exact { incumbent, candidate });
        assert_eq!(judge(5.0, 5.0).kind, Decision::Inconclusive);
        assert_eq!(judge(5.0, 6.0).kind, Decision::Slower);
        assert_eq!(judge(5.0, 0.0).reason, Reason::Invalid(SampleError::NotPositive { index: 0 }));
        assert_eq!(judge(f64::NAN, 1.0).reason, Reason::Invalid(SampleError::NotFinite { index: 0 }));
    }
}
