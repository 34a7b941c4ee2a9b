//! Functions of element-wise expressions, in f64.

use crate::expression::{Binary, Unary};
use crate::program::Combine;

/// A function of one value.
pub(super) fn unary(function: Unary, x: f64) -> f64 {
    match function {
        Unary::Negate => -x,
        Unary::Absolute => x.abs(),
        Unary::Exponential => x.exp(),
        Unary::Logarithm => x.ln(),
        Unary::SquareRoot => x.sqrt(),
        Unary::ReciprocalSquareRoot => 1.0 / x.sqrt(),
        Unary::HyperbolicTangent => x.tanh(),
        Unary::ErrorFunction => error_function(x),
        Unary::Silu => x / (1.0 + (-x).exp()),
        Unary::Relu => maximum(x, 0.0),
    }
}

/// A function of two values.
pub(super) fn binary(function: Binary, x: f64, y: f64) -> f64 {
    match function {
        Binary::Add => x + y,
        Binary::Subtract => x - y,
        Binary::Multiply => x * y,
        Binary::Divide => x / y,
        Binary::Maximum => maximum(x, y),
        Binary::Minimum => -maximum(-x, -y),
    }
}

/// Two values of a reduction as one.
pub(super) fn combine(how: Combine, x: f64, y: f64) -> f64 {
    match how {
        Combine::Sum => x + y,
        Combine::Product => x * y,
        Combine::Maximum => maximum(x, y),
        Combine::Minimum => -maximum(-x, -y),
    }
}

/// The value of a reduction over nothing.
pub(super) const fn identity(how: Combine) -> f64 {
    match how {
        Combine::Sum => 0.0,
        Combine::Product => 1.0,
        Combine::Maximum => f64::NEG_INFINITY,
        Combine::Minimum => f64::INFINITY,
    }
}

/// Whether `new` replaces `old` as the position of a maximum or minimum: later equals do not, the first NaN does.
pub(super) fn beats(how: Combine, new: f64, old: f64) -> bool {
    let greater = if how == Combine::Minimum { new < old } else { new > old };
    greater || (new.is_nan() && !old.is_nan())
}

/// IEEE 754-2019 `maximum`: NaN when either is, and +0 above −0.
fn maximum(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == y {
        if x.is_sign_negative() { y } else { x }
    } else if x > y {
        x
    } else {
        y
    }
}

/// `erf x = 2/√π · exp(−x²) · Σ 2ⁿ x²ⁿ⁺¹ / (2n+1)!!` (Abramowitz and Stegun, 7.1.6): no term cancels.
pub(crate) fn error_function(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // 1 − erf 6 is 2·10⁻¹⁷, below half a unit in the last place of 1.
    if x.abs() >= 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > f64::EPSILON / 4.0 * sum.abs() {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// The uniform number in [0, 1) of `Expression::Random`: the top 24 bits of SplitMix64 (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", 2014) at this counter, so that f32 holds it exactly.
pub(super) fn uniform(seed: u64, counter: i64) -> f64 {
    let mut z = seed.wrapping_add((counter as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f64 / f64::from(1 << 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_has_its_tabulated_values() {
        // Abramowitz and Stegun, table 7.1.
        for (x, value) in [(0.0, 0.0), (0.5, 0.520_499_877_8), (1.0, 0.842_700_792_9), (2.0, 0.995_322_265_0)]
        {
            assert!((error_function(x) - value).abs() < 1e-10);
            assert!((error_function(-x) + value).abs() < 1e-10);
        }
        assert!((error_function(5.999_999) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn nan_wins_every_maximum() {
        assert!(maximum(f64::NAN, 1.0).is_nan() && binary(Binary::Minimum, 1.0, f64::NAN).is_nan());
        assert!(maximum(-0.0, 0.0).is_sign_positive());
        assert!(binary(Binary::Minimum, -0.0, 0.0).is_sign_negative());
        assert!(beats(Combine::Maximum, f64::NAN, 3.0) && !beats(Combine::Maximum, 4.0, f64::NAN));
    }

    #[test]
    fn the_generator_is_splitmix64() {
        // First output for seed 1234567 in the published test vector: 6457827717110365317.
        assert_eq!(uniform(1_234_567, 0), (6_457_827_717_110_365_317_u64 >> 40) as f64 / f64::from(1 << 24));
    }
}
