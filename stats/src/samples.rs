//! What a set of samples looks like: quantiles, spread, noise.

use crate::error::check_finite;
use crate::interval::{Interval, median_interval};
use crate::{Level, SampleError, log_ratios};
use serde::{Deserialize, Serialize};

/// Description of one set of samples; every value in the samples' unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of samples, at least 1.
    pub count: usize,
    /// Lowest sample.
    pub min: f64,
    /// 5 % quantile.
    pub p05: f64,
    /// 25 % quantile.
    pub p25: f64,
    /// Median.
    pub median: f64,
    /// 75 % quantile.
    pub p75: f64,
    /// 95 % quantile.
    pub p95: f64,
    /// Highest sample.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median absolute deviation from the median, unscaled.
    pub mad: f64,
    /// Distribution-free 95 % interval of the median; `None` below six samples.
    pub median_interval: Option<Interval>,
}

impl Summary {
    /// Describes `samples`.
    ///
    /// # Errors
    /// When there is no sample, or one is not finite.
    pub fn of(samples: &[f64]) -> Result<Self, SampleError> {
        check_finite(samples, 1)?;
        let sorted = sorted(samples);
        let at = |share| quantile_of_sorted(&sorted, share);
        Ok(Self {
            count: sorted.len(),
            min: at(0.0),
            p05: at(0.05),
            p25: at(0.25),
            median: at(0.5),
            p75: at(0.75),
            p95: at(0.95),
            max: at(1.0),
            mean: samples.iter().sum::<f64>() / samples.len() as f64,
            mad: deviation(samples, at(0.5)),
            median_interval: median_interval(samples, Level::FIVE_PERCENT)?,
        })
    }
}

/// The quantile at `share` (clamped to [0, 1]) of `samples`, in their unit, linear between neighbours.
///
/// Definition 7 of Hyndman & Fan (1996), the one of R and `NumPy`.
///
/// # Errors
/// When there is no sample, or one is not finite.
pub fn quantile(samples: &[f64], share: f64) -> Result<f64, SampleError> {
    check_finite(samples, 1)?;
    Ok(quantile_of_sorted(&sorted(samples), share))
}

/// The median of `samples`, in their unit.
///
/// # Errors
/// When there is no sample, or one is not finite.
pub fn median(samples: &[f64]) -> Result<f64, SampleError> {
    quantile(samples, 0.5)
}

/// Median absolute deviation of `samples` from their median, unscaled, in their unit.
///
/// # Errors
/// When there is no sample, or one is not finite.
pub fn mad(samples: &[f64]) -> Result<f64, SampleError> {
    Ok(deviation(samples, median(samples)?))
}

/// All samples but the first, which differs from the rest on a cold device; a single one is kept.
pub fn without_first(samples: &[f64]) -> &[f64] {
    match samples {
        [_, rest @ ..] if !rest.is_empty() => rest,
        _ => samples,
    }
}

/// Smallest relative difference that these A/A pairs can tell from none.
///
/// Two standard errors of the median log-ratio, 2 · √(π/2) · 1.4826 · MAD / √n:
/// the spread is taken from the median absolute deviation, so that a few
/// disturbed launches do not raise it (normal-theory standard error of a median;
/// Rousseeuw & Croux 1993 for the factor 1.4826).
///
/// # Errors
/// When there are fewer than two pairs, lengths differ, or a time is not positive and finite.
pub fn noise_floor(first: &[f64], second: &[f64]) -> Result<f64, SampleError> {
    noise_floor_at(first, second, first.len())
}

/// The same for comparisons of `pairs` pairs, however many these are.
///
/// # Errors
/// As for [`noise_floor`].
pub fn noise_floor_at(first: &[f64], second: &[f64], pairs: usize) -> Result<f64, SampleError> {
    let spread = pair_spread(first, second)?;
    Ok(2.0 * (std::f64::consts::PI / 2.0).sqrt() * spread / (pairs.max(1) as f64).sqrt())
}

/// Standard deviation of the log-ratios of pairs, 1.4826 · MAD, which a few disturbed launches do not raise.
///
/// # Errors
/// As for [`noise_floor`].
pub fn pair_spread(first: &[f64], second: &[f64]) -> Result<f64, SampleError> {
    let ratios = log_ratios(first, second)?;
    check_finite(&ratios, 2)?;
    Ok(1.4826 * mad(&ratios)?)
}

/// Ascending copy of finite values.
pub(crate) fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// [`quantile`] of a series that is not empty and already ascending.
pub(crate) fn quantile_of_sorted(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    // Two terms of like sign instead of a difference: it cannot overflow.
    below * (1.0 - place.fract()) + above * place.fract()
}

fn deviation(samples: &[f64], centre: f64) -> f64 {
    let distances: Vec<f64> = samples.iter().map(|sample| (sample - centre).abs()).collect();
    quantile_of_sorted(&sorted(&distances), 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_summary_holds_the_textbook_values() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0, 100.0]).unwrap();
        assert_eq!((summary.min, summary.median, summary.max), (1.0, 3.0, 100.0));
        assert_eq!((summary.p25, summary.p75, summary.mad, summary.mean), (2.0, 4.0, 1.0, 22.0));
        assert_eq!(summary.median_interval, None);
    }

    #[test]
    fn the_first_sample_is_dropped_unless_it_is_the_only_one() {
        assert_eq!(without_first(&[9.0, 1.0, 2.0]), [1.0, 2.0]);
        assert_eq!(without_first(&[9.0]), [9.0]);
        assert!(without_first(&[]).is_empty());
    }

    #[test]
    fn the_noise_floor_shrinks_with_the_root_of_the_count_and_ignores_an_outlier() {
        let side = |n: usize| -> Vec<f64> { (0..n).map(|i| 100.0 + (i % 5) as f64).collect() };
        let flat = |n: usize| vec![102.0; n];
        let (few, many) =
            (noise_floor(&side(25), &flat(25)).unwrap(), noise_floor(&side(100), &flat(100)).unwrap());
        assert!((few / many - 2.0).abs() < 1e-9);
        let mut disturbed = side(100);
        disturbed[7] = 1e6;
        assert!(noise_floor(&disturbed, &flat(100)).unwrap() < 1.2 * many);
        assert!(noise_floor(&[1.0], &[1.0]).is_err());
    }

    proptest! {
        #[test]
        fn quantiles_are_ordered_and_within_the_samples(
            samples in prop::collection::vec(-1e9..1e9f64, 1..50), a in 0.0..1.0f64, b in 0.0..1.0f64
        ) {
            let (low, high) = (quantile(&samples, a.min(b)).unwrap(), quantile(&samples, a.max(b)).unwrap());
            let summary = Summary::of(&samples).unwrap();
            prop_assert!(low <= high + 1e-6 && summary.min <= low + 1e-6 && high <= summary.max + 1e-6);
        }
    }
}
