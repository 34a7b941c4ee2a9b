use super::{PValues, exact, normal_approximation};
use crate::SampleError;
use crate::error::check_finite;
use crate::pairs::SAME;
use crate::ranks::rank;

/// Up to here every one of the 2ⁿ sign patterns is counted.
const EXACT_UP_TO: usize = 25;

/// Wilcoxon's signed-rank test that `differences` lie symmetrically about 0.
///
/// Zero differences are dropped. Up to 25 others the p-values are exact: all
/// sign patterns of the ranks at hand are counted by dynamic programming, ties
/// included. Beyond, a normal approximation with continuity and tie correction
/// (Wilcoxon 1945; Hollander, Wolfe & Chicken, *Nonparametric Statistical
/// Methods*, 3.1). Where all differences are zero both p-values are 1.
///
/// # Errors
/// When there is no difference, or one is not finite.
pub fn wilcoxon_signed_rank(differences: &[f64]) -> Result<PValues, SampleError> {
    check_finite(differences, 1)?;
    let kept: Vec<f64> = differences.iter().copied().filter(|d| d.abs() > SAME).collect();
    if kept.is_empty() {
        return Ok(PValues::NOTHING);
    }
    let sizes: Vec<f64> = kept.iter().map(|d| d.abs()).collect();
    let ranks = rank(&sizes, SAME);
    let positive: usize =
        kept.iter().zip(&ranks.doubled).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    if kept.len() <= EXACT_UP_TO {
        return Ok(exact(&count_sums(&ranks.doubled), positive));
    }
    let n = kept.len() as f64;
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ranks.tie_term / 48.0;
    Ok(normal_approximation(positive as f64 / 2.0, mean, variance))
}

/// In how many ways each sum arises from a subset of `ranks`.
fn count_sums(ranks: &[usize]) -> Vec<f64> {
    let mut counts = vec![0.0; ranks.iter().sum::<usize>() + 1];
    counts[0] = 1.0;
    let mut highest = 0;
    for &rank in ranks {
        highest += rank;
        for sum in (rank..=highest).rev() {
            counts[sum] += counts[sum - rank];
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts all sign patterns one by one.
    fn by_enumeration(differences: &[f64]) -> PValues {
        let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
        let ranks = rank(&sizes, SAME).doubled;
        let sum = |positive: &dyn Fn(usize) -> bool| -> usize {
            (0..ranks.len()).filter(|&i| positive(i)).map(|i| ranks[i]).sum()
        };
        let seen = sum(&|i| differences[i] > 0.0);
        let all = 1usize << ranks.len();
        let share = |keep: &dyn Fn(usize) -> bool| {
            (0..all).filter(|pattern| keep(sum(&|i| pattern >> i & 1 == 1))).count() as f64 / all as f64
        };
        PValues { less: share(&|s| s <= seen), greater: share(&|s| s >= seen) }
    }

    #[test]
    #[expect(clippy::approx_constant, reason = "3.14 is a measurement of the example")]
    fn agrees_with_a_published_example() {
        // Hollander, Wolfe & Chicken, example 3.1 (Hamilton depression scale): T⁺ = 5, n = 9, p = 0.0195.
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
        let p = wilcoxon_signed_rank(&differences).unwrap();
        assert!((p.less - 0.019_531_25).abs() < 1e-9, "{p:?}");
    }

    #[test]
    fn beyond_25_the_approximation_continues_the_exact_values() {
        let differences: Vec<f64> =
            (1..=25).map(|i| f64::from(i) * if i % 4 == 0 { 1.0 } else { -1.0 }).collect();
        let exact = wilcoxon_signed_rank(&differences).unwrap();
        let sum: f64 = differences.iter().filter(|d| **d > 0.0).sum();
        let approximate = normal_approximation(sum, 25.0 * 26.0 / 4.0, 25.0 * 26.0 * 51.0 / 24.0);
        assert!((exact.less - approximate.less).abs() < 2e-3, "{exact:?} {approximate:?}");
    }

    #[test]
    fn zeros_and_single_values_give_weak_but_valid_p_values() {
        assert_eq!(wilcoxon_signed_rank(&[0.0, 0.0]).unwrap(), PValues::NOTHING);
        assert_eq!(wilcoxon_signed_rank(&[-1.0]).unwrap(), PValues { less: 0.5, greater: 1.0 });
        assert!(wilcoxon_signed_rank(&[]).is_err());
        assert_eq!(wilcoxon_signed_rank(&[1.0, f64::NAN]), Err(SampleError::NotFinite { index: 1 }));
    }

    proptest! {
        #[test]
        fn exact_p_values_agree_with_enumeration(
            differences in prop::collection::vec(prop_oneof![-6..=-1i32, 1..=6i32], 1..=10)
        ) {
            let differences: Vec<f64> = differences.into_iter().map(f64::from).collect();
            prop_assert_eq!(wilcoxon_signed_rank(&differences).unwrap(), by_enumeration(&differences));
        }

        #[test]
        fn negated_differences_exchange_the_sides(differences in prop::collection::vec(-9..=9i32, 1..60)) {
            let differences: Vec<f64> = differences.into_iter().map(f64::from).collect();
            let negated: Vec<f64> = differences.iter().map(|d| -d).collect();
            let (p, q) = (wilcoxon_signed_rank(&differences).unwrap(), wilcoxon_signed_rank(&negated).unwrap());
            prop_assert!((p.less - q.greater).abs() < 1e-12 && (p.greater - q.less).abs() < 1e-12);
            prop_assert!(p.less > 0.0 && p.less <= 1.0 && p.less + p.greater >= 1.0 - 1e-12);
        }
    }
}
