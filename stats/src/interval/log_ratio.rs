use super::Interval;
use crate::distributions::student_quantile_above;
use crate::error::check_finite;
use crate::{Level, SampleError, log_ratios};
use serde::{Deserialize, Serialize};

/// Geometric mean of paired ratios, and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeanRatio {
    /// exp of the mean log-ratio, second over first: below 1 the second is lower.
    pub ratio: f64,
    /// Interval of `ratio`; `None` for a single pair.
    pub interval: Option<Interval>,
    /// Number of pairs.
    pub pairs: usize,
}

/// Compares two series pair by pair: mean log-ratio of `second` over `first` with a t interval.
///
/// Meant for comparing strategies, each pair one repetition with common seed and
/// problem, where the mean is what is asked for. Assumes independent pairs whose
/// mean log-ratio is about normal (Student 1908; Fleming & Wallace 1986 for why
/// ratios are averaged geometrically).
///
/// # Errors
/// When lengths differ, there is no pair, or a value is not positive and finite.
pub fn mean_ratio(first: &[f64], second: &[f64], level: Level) -> Result<MeanRatio, SampleError> {
    let ratios = log_ratios(first, second)?;
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let interval = mean_interval(&ratios, level)?;
    Ok(MeanRatio { ratio: mean.exp(), interval: interval.map(Interval::exp), pairs: ratios.len() })
}

/// Student's t interval of the mean of `values`; `None` for a single one.
pub(crate) fn mean_interval(values: &[f64], level: Level) -> Result<Option<Interval>, SampleError> {
    check_finite(values, 1)?;
    let n = values.len() as f64;
    if values.len() < 2 {
        return Ok(None);
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student_quantile_above(level.get() / 2.0, n - 1.0) * (variance / n).sqrt();
    Ok(Some(Interval { low: mean - half, high: mean + half }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_hand_calculation() {
        // Log-ratios 0 and ln 4: mean ln 2, standard error ln 2, t(1) = 12.706.
        let mean = mean_ratio(&[1.0, 1.0], &[1.0, 4.0], Level::FIVE_PERCENT).unwrap();
        assert!((mean.ratio - 2.0).abs() < 1e-12);
        let interval = mean.interval.unwrap();
        assert!((interval.high.ln() - 13.7062 * 2.0_f64.ln()).abs() < 1e-3);
        assert!((interval.low.ln() + 11.7062 * 2.0_f64.ln()).abs() < 1e-3);
    }

    #[test]
    fn a_single_pair_has_no_interval() {
        assert_eq!(mean_ratio(&[2.0], &[1.0], Level::FIVE_PERCENT).unwrap().interval, None);
        assert!(mean_ratio(&[], &[], Level::FIVE_PERCENT).is_err());
    }
}
