//! Operators describe themselves; everything else about them is derived.

use crate::computation::Computation;
use crate::data_type::DataType;
use crate::operators::activation::{Gelu, Silu, SiluMul};
use crate::operators::matmul::Matmul;
use crate::operators::norm::{LayerNorm, RmsNorm};
use crate::operators::reduce::Reduce;
use crate::operators::rope::Rope;
use crate::operators::softmax::{LogSoftmax, Softmax};
use crate::tensor::TensorView;
use crate::workload::{Parameters, Workload, WorkloadError};

/// What an operator says of itself. One file an operator, one line in [`operators`].
pub trait Operator: Sync {
    /// Name in workloads.
    fn id(&self) -> &'static str;

    /// One sentence for people.
    fn summary(&self) -> &'static str;

    /// Element types that it takes, `dtype=`.
    fn types(&self) -> &'static [DataType] {
        &[DataType::F32]
    }

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

    /// The elements along the last dimension of the output at these outer indices, as [`Operator::reference`] has
    /// each; an operator whose elements of a row have much in common computes that once.
    fn reference_row(
        &self,
        parameters: &Parameters,
        operands: &[TensorView<'_>],
        outer: &[u64],
        length: u64,
    ) -> Vec<ReferenceElement> {
        let mut at = [outer, &[0]].concat();
        let last = outer.len();
        (0..length)
            .map(|index| {
                at[last] = index;
                self.reference(parameters, operands, &at)
            })
            .collect()
    }

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
    &[&Matmul, &Softmax, &LogSoftmax, &RmsNorm, &LayerNorm, &Silu, &SiluMul, &Gelu, &Rope, &Reduce]
}

/// The operator of this name.
pub fn operator(id: &str) -> Option<&'static dyn Operator> {
    operators().iter().copied().find(|operator| operator.id() == id)
}
