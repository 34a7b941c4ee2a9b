use crate::Level;
use crate::distributions::normal_below;

/// Steps of an integral; the integrand is smooth, so that these give eight digits.
const STEPS: usize = 400;

/// By how much mean ranks of `methods` over `blocks` must differ for two methods to differ, all pairs being
/// looked at: `q √(k (k + 1) / (6 n))`.
///
/// Nemenyi 1963, "Distribution-free multiple comparisons", after Demšar 2006; q is the quantile of the
/// studentised range with infinitely many degrees of freedom, over √2. `None` for fewer than two methods or
/// without a block.
pub fn critical_difference(methods: usize, blocks: usize, level: Level) -> Option<f64> {
    if methods < 2 || blocks == 0 {
        return None;
    }
    let (k, n) = (methods as f64, blocks as f64);
    let quantile = range_quantile_above(level.get(), methods) / std::f64::consts::SQRT_2;
    Some(quantile * (k * (k + 1.0) / (6.0 * n)).sqrt())
}

/// The q that the range of `count` standard normal values exceeds with probability `tail`.
fn range_quantile_above(tail: f64, count: usize) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if 1.0 - range_below(middle, count) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// P(range ≤ q) of `count` standard normal values: k ∫ φ(z) (Φ(z) − Φ(z − q))ᵏ⁻¹ dz over the largest value z, by
/// Simpson's rule.
fn range_below(q: f64, count: usize) -> f64 {
    const REACH: f64 = 8.0;
    let density = |z: f64| (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let integrand =
        |z: f64| density(z) * (normal_below(z) - normal_below(z - q)).max(0.0).powi(count as i32 - 1);
    let step = 2.0 * REACH / STEPS as f64;
    let sum: f64 = (0..=STEPS)
        .map(|at| {
            let weight = match at {
                0 | STEPS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * integrand(at as f64 * step - REACH)
        })
        .sum();
    (count as f64 * sum * step / 3.0).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_published_quantiles() {
        // Demšar 2006, table 5(a), q at 0.05.
        let published = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164];
        for (methods, q) in (2..).zip(published) {
            let found = range_quantile_above(0.05, methods) / std::f64::consts::SQRT_2;
            assert!((found - q).abs() < 1e-3, "{methods}: {found} {q}");
        }
        // The worked example there: four methods on fourteen data sets.
        let difference = critical_difference(4, 14, Level::FIVE_PERCENT).unwrap();
        assert!((difference - 1.25).abs() < 0.01, "{difference}");
        assert_eq!(critical_difference(1, 9, Level::FIVE_PERCENT), None);
        assert_eq!(critical_difference(3, 0, Level::FIVE_PERCENT), None);
    }

    #[test]
    fn more_blocks_tell_smaller_differences_apart() {
        let of = |blocks| critical_difference(5, blocks, Level::FIVE_PERCENT).unwrap();
        assert!((of(10) / of(40) - 2.0).abs() < 1e-9);
    }
}
