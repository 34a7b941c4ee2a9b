//! Values at the edges of floating-point arithmetic, in patterns that keep the answer known.
//!
//! Each row of the left factor and each column of the right one has a [`Class`] of its own, so that every output
//! element shows what happens where one meets another: zeros stay zeros, subnormal numbers count, an infinity keeps
//! its sign or becomes NaN beside a zero, and NaN reaches the whole row. Magnitudes are bounded so that no partial
//! sum overflows in any order, which would make the answer depend on the order.

use rand::{Rng, RngExt};
use tilewright_ir::computation::Contraction;

/// Values of one row of the left factor, or of one column of the right one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Class {
    /// Reals of both signs up to 1.
    Plain,
    /// Zeros of both signs.
    Zeros,
    /// Reals times a power of two.
    Scaled(f64),
    /// Reals, and this value at one place of the reduction.
    With(f64, u64),
}

/// Subnormal in f32: flushed to zero it is lost, multiplied with [`GREAT`] it is not.
const SUBNORMAL: f64 = 7.346_839_692_639_297e-40;
/// 2⁵⁰, and 2³⁰ on the other side: 2³¹ products of these stay below 2¹¹².
const GREAT: f64 = (1_u64 << 50) as f64;
const LARGE: f64 = (1_u64 << 30) as f64;
/// 2⁻⁵⁰.
const SMALL: f64 = 1.0 / GREAT;

/// Draws the values of one operand.
pub(super) struct Extremes {
    /// Dimension of the reduction, and the class of each index of the other dimensions in row-major order; `None`
    /// for an operand that is added.
    factor: Option<(usize, Vec<Class>)>,
    shape: Vec<u64>,
}

impl Extremes {
    pub(super) fn new(contraction: &Contraction, operand: usize, rng: &mut dyn Rng) -> Self {
        let described = &contraction.operands[operand];
        let left = operand == contraction.left;
        let reduction = contraction.axes.len() - 1;
        let dimension = described.dimension_of(reduction);
        let dimension = dimension.filter(|_| left || operand == contraction.right);
        let factor = dimension.map(|dimension| {
            let terms = described.shape[dimension];
            let others = described.shape.iter().product::<u64>() / terms.max(1);
            let mut draw = || if left { row(terms, rng) } else { column(rng) };
            (dimension, (0..others).map(|_| draw()).collect())
        });
        Self { factor, shape: described.shape.clone() }
    }

    pub(super) fn next(&self, at: &[u64], last: u64, rng: &mut dyn Rng) -> f64 {
        let real = f64::from(rng.random_range(-1.0_f32..1.0));
        let Some((dimension, classes)) = &self.factor else {
            // Mostly zeros, so that small results do not drown.
            return if rng.random_range(0..4) == 0 { real } else { 0.0 };
        };
        let index = |d: usize| if d + 1 == at.len() { last } else { at[d] };
        let others = (0..at.len()).filter(|d| d != dimension);
        let flat = others.fold(0, |flat, d| flat * self.shape[d] + index(d));
        match classes[flat as usize] {
            Class::Plain => real,
            Class::Zeros => 0.0_f64.copysign(real),
            Class::Scaled(factor) => real * factor,
            Class::With(value, place) => {
                if index(*dimension) == place {
                    value
                } else {
                    real
                }
            }
        }
    }
}

fn row(terms: u64, rng: &mut dyn Rng) -> Class {
    let place = rng.random_range(0..terms.max(1));
    match rng.random_range(0..20) {
        0..2 => Class::Zeros,
        2..4 => Class::Scaled(SUBNORMAL),
        4..6 => Class::With(f64::NAN, place),
        6 => Class::With(f64::INFINITY, place),
        7 => Class::With(f64::NEG_INFINITY, place),
        8..11 => Class::Scaled(LARGE),
        _ => Class::Plain,
    }
}

fn column(rng: &mut dyn Rng) -> Class {
    match rng.random_range(0..20) {
        0..2 => Class::Zeros,
        2..7 => Class::Scaled(GREAT),
        7..9 => Class::Scaled(SMALL),
        _ => Class::Plain,
    }
}
