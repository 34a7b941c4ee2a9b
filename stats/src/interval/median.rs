use super::Interval;
use crate::distributions::fair_at_most;
use crate::error::check_finite;
use crate::samples::sorted;
use crate::{Level, SampleError};

/// Distribution-free interval of the median, from order statistics.
///
/// The k-th lowest and k-th highest sample, k the largest with P(B < k) ≤ level/2
/// for B binomial(n, ½) (Conover, *Practical Nonparametric Statistics*, 3.2).
/// `None` where even the extremes are not enough: below six samples at 95 %.
/// Assumes independent samples.
///
/// # Errors
/// When there is no sample, or one is not finite.
pub fn median_interval(samples: &[f64], level: Level) -> Result<Option<Interval>, SampleError> {
    check_finite(samples, 1)?;
    let n = samples.len();
    let depth = depth(n, level);
    if depth == 0 {
        return Ok(None);
    }
    let sorted = sorted(samples);
    Ok(Some(Interval { low: sorted[depth - 1], high: sorted[n - depth] }))
}

/// The largest k with P(B < k) ≤ level/2, or 0, by halving.
fn depth(n: usize, level: Level) -> usize {
    let (mut good, mut bad) = (0, n / 2 + 1);
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        if fair_at_most(middle - 1, n) <= level.get() / 2.0 {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_agree_with_tables() {
        // Dixon & Mood's table of the sign test, two-sided 5 %, plus one.
        for (n, k) in [(5, 0), (6, 1), (8, 1), (9, 2), (12, 3), (25, 8), (50, 18), (100, 40)] {
            assert_eq!(depth(n, Level::FIVE_PERCENT), k, "{n}");
        }
    }

    #[test]
    fn six_samples_are_enclosed_by_their_extremes() {
        let interval = median_interval(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0], Level::FIVE_PERCENT).unwrap();
        assert_eq!(interval, Some(Interval { low: 1.0, high: 6.0 }));
        assert_eq!(median_interval(&[1.0; 5], Level::FIVE_PERCENT), Ok(None));
    }
}
