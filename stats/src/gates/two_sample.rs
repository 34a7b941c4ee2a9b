//! Judges recorded data, where each side was taken by itself.
//!
//! Two conditions, both two-sided at `level`: a Mann–Whitney test that the logarithms
//! of the times lie beyond the margin, which trusts no shape of their distribution;
//! and a robust t test of the same, whose standard error is widened where
//! neighbouring samples resemble each other, which the first knows nothing of.
//!
//! ```
//! use tilewright_stats::{Decision, Evidence, Gate, TwoSample};
//! let incumbent: Vec<f64> = (0..31).map(|i| 100.0 + f64::from(i * 7 % 5)).collect();
//! let candidate: Vec<f64> = incumbent.iter().map(|time| time * 0.9).collect();
//! assert_eq!(TwoSample::DEFAULT.judge(&Evidence::Samples { incumbent, candidate }).kind, Decision::Faster);
//! ```
//!
//! Assumes that the machine was in one state for both recordings: a clock that
//! changed between them cannot be told from a faster kernel. That is why its
//! results are never served as measured.

use super::finding::{Effect, Finding, decide};
use super::{Gate, sealed::Sealed};
use crate::correlation::variance_inflation;
use crate::distributions::student_quantile_above;
use crate::interval::shift;
use crate::pairs::logs;
use crate::samples::mad;
use crate::significance::mann_whitney;
use crate::{Evidence, Level, Margin, SampleError, Settings, SettingsError};

/// Gate for recorded data. See `docs/statistics.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoSample {
    /// Relative effect that must be exceeded.
    pub margin: Margin,
    /// Two-sided level of either test.
    pub level: Level,
}

impl TwoSample {
    /// 1 % at p < 0.01.
    pub const DEFAULT: Self = Self { margin: Margin::ONE_PERCENT, level: Level::ONE_PERCENT };
}

impl Gate for TwoSample {
    fn id(&self) -> &'static str {
        "two_sample"
    }

    fn settings(&self) -> Settings {
        Settings::of([("margin", self.margin.get()), ("level", self.level.get())])
    }

    fn with(&self, settings: &Settings) -> Result<Box<dyn Gate>, SettingsError> {
        let settings = settings.only(&["margin", "level"])?;
        Ok(Box::new(Self { margin: settings.margin()?, level: settings.level()? }))
    }
}

impl Sealed for TwoSample {
    fn decide(&self, evidence: &Evidence) -> Result<Finding, SampleError> {
        let Evidence::Samples { incumbent, candidate } = evidence else {
            return Ok(Finding::unsuitable(evidence));
        };
        let (incumbent, candidate) = (logs(incumbent)?, logs(candidate)?);
        let moved = |by: f64| candidate.iter().map(|log| log + by).collect::<Vec<_>>();
        let less = mann_whitney(&moved(self.margin.log()), &incumbent)?.less;
        let greater = mann_whitney(&moved(-self.margin.log()), &incumbent)?.greater;
        let (first, second) = (Location::of(&incumbent)?, Location::of(&candidate)?);
        // Each side weighs by the other's length: its variance is over its own.
        let (n, m) = (incumbent.len() as f64, candidate.len() as f64);
        let inflation = (m * first.inflation + n * second.inflation) / (n + m);
        let found = shift(&incumbent, &candidate, Level::FIVE_PERCENT, inflation)?;
        let reach = self.margin.log() + reach(&first, &second, self.level);
        let significant = |p: f64| 2.0 * p < self.level.get();
        let faster = significant(less) && found.estimate < -reach;
        let slower = significant(greater) && found.estimate > reach;
        let effect = Effect { log: found.estimate, interval: found.interval };
        Ok(Finding::new(decide(faster, slower), &effect))
    }
}

/// How well the location of one side is known.
struct Location {
    /// Squared standard error, by the median's and the median absolute deviation.
    variance: f64,
    inflation: f64,
    /// Independent samples that would tell as much.
    worth: f64,
}

impl Location {
    fn of(logs: &[f64]) -> Result<Self, SampleError> {
        let inflation = variance_inflation(logs)?;
        let worth = logs.len() as f64 / inflation;
        let variance = std::f64::consts::FRAC_PI_2 * (1.4826 * mad(logs)?).powi(2) / worth;
        Ok(Self { variance, inflation, worth })
    }
}

/// Distance between two locations that chance exceeds with probability `level`.
fn reach(first: &Location, second: &Location, level: Level) -> f64 {
    // Below four degrees the quantile explodes and a doubled time would pass for noise.
    let freedom = (first.worth + second.worth - 2.0).max(4.0);
    student_quantile_above(level.get() / 2.0, freedom) * (first.variance + second.variance).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;

    #[test]
    fn samples_that_wander_must_differ_by_more() {
        let steady = |i: usize| 0.01 * (i * 7 % 5) as f64;
        let wandering = |i: usize| 0.01 * (i / 6) as f64;
        let judge = |course: &dyn Fn(usize) -> f64, ratio: f64| {
            let incumbent: Vec<f64> = (0..30).map(|i| 10.0 * course(i).exp()).collect();
            let candidate = incumbent.iter().map(|time| time * ratio).collect();
            TwoSample::DEFAULT.judge(&Evidence::Samples { incumbent, candidate }).kind
        };
        assert_eq!(judge(&steady, 0.95), Decision::Faster);
        assert_eq!(judge(&wandering, 0.95), Decision::Inconclusive);
        assert_eq!(judge(&wandering, 0.5), Decision::Faster);
    }

    #[test]
    fn too_few_samples_decide_nothing_and_lengths_may_differ() {
        let judge = |n: usize, m: usize| {
            let side = |n: usize, time: f64| (0..n).map(|i| time + (i * 7 % 5) as f64 * 0.01).collect();
            let evidence = Evidence::Samples { incumbent: side(n, 10.0), candidate: side(m, 8.0) };
            TwoSample::DEFAULT.judge(&evidence).kind
        };
        assert_eq!(judge(1, 1), Decision::Inconclusive);
        assert_eq!(judge(3, 3), Decision::Inconclusive);
        assert_eq!(judge(12, 20), Decision::Faster);
    }
}
