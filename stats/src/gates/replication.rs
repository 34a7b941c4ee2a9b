//! The second half of a claim: fresh pairs, as many as were planned, judged once.
//!
//! Wilcoxon's signed-rank test that the log-ratios lie beyond the margin, two-sided p < `level`, and the whole
//! 95 % interval of their median beyond it. The interval encloses both the distribution-free one, exact for
//! independent pairs, and the block bootstrap's, which keeps its coverage where neighbours resemble each other
//! (circular blocks, Politis & Romano 1992; Künsch 1989). Effect and interval of a claim are this gate's: the
//! pairs that won a search are the luckiest of many.
//!
//! ```
//! use tilewright_stats::{Decision, Evidence, Gate, Replication};
//! let incumbent: Vec<f64> = (0..24).map(|i| 100.0 + f64::from(i % 3)).collect();
//! let candidate = incumbent.iter().map(|time| time * 0.97).collect();
//! assert_eq!(Replication::DEFAULT.judge(&Evidence::Pairs { incumbent, candidate }).kind, Decision::Faster);
//! ```

use std::num::NonZeroUsize;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::finding::{Effect, Finding, beyond, decide};
use super::{Gate, sealed::Sealed};
use crate::interval::{Bootstrap, Interval, bootstrap};
use crate::significance::wilcoxon_signed_rank;
use crate::{Evidence, Level, Margin, SampleError, Settings, SettingsError, log_ratios};

/// Seed of the bootstrap: a gate is pure, so the same pairs give the same interval.
const SEED: u64 = 0x7265_706C_6963_6174;

/// Draws of the bootstrap.
const RESAMPLES: NonZeroUsize = NonZeroUsize::new(1000).expect("invariant: not zero");

/// Gate of fresh pairs with a margin, for a number of pairs fixed beforehand. See `docs/statistics.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Replication {
    /// Relative effect that must be exceeded.
    pub margin: Margin,
    /// Two-sided level of the signed-rank test.
    pub level: Level,
}

impl Replication {
    /// 1 % at p < 0.001.
    pub const DEFAULT: Self = Self { margin: Margin::ONE_PERCENT, level: Level::ONE_IN_A_THOUSAND };

    /// Fewest pairs with which this gate can decide at all: 11 by default.
    pub fn least_pairs(&self) -> usize {
        let unanimous = (2.0 / self.level.get()).log2().floor() as usize + 1;
        // Six pairs make the first 95 % interval of a median.
        unanimous.max(6)
    }
}

impl Gate for Replication {
    fn id(&self) -> &'static str {
        "replication"
    }

    fn settings(&self) -> Settings {
        Settings::of([("margin", self.margin.get()), ("level", self.level.get())])
    }

    fn with(&self, settings: &Settings) -> Result<Box<dyn Gate>, SettingsError> {
        let settings = settings.only(&["margin", "level"])?;
        Ok(Box::new(Self { margin: settings.margin()?, level: settings.level()? }))
    }
}

impl Sealed for Replication {
    fn decide(&self, evidence: &Evidence) -> Result<Finding, SampleError> {
        let Evidence::Pairs { incumbent, candidate } = evidence else {
            return Ok(Finding::unsuitable(evidence));
        };
        let ratios = log_ratios(incumbent, candidate)?;
        let p = beyond(&ratios, self.margin, wilcoxon_signed_rank)?;
        let effect = effect(&ratios)?;
        let enough = ratios.len() >= self.least_pairs();
        let significant = |p: f64| enough && 2.0 * p < self.level.get();
        let faster = significant(p.less) && effect.beats(self.margin);
        let slower = significant(p.greater) && effect.loses_by(self.margin);
        Ok(Finding::new(decide(faster, slower), &effect))
    }
}

/// Median of values, at least one and all finite, without sorting all of them.
fn middle(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if even { f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper) } else { upper }
}

/// Median with the interval that encloses both.
fn effect(ratios: &[f64]) -> Result<Effect, SampleError> {
    let independent = Effect::of_pairs(ratios)?;
    let how = Bootstrap { resamples: RESAMPLES, ..Bootstrap::blocks(ratios.len()) };
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let blocks = bootstrap(ratios, &middle, how, &mut rng)?;
    let interval = independent
        .interval
        .map(|found| Interval { low: found.low.min(blocks.low), high: found.high.max(blocks.high) });
    Ok(Effect { interval, ..independent })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claim, Decision};
    use rand_distr::{Distribution, StandardNormal};

    #[test]
    fn neighbours_that_resemble_each_other_widen_the_interval() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let mut width = |rho: f64| -> f64 {
            let mut sum = 0.0;
            for _ in 0..30 {
                let mut state: f64 = 0.0;
                let candidate: Vec<f64> = (0..60)
                    .map(|_| {
                        let step: f64 = StandardNormal.sample(&mut rng);
                        state = rho * state + (1.0 - rho * rho).sqrt() * step;
                        96.0 * (0.01 * state).exp()
                    })
                    .collect();
                let pairs = Evidence::Pairs { incumbent: vec![100.0; 60], candidate };
                let (wide, narrow) = (Replication::DEFAULT.judge(&pairs), Claim::DEFAULT.judge(&pairs));
                let width = |verdict: &crate::Verdict| verdict.high.unwrap() - verdict.low.unwrap();
                assert!(width(&wide) >= width(&narrow) - 1e-12);
                sum += width(&wide) / width(&narrow);
            }
            sum / 30.0
        };
        let (none, strong) = (width(0.0), width(0.9));
        assert!(none < 1.15 && strong > 1.2, "{none} {strong}");
    }

    #[test]
    fn eleven_unanimous_pairs_are_the_fewest() {
        assert_eq!(Replication::DEFAULT.least_pairs(), 11);
        let judge = |pairs| {
            let pairs = Evidence::Pairs { incumbent: vec![100.0; pairs], candidate: vec![90.0; pairs] };
            Replication::DEFAULT.judge(&pairs).kind
        };
        assert_eq!((judge(10), judge(11)), (Decision::Inconclusive, Decision::Faster));
    }
}
