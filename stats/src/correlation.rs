//! Do two rankings agree, and are neighbours in a series alike?

use crate::SampleError;
use crate::error::{check_finite, check_positive};
use crate::ranks::rank;

/// Spearman's rank correlation of `x` and `y`, in [−1, 1], ties at middle ranks.
///
/// The Pearson correlation of the ranks, which is the definition that stays
/// right with ties (Spearman 1904; Kendall & Gibbons, *Rank Correlation Methods*).
///
/// # Errors
/// When lengths differ, fewer than two values are given, a value is not finite,
/// or one side is constant.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<f64, SampleError> {
    if x.len() != y.len() {
        return Err(SampleError::Unequal { first: x.len(), second: y.len() });
    }
    check_finite(x, 2)?;
    check_finite(y, 2)?;
    let (x, y) = (rank(x, 0.0).doubled, rank(y, 0.0).doubled);
    // The mean of doubled ranks is n + 1 whatever the ties.
    let middle = (x.len() + 1) as f64;
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (&x, &y) in x.iter().zip(&y) {
        let (x, y) = (x as f64 - middle, y as f64 - middle);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    if xx <= 0.0 || yy <= 0.0 {
        return Err(SampleError::Constant);
    }
    Ok((xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
}

/// Geometric mean of positive `values`, in their unit.
///
/// # Errors
/// When there is no value, or one is not positive and finite.
pub fn geometric_mean(values: &[f64]) -> Result<f64, SampleError> {
    check_positive(values, 1)?;
    Ok((values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
}

/// By how much neighbouring samples being alike widens the variance of a location: 1 or more.
///
/// (1 + ρ)/(1 − ρ) for an AR(1) series (Bayley & Hammersley 1946), ρ kept within
/// [0, 0.9]: the correlation r of each sample's rank with the next one's, freed of
/// its bias towards 0, (r + 1/n)/(1 − 4/n) (Marriott & Pope 1954). Series shorter
/// than eight give 1: ρ is then mostly noise.
///
/// # Errors
/// When a value is not finite.
pub fn variance_inflation(values: &[f64]) -> Result<f64, SampleError> {
    check_finite(values, 0)?;
    if values.len() < 8 {
        return Ok(1.0);
    }
    let middle = (values.len() + 1) as f64;
    let ranks: Vec<f64> =
        rank(values, 0.0).doubled.into_iter().map(|doubled| doubled as f64 - middle).collect();
    let variance: f64 = ranks.iter().map(|rank| rank * rank).sum();
    if variance <= 0.0 {
        return Ok(1.0);
    }
    let neighbours: f64 = ranks.iter().zip(&ranks[1..]).map(|(a, b)| a * b).sum();
    let n = values.len() as f64;
    let rho = ((neighbours / variance + 1.0 / n) / (1.0 - 4.0 / n)).clamp(0.0, 0.9);
    Ok((1.0 + rho) / (1.0 - rho))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spearman_follows_the_order_and_not_the_values() {
        let x = [1.0, 2.0, 3.0, 4.0];
        assert!((spearman(&x, &[1.0, 10.0, 100.0, 1000.0]).unwrap() - 1.0).abs() < 1e-12);
        assert!((spearman(&x, &[4.0, 3.0, 2.0, 1.0]).unwrap() + 1.0).abs() < 1e-12);
    }

    #[test]
    fn spearman_with_ties_agrees_with_a_published_value() {
        // scipy.stats.spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7])
        let rho = spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &[5.0, 6.0, 7.0, 8.0, 7.0]).unwrap();
        assert!((rho - 0.820_782_681_668_123_1).abs() < 1e-12);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), Err(SampleError::Constant));
    }

    // U005
    #[test]
    fn the_geometric_mean_of_a_gain_and_its_inverse_is_one() {
        assert!((geometric_mean(&[4.0, 0.25]).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[1.0, 0.0]), Err(SampleError::NotPositive { index: 1 }));
    }

    #[test]
    fn a_trend_inflates_and_alternation_does_not() {
        let trend: Vec<f64> = (0..32).map(f64::from).collect();
        let alternating: Vec<f64> = (0..32).map(|i| f64::from(i % 2)).collect();
        assert!(variance_inflation(&trend).unwrap() > 10.0);
        assert!((variance_inflation(&alternating).unwrap() - 1.0).abs() < 1e-12);
    }
}
