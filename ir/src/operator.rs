//! Operators describe themselves; everything else about them is derived.

use crate::computation::Computation;
use crate::operators::matmul::Matmul;
use crate::tensor::TensorView;
use crate::workload::{Parameters, Workload, WorkloadError};

/// What an operator says of itself. One file an operator, one line in [`operators`].
pub trait Operator: Sync {
    /// Name in workloads.
    fn id(&self) -> &'static str;

    /// One sentence for people.
    fn summary(&self) -> &'static str;

    /// Names of all parameters, in canonical order.
    fn parameter_names(&self) -> &'static [&'static str];

    /// The canonical form of what was written: shorthands resolved, defaults left out.
    ///
    /// # Errors
    /// When a parameter is unknown, missing or has an impossible value.
    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError>;

    /// What is computed for canonical parameters.
    ///
    /// # Errors
    /// When a value is impossible.
    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError>;

    /// One element of the output, computed plainly in f64 from the definition.
    ///
    /// `operands` are all operands in the order of the launch, the output with the content it had before;
    /// `at` is an index of the output. Independent of `describe` and of the lowering.
    fn reference(&self, parameters: &Parameters, operands: &[TensorView<'_>], at: &[u64])
    -> ReferenceElement;

    /// How far a correct implementation may be from the reference.
    fn tolerance(&self, parameters: &Parameters) -> Tolerance;

    /// Workloads that a conformance test must cover, odd sizes included.
    fn test_workloads(&self) -> Vec<Workload>;
}

/// A reference value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceElement {
    /// The exact result, up to rounding in f64.
    pub value: f64,
    /// Sum of the absolute values of everything that was added: what rounding errors are proportional to.
    pub magnitude: f64,
}

/// Error bound of a correct implementation: `|result − value| ≤ relative · magnitude + absolute`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Factor of the magnitude.
    pub relative: f64,
    /// Constant part: covers results below the normal range.
    pub absolute: f64,
    /// Largest error of the whole output in the 2-norm, as a share of the reference's norm.
    pub drift: f64,
}

/// Error of a whole output that is accepted unless an operator says otherwise, as a share of the norm.
pub const DEFAULT_DRIFT: f64 = 1e-3;

/// Standard deviations of [`summation_error`]: sums of up to 2³¹ terms exceed the bound with a probability below
/// 2 · 2³¹ · exp(−10² / 2) < 10⁻¹².
const DEVIATIONS: f64 = 10.0;

/// How far a floating-point sum of `terms` rounded operations may be from the exact one, as a factor of the sum of
/// magnitudes, in any order of summation; `unit` is the unit roundoff of the accumulator.
///
/// The smaller of two bounds:
///
/// - `γ = n·u / (1 − n·u)`, whatever the errors are (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
///   ed., §3.1);
/// - `γ̃ = exp(λ·√n·u + n·u² / (1 − u)) − 1` with λ = 10, where the errors' signs are independent of each other, as
///   they are for values without a common pattern (Higham & Mary, A New Approach to Probabilistic Rounding Error
///   Analysis, SIAM J. Sci. Comput. 41, 2019, theorem 2.4). A long sum of one value over and over is outside it;
///   golden sets hold none, but exact integers.
///
/// With γ alone, a sum of 10⁵ terms of both signs would be within its own bound of zero, and no candidate could be
/// refused.
pub fn summation_error(terms: f64, unit: f64) -> f64 {
    let error = terms * unit;
    let certain = if error < 0.5 { error / (1.0 - error) } else { 1.0 };
    let probable = (DEVIATIONS * terms.sqrt() * unit + terms * unit * unit / (1.0 - unit)).exp_m1();
    certain.min(probable)
}

impl Tolerance {
    /// Whether `result` is acceptable. NaN answers NaN, and an infinity the same infinity.
    pub fn accepts(&self, result: f64, reference: ReferenceElement) -> bool {
        if reference.value.is_nan() {
            return result.is_nan();
        }
        if reference.value.is_infinite() {
            return result == reference.value;
        }
        (result - reference.value).abs() <= self.relative * reference.magnitude + self.absolute
    }
}

/// Every operator.
pub fn operators() -> &'static [&'static dyn Operator] {
    &[&Matmul]
}

/// The operator of this name.
pub fn operator(id: &str) -> Option<&'static dyn Operator> {
    operators().iter().copied().find(|operator| operator.id() == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sums_have_the_certain_bound_and_long_ones_the_probable() {
        let unit = 2.0_f64.powi(-24);
        for terms in [1.0, 9.0, 99.0] {
            let error = terms * unit;
            assert_eq!(summation_error(terms, unit), error / (1.0 - error));
        }
        for terms in [101.0, 1e4, 1e6, 2_f64.powi(31)] {
            let bound = summation_error(terms, unit);
            assert!(bound < terms * unit && bound >= 10.0 * terms.sqrt() * unit, "{terms}: {bound}");
        }
        assert!(summation_error(1e4, 2.0_f64.powi(-9)) <= 1.0);
    }

    // U012, U013
    #[test]
    fn the_tolerance_follows_type_and_length_of_the_reduction() {
        let tolerance = |k: u64| {
            let workload: Workload = format!("matmul:m=2,n=2,k={k},dtype=f32").parse().expect("a workload");
            workload.operator().tolerance(workload.parameters())
        };
        let bounds: Vec<f64> = [1, 10, 100, 1000, 10_000].iter().map(|&k| tolerance(k).relative).collect();
        assert!(bounds.is_sorted() && bounds[0] > 2.0_f64.powi(-24) && bounds[4] < 1e-4, "{bounds:?}");
        assert_eq!(tolerance(10).drift, DEFAULT_DRIFT);
    }

    #[test]
    fn what_is_no_number_must_be_the_same() {
        let tolerance = Tolerance { relative: 1.0, absolute: 1.0, drift: 1.0 };
        let of = |value: f64| ReferenceElement { value, magnitude: f64::INFINITY };
        assert!(tolerance.accepts(f64::NAN, of(f64::NAN)) && !tolerance.accepts(0.0, of(f64::NAN)));
        assert!(tolerance.accepts(f64::INFINITY, of(f64::INFINITY)));
        assert!(
            !tolerance.accepts(f64::NEG_INFINITY, of(f64::INFINITY)) && !tolerance.accepts(f64::NAN, of(1.0))
        );
    }
}
