use super::{PValues, exact, normal_approximation};
use crate::SampleError;
use crate::error::check_finite;
use crate::pairs::SAME;
use crate::ranks::rank;

/// Up to this many values together every arrangement is counted.
const EXACT_UP_TO: usize = 40;

/// Mann–Whitney test of `first` against `second`; `less` speaks for `first` being lower.
///
/// Up to 40 values together the p-values are exact: all ways to choose `first`
/// among the ranks at hand are counted by dynamic programming, ties included.
/// Beyond, a normal approximation with continuity and tie correction (Mann &
/// Whitney 1947; Lehmann, *Nonparametrics*, 1.4). Assumes independent samples.
///
/// # Errors
/// When a side is empty, or a value is not finite.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Result<PValues, SampleError> {
    check_finite(first, 1)?;
    check_finite(second, 1)?;
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let ranks = rank(&all, SAME);
    let sum: usize = ranks.doubled[..first.len()].iter().sum();
    if all.len() <= EXACT_UP_TO {
        return Ok(exact(&count_sums(&ranks.doubled, first.len()), sum));
    }
    let (n, m, total) = (first.len() as f64, second.len() as f64, all.len() as f64);
    let variance = n * m / 12.0 * (total + 1.0 - ranks.tie_term / (total * (total - 1.0)));
    if variance <= 0.0 {
        return Ok(PValues::NOTHING);
    }
    Ok(normal_approximation(sum as f64 / 2.0, n * (total + 1.0) / 2.0, variance))
}

/// In how many ways each sum arises from a subset of `size` of the `ranks`.
fn count_sums(ranks: &[usize], size: usize) -> Vec<f64> {
    let sums = ranks.iter().sum::<usize>() + 1;
    let mut counts = vec![vec![0.0; sums]; size + 1];
    counts[0][0] = 1.0;
    for &rank in ranks {
        for taken in (1..=size).rev() {
            let (fewer, more) = counts.split_at_mut(taken);
            for (count, before) in more[0][rank..].iter_mut().zip(&fewer[taken - 1]) {
                *count += before;
            }
        }
    }
    counts.swap_remove(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn agrees_with_a_table() {
        // Complete separation of 3 and 4 values: one arrangement in C(7, 3) = 35.
        let p = mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0, 7.0]).unwrap();
        assert!((p.less - 1.0 / 35.0).abs() < 1e-12);
        assert!((p.greater - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_approximation_continues_the_exact_values() {
        let first: Vec<f64> = (0..20).map(|i| f64::from(i) * 1.9).collect();
        let second: Vec<f64> = (0..20).map(|i| f64::from(i) * 2.1 + 4.05).collect();
        let exact = mann_whitney(&first, &second).unwrap();
        let ranks = rank(&first.iter().chain(&second).copied().collect::<Vec<_>>(), SAME);
        let sum = ranks.doubled[..20].iter().sum::<usize>() as f64 / 2.0;
        let approximate = normal_approximation(sum, 410.0, 400.0 * 41.0 / 12.0);
        assert!((exact.less - approximate.less).abs() < 2e-3, "{exact:?} {approximate:?}");
    }

    #[test]
    fn one_value_a_side_and_all_tied_decide_nothing() {
        assert!((mann_whitney(&[1.0], &[2.0]).unwrap().less - 0.5).abs() < 1e-12);
        assert_eq!(mann_whitney(&[1.0; 50], &[1.0; 50]).unwrap(), PValues::NOTHING);
        assert_eq!(mann_whitney(&[1.0; 4], &[1.0; 4]).unwrap(), PValues::NOTHING);
    }

    proptest! {
        #[test]
        fn exchanged_samples_exchange_the_sides(
            first in prop::collection::vec(0..30i32, 1..40), second in prop::collection::vec(0..30i32, 1..40)
        ) {
            let first: Vec<f64> = first.into_iter().map(f64::from).collect();
            let second: Vec<f64> = second.into_iter().map(f64::from).collect();
            let (p, q) = (mann_whitney(&first, &second).unwrap(), mann_whitney(&second, &first).unwrap());
            prop_assert!((p.less - q.greater).abs() < 1e-9 && (p.greater - q.less).abs() < 1e-9);
            prop_assert!(p.less > 0.0 && p.less <= 1.0 + 1e-12);
        }
    }
}
