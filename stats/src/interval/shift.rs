use super::Interval;
use crate::distributions::normal_quantile_above;
use crate::error::check_finite;
use crate::samples::{quantile_of_sorted, sorted};
use crate::{Level, SampleError};

/// Values kept of a side; a million differences are enough for three digits of an interval.
const KEPT: usize = 1000;

/// By how much one sample is shifted against another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Median of all differences, second minus first, in their unit.
    pub estimate: f64,
    /// Interval of the shift; `None` where samples are too few for one.
    pub interval: Option<Interval>,
}

/// Hodges–Lehmann estimate of the shift from `first` to `second`, with Moses's interval.
///
/// The interval's ends are the k-th lowest and highest difference, k by the normal
/// approximation, whose variance is multiplied by `inflation` (at least 1) for
/// samples that resemble their neighbours (Hodges & Lehmann 1963; Hollander, Wolfe
/// & Chicken, 4.3). Of more than 1000 values a side, 1000 evenly spaced ones are used.
///
/// # Errors
/// When a side is empty, or a value is not finite.
pub fn shift(first: &[f64], second: &[f64], level: Level, inflation: f64) -> Result<Shift, SampleError> {
    check_finite(first, 1)?;
    check_finite(second, 1)?;
    let (n, m) = (first.len() as f64, second.len() as f64);
    let (first, second) = (thinned(first), thinned(second));
    let differences: Vec<f64> = first.iter().flat_map(|a| second.iter().map(move |b| b - a)).collect();
    let differences = sorted(&differences);
    let spread = (inflation.max(1.0) * n * m * (n + m + 1.0) / 12.0).sqrt();
    let depth = n * m / 2.0 - normal_quantile_above(level.get() / 2.0) * spread;
    // Depth as a share of all differences, since thinning keeps shares and not counts.
    let place = (depth / (n * m) * differences.len() as f64).floor();
    let interval = (place >= 1.0).then(|| {
        let place = place as usize;
        Interval { low: differences[place - 1], high: differences[differences.len() - place] }
    });
    Ok(Shift { estimate: quantile_of_sorted(&differences, 0.5), interval })
}

fn thinned(values: &[f64]) -> Vec<f64> {
    let sorted = sorted(values);
    if sorted.len() <= KEPT {
        return sorted;
    }
    (0..KEPT).map(|i| quantile_of_sorted(&sorted, (i as f64 + 0.5) / KEPT as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_shift_is_found_and_enclosed() {
        let first: Vec<f64> = (0..40).map(|i| f64::from(i % 8)).collect();
        let second: Vec<f64> = first.iter().map(|value| value + 3.0).collect();
        let found = shift(&first, &second, Level::FIVE_PERCENT, 1.0).unwrap();
        assert!((found.estimate - 3.0).abs() < 1e-12);
        let narrow = found.interval.unwrap();
        let wide = shift(&first, &second, Level::FIVE_PERCENT, 4.0).unwrap().interval.unwrap();
        assert!(narrow.contains(3.0) && wide.low <= narrow.low && narrow.high <= wide.high);
        assert!(wide.high - wide.low > narrow.high - narrow.low);
    }

    #[test]
    fn one_sample_a_side_has_an_estimate_and_no_interval() {
        let found = shift(&[1.0], &[3.0], Level::FIVE_PERCENT, 1.0).unwrap();
        assert_eq!(found, Shift { estimate: 2.0, interval: None });
    }

    #[test]
    fn many_samples_are_thinned_and_not_refused() {
        let first: Vec<f64> = (0..5000).map(f64::from).collect();
        let second: Vec<f64> = first.iter().map(|value| value + 100.0).collect();
        let found = shift(&first, &second, Level::FIVE_PERCENT, 1.0).unwrap();
        assert!((found.estimate - 100.0).abs() < 5.0);
    }
}
