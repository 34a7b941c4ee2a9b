//! Judges recorded data, where each side was taken by itself.
//!
//! Mann–Whitney test that the logarithms of the times lie beyond the margin,
//! two-sided p < `level`. Neighbouring samples of a recording resemble each other,
//! so p-values are weakened as if there were fewer samples.
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
use crate::distributions::{normal_below, normal_quantile_above};
use crate::interval::shift;
use crate::pairs::logs;
use crate::significance::mann_whitney;
use crate::{Evidence, Level, Margin, SampleError, Settings, SettingsError};

/// Gate for recorded data. See `docs/statistics.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoSample {
    /// Relative effect that must be exceeded.
    pub margin: Margin,
    /// Two-sided level of the Mann–Whitney test.
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
        let (n, m) = (incumbent.len() as f64, candidate.len() as f64);
        // Each mean's variance is its own inflation over its own length.
        let inflation = (m * variance_inflation(&incumbent)? + n * variance_inflation(&candidate)?) / (n + m);
        let moved = |by: f64| candidate.iter().map(|log| log + by).collect::<Vec<_>>();
        let less = mann_whitney(&moved(self.margin.log()), &incumbent)?.less;
        let greater = mann_whitney(&moved(-self.margin.log()), &incumbent)?.greater;
        let significant = |p: f64| 2.0 * weakened(p, inflation) < self.level.get();
        let found = shift(&incumbent, &candidate, Level::FIVE_PERCENT, inflation)?;
        let effect = Effect { log: found.estimate, interval: found.interval };
        Ok(Finding::new(decide(significant(less), significant(greater)), &effect))
    }
}

/// The p-value where the statistic's variance is `inflation` times what the test believed.
fn weakened(p: f64, inflation: f64) -> f64 {
    // p-values of ½ and more decide nothing, and 0 or 1 have no finite quantile.
    if p >= 0.5 || inflation <= 1.0 {
        return p;
    }
    normal_below(-normal_quantile_above(p.max(f64::MIN_POSITIVE)) / inflation.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;

    #[test]
    fn a_p_value_is_weakened_by_its_standard_deviation() {
        // Two standard deviations become one where the variance is four times as large.
        assert!((weakened(0.022_750_1, 4.0) - 0.158_655).abs() < 1e-4);
        assert!((weakened(0.022_750_1, 1.0) - 0.022_750_1).abs() < 1e-12);
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
