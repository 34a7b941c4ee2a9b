//! The few distribution functions that tests and intervals share.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::{beta_reg, inv_beta_reg};

/// P(Z ≤ z) of the standard normal distribution.
pub(crate) fn normal_below(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The z with P(Z > z) = `tail`, for `tail` strictly between 0 and 1.
pub(crate) fn normal_quantile_above(tail: f64) -> f64 {
    -Normal::standard().inverse_cdf(tail)
}

/// The t with P(T > t) = `tail` for `freedom` degrees of freedom, `tail` in (0, ½).
pub(crate) fn student_quantile_above(tail: f64, freedom: f64) -> f64 {
    let x = inv_beta_reg(freedom / 2.0, 0.5, 2.0 * tail);
    (freedom * (1.0 - x) / x).sqrt()
}

/// P(B ≤ k) of a binomial variable of n fair trials.
pub(crate) fn fair_at_most(k: usize, n: usize) -> f64 {
    if k >= n { 1.0 } else { beta_reg((n - k) as f64, k as f64 + 1.0, 0.5) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_tables() {
        for (tail, freedom, t) in
            [(0.025, 1.0, 12.7062), (0.025, 2.0, 4.302_65), (0.025, 9.0, 2.262_16), (0.005, 30.0, 2.75)]
        {
            assert!((student_quantile_above(tail, freedom) - t).abs() < 1e-4 * t, "{tail} {freedom}");
        }
        assert!((normal_quantile_above(0.025) - 1.959_964).abs() < 1e-6);
        assert!((fair_at_most(0, 5) - 1.0 / 32.0).abs() < 1e-12);
        assert!((fair_at_most(2, 4) - 11.0 / 16.0).abs() < 1e-12);
    }
}
