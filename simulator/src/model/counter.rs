//! Loop variables as sums of iteration counters, and averages over the iterations.
//!
//! A loop variable holds an absolute offset whose start may depend on enclosing variables. Written as
//! `constant + Σ step · counter`, with every counter running from 0, the part that a loop adds to an index
//! can be read off.

use tilewright_ir::affine::{Affine, Variable};

/// Deepest nest of loops.
pub(super) const MOST_LOOPS: usize = 14;

/// `constant + Σ by[l] · counter l`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Linear {
    pub(super) constant: f64,
    pub(super) by: [f64; MOST_LOOPS],
}

impl Linear {
    pub(super) const ZERO: Self = Self { constant: 0.0, by: [0.0; MOST_LOOPS] };

    pub(super) fn constant(value: f64) -> Self {
        Self { constant: value, ..Self::ZERO }
    }

    pub(super) fn add(&mut self, other: &Self, times: f64) {
        self.constant += other.constant * times;
        for (by, other) in self.by.iter_mut().zip(&other.by) {
            *by += other * times;
        }
    }

    pub(super) fn of(affine: &Affine, mut value: impl FnMut(Variable) -> Self) -> Self {
        let mut sum = Self::constant(affine.constant() as f64);
        for &(variable, coefficient) in affine.terms() {
            sum.add(&value(variable), coefficient as f64);
        }
        sum
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        let mut difference = *self;
        difference.add(other, -1.0);
        difference
    }

    /// Least and greatest value when counter `l` runs over `trips[l]` values.
    pub(super) fn range(&self, trips: &[f64]) -> (f64, f64) {
        let (mut low, mut high) = (self.constant, self.constant);
        for (by, trips) in self.by.iter().zip(trips) {
            let reach = by * (trips - 1.0).max(0.0);
            if reach < 0.0 { low += reach } else { high += reach }
        }
        (low, high)
    }

    /// Number of different values, were all sums different.
    fn values(&self, trips: &[f64]) -> f64 {
        self.by.iter().zip(trips).filter(|(by, _)| **by != 0.0).map(|(_, trips)| trips.max(1.0)).product()
    }
}

/// Points at which a function of a bound is looked at.
const SAMPLES: usize = 12;

/// Mean of `function` over the iterations, given the least of `bounds`.
///
/// Bounds of tiles are equal in all iterations but a few at the end of a range, and fall towards that end: the
/// bound that varies is looked at in its last value, which counts once, and in equally spaced earlier ones.
pub(super) fn mean_of_least(bounds: &[Linear], trips: &[f64], function: impl Fn(f64) -> f64) -> f64 {
    let mut fixed = f64::INFINITY;
    let mut varying: Option<(f64, f64, f64)> = None;
    for bound in bounds {
        let (low, high) = bound.range(trips);
        if high - low < 0.5 {
            fixed = fixed.min(low);
        } else {
            let values = bound.values(trips);
            let (l, h, n) = varying.unwrap_or((low, high, values));
            varying = Some((l.min(low), h.min(high), n.max(values)));
        }
    }
    let Some((low, high, values)) = varying else { return function(fixed) };
    if low >= fixed {
        return function(fixed);
    }
    if values <= SAMPLES as f64 {
        let count = values.round().max(1.0);
        let step = if count > 1.0 { (high - low) / (count - 1.0) } else { 0.0 };
        let sum: f64 = (0..count as usize).map(|at| function(fixed.min(low + step * at as f64))).sum();
        return sum / count;
    }
    let step = (high - low) / (values - 1.0);
    // The part of the iterations in which the fixed bound is the least needs no looking at.
    let unbound = if fixed < high { ((high - fixed) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
    let top = fixed.min(high);
    let bottom = low + step;
    let inner: f64 = (0..SAMPLES)
        .map(|at| function(bottom + (top - bottom).max(0.0) * (at as f64 + 0.5) / SAMPLES as f64))
        .sum::<f64>()
        / SAMPLES as f64;
    let last = 1.0 / values;
    let free = if fixed.is_finite() { unbound * (1.0 - last) } else { 0.0 };
    last * function(low) + free * function(top) + (1.0 - last - free) * inner
}

/// Share of the iterations in which `linear ≥ 0`.
pub(super) fn share_not_negative(linear: &Linear, trips: &[f64]) -> f64 {
    let (low, high) = linear.range(trips);
    if low >= 0.0 {
        return 1.0;
    }
    if high < 0.0 {
        return 0.0;
    }
    let values = linear.values(trips).max(1.0);
    let step = (high - low) / (values - 1.0).max(1.0);
    (((high / step).floor() + 1.0) / values).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(constant: f64, by: &[f64]) -> Linear {
        let mut linear = Linear::constant(constant);
        linear.by[..by.len()].copy_from_slice(by);
        linear
    }

    #[test]
    fn the_last_tile_is_the_short_one() {
        // for mc in 0..1000 step 96: tiles of min(96, 1000 - mc): ten of 96 and one of 40.
        let bounds = [linear(96.0, &[]), linear(1000.0, &[-96.0])];
        let mean = mean_of_least(&bounds, &[11.0], |length| length);
        assert!((mean - 1000.0 / 11.0).abs() < 1e-9, "{mean}");
        let tiles = mean_of_least(&bounds, &[11.0], |length| (length / 6.0).ceil());
        assert!((tiles - 167.0 / 11.0).abs() < 1e-9, "{tiles}");
    }

    #[test]
    fn many_iterations_are_sampled_closely() {
        let bounds = [linear(6.0, &[]), linear(1000.0, &[-6.0])];
        let mean = mean_of_least(&bounds, &[167.0], |length| length);
        assert!((mean - 1000.0 / 167.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn conditions_on_first_and_last_hold_once() {
        assert!((share_not_negative(&linear(0.0, &[-64.0]), &[8.0]) - 0.125).abs() < 1e-12);
        assert!((share_not_negative(&linear(-448.0, &[64.0]), &[8.0]) - 0.125).abs() < 1e-12);
        assert!((share_not_negative(&linear(1.0, &[]), &[8.0]) - 1.0).abs() < 1e-12);
    }
}
