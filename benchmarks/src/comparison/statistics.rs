//! Medians and paired ratios with intervals: pure functions over samples.

use serde::{Deserialize, Serialize};

/// An estimate with the limits of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate: a median.
    pub estimate: f64,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
}

/// The median; `None` of nothing.
pub fn median(samples: &[f64]) -> Option<f64> {
    let sorted = sorted(samples);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// How many times faster `subject` is than `reference`: the median of `reference / subject` over the
/// rounds, in which both were measured within milliseconds of each other.
///
/// The interval is that of the sign test (order statistics), which assumes nothing about the
/// distribution; with fewer than six pairs it spans the extremes and covers less than 95 %.
pub fn paired_ratio(subject: &[f64], reference: &[f64]) -> Option<Interval> {
    let ratios: Vec<f64> = subject.iter().zip(reference).map(|(own, other)| other / own).collect();
    let estimate = median(&ratios)?;
    let ratios = sorted(&ratios);
    let rank = rank_below_median(ratios.len());
    Some(Interval { estimate, low: ratios[rank], high: ratios[ratios.len() - 1 - rank] })
}

/// The largest rank (from 0) whose order statistic lies below the median with probability 97.5 %.
fn rank_below_median(count: usize) -> usize {
    let mut probability = 0.5_f64.powi(count as i32);
    let mut cumulative = 0.0;
    for rank in 0..count / 2 {
        cumulative += probability;
        if cumulative > 0.025 {
            return rank.saturating_sub(1);
        }
        probability *= (count - rank) as f64 / (rank + 1) as f64;
    }
    (count / 2).saturating_sub(1)
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_even_counts_is_the_midpoint() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn ranks_agree_with_the_table_of_the_sign_test() {
        // Published two-sided 95 % limits of the sign test: the k-th smallest and largest value.
        for (count, rank_from_one) in [(6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (30, 10), (50, 18)] {
            assert_eq!(rank_below_median(count) + 1, rank_from_one, "n = {count}");
        }
    }

    #[test]
    fn drift_common_to_both_leaves_the_ratio_alone() {
        let drift: Vec<f64> = (0..40).map(|round| 1.0 + 0.02 * f64::from(round)).collect();
        let doubled: Vec<f64> = drift.iter().map(|time| time * 2.0).collect();
        let ratio = paired_ratio(&drift, &doubled).unwrap();
        assert!((ratio.estimate - 2.0).abs() < 1e-12);
        assert!(ratio.low <= ratio.estimate && ratio.estimate <= ratio.high);
        assert!(ratio.high - ratio.low < 1e-9);
    }

    #[test]
    fn few_pairs_span_the_extremes() {
        let ratio = paired_ratio(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((ratio.low, ratio.estimate, ratio.high), (1.0, 2.0, 3.0));
    }
}
