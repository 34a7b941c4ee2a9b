use super::Interval;
use crate::error::check_finite;
use crate::samples::{quantile_of_sorted, sorted};
use crate::{Level, SampleError};
use rand::{Rng, RngExt};
use std::num::NonZeroUsize;

/// How to draw bootstrap samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Samples to draw; a thousand or more for a 95 % interval.
    pub resamples: NonZeroUsize,
    /// Consecutive values drawn together: 1 for independent ones, longer than
    /// the correlation's reach for autocorrelated ones.
    pub block: NonZeroUsize,
    /// Probability that the interval misses.
    pub level: Level,
}

impl Bootstrap {
    /// 2000 draws of single values, 95 %.
    pub const INDEPENDENT: Self =
        Self { resamples: nonzero(2000), block: nonzero(1), level: Level::FIVE_PERCENT };

    /// 2000 draws of blocks of about ∛n of the `count` values, 95 %: the order of
    /// the best length for a variance (Künsch 1989; Hall, Horowitz & Jing 1995).
    pub fn blocks(count: usize) -> Self {
        Self { block: nonzero((count as f64).cbrt().ceil() as usize), ..Self::INDEPENDENT }
    }
}

/// Percentile bootstrap interval of `statistic` of `values`.
///
/// Draws circular blocks, so each value is drawn equally often (Efron 1979;
/// Politis & Romano 1992). The statistic gets as many values as were given; it
/// should be finite on each resample, those where it is not are left out.
///
/// # Errors
/// When there is no value, fewer than a block's length, a value is not finite,
/// or the statistic was never finite.
pub fn bootstrap(
    values: &[f64],
    statistic: &dyn Fn(&[f64]) -> f64,
    how: Bootstrap,
    rng: &mut dyn Rng,
) -> Result<Interval, SampleError> {
    check_finite(values, how.block.get())?;
    let mut drawn = Vec::with_capacity(values.len());
    let mut found = Vec::with_capacity(how.resamples.get());
    for _ in 0..how.resamples.get() {
        drawn.clear();
        while drawn.len() < values.len() {
            let start = rng.random_range(0..values.len());
            let length = how.block.get().min(values.len() - drawn.len());
            drawn.extend((start..start + length).map(|at| values[at % values.len()]));
        }
        let value = statistic(&drawn);
        if value.is_finite() {
            found.push(value);
        }
    }
    check_finite(&found, 1)?;
    let found = sorted(&found);
    let tail = how.level.get() / 2.0;
    Ok(Interval { low: quantile_of_sorted(&found, tail), high: quantile_of_sorted(&found, 1.0 - tail) })
}

/// `value`, or 1 for 0.
const fn nonzero(value: usize) -> NonZeroUsize {
    match NonZeroUsize::new(value) {
        Some(value) => value,
        None => NonZeroUsize::MIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::median;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Share of `runs` whose interval of the mean of an AR(1) series encloses 0.
    fn coverage(how: Bootstrap, rho: f64, runs: usize) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let hits = (0..runs).filter(|_| {
            let mut state = 0.0;
            let values: Vec<f64> = (0..100)
                .map(|_| {
                    let step: f64 = StandardNormal.sample(&mut rng);
                    state = rho * state + step;
                    state
                })
                .collect();
            bootstrap(&values, &mean, how, &mut rng).unwrap().contains(0.0)
        });
        hits.count() as f64 / runs as f64
    }

    #[test]
    fn blocks_cover_where_single_values_do_not() {
        let few = |how: Bootstrap| Bootstrap { resamples: nonzero(200), ..how };
        let single = coverage(few(Bootstrap::INDEPENDENT), 0.6, 200);
        let blocks = coverage(Bootstrap { block: nonzero(10), ..few(Bootstrap::INDEPENDENT) }, 0.6, 200);
        assert!(coverage(few(Bootstrap::INDEPENDENT), 0.0, 200) > 0.88);
        assert!(single < 0.75 && blocks > single + 0.08, "{single} {blocks}");
    }

    #[test]
    fn same_seed_same_interval_and_too_few_values_are_refused() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        let run = |seed| {
            let statistic = |values: &[f64]| median(values).unwrap_or(f64::NAN);
            bootstrap(&values, &statistic, Bootstrap::INDEPENDENT, &mut ChaCha8Rng::seed_from_u64(seed))
                .unwrap()
        };
        assert_eq!(run(3), run(3));
        assert!(run(3).contains(4.0));
        let long = Bootstrap { block: nonzero(6), ..Bootstrap::INDEPENDENT };
        let refused = bootstrap(&values, &mean, long, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(refused, Err(SampleError::TooFew { have: 5, need: 6 }));
    }
}
