//! `y = exp(x − max x) / Σ exp(x − max x)` for each row, or its logarithm.
//!
//! Examples: `softmax:rows=512,cols=1024,dtype=f32`, `log_softmax:rows=4,cols=151936,dtype=f32`.

use super::fields::Fields;
use super::row::{
    COLUMN, MATRIX, ROW, at, matrix_of, minus, operand, over, over_matrix, times, tolerance, workloads,
};
use crate::computation::Computation;
use crate::expression::{Expression, Unary};
use crate::operator::{Operator, ReferenceElement, Tolerance};
use crate::program::{Combine, Role};
use crate::row_wise::{Stage, stage};
use crate::tensor::TensorView;
use crate::workload::{Parameters, Workload, WorkloadError};

/// Probabilities.
pub(crate) struct Softmax;
/// Their logarithms.
pub(crate) struct LogSoftmax;

fn fields<'a>(id: &'static str, parameters: &'a Parameters) -> Result<Fields<'a>, WorkloadError> {
    Fields::new(id, &MATRIX, parameters)
}

fn columns(parameters: &Parameters) -> u64 {
    let fields = fields("softmax", parameters).and_then(|fields| fields.extent("cols"));
    fields.expect("invariant: parameters are canonical")
}

/// What the elements of a row have in common.
struct Row {
    maximum: f64,
    /// `Σ exp(x − max x)`.
    sum: f64,
}

impl Row {
    fn of(x: TensorView<'_>, row: u64) -> Self {
        let columns = x.layout.shape[1];
        let values = || (0..columns).map(|column| x.get(&[row, column]));
        // A NaN anywhere makes the maximum one, as IEEE arithmetic does to the sum.
        let maximum =
            if values().any(f64::is_nan) { f64::NAN } else { values().fold(f64::NEG_INFINITY, f64::max) };
        Self { maximum, sum: values().map(|x| (x - maximum).exp()).sum() }
    }

    /// The power's relative error is the rounding of its argument, and the sum's at most that of its terms.
    fn probability(&self, x: f64) -> ReferenceElement {
        let shifted = x - self.maximum;
        let value = shifted.exp() / self.sum;
        ReferenceElement { value, magnitude: value.abs() * (1.0 + finite(shifted)) }
    }

    /// An error of the sum is one of its logarithm, relative to 1.
    fn logarithm(&self, x: f64) -> ReferenceElement {
        let shifted = x - self.maximum;
        let log = self.sum.ln();
        ReferenceElement { value: shifted - log, magnitude: 1.0 + finite(shifted) + finite(log) }
    }
}

/// Magnitude of a number; of what is none, 0: it is compared as it is.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x.abs() } else { 0.0 }
}

impl Operator for Softmax {
    fn id(&self) -> &'static str {
        "softmax"
    }

    fn summary(&self) -> &'static str {
        "softmax of each row"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &MATRIX
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        self.describe(parameters)?;
        Ok(parameters.clone())
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let shape = matrix_of(&fields(self.id(), parameters)?)?;
        let matrix = |name, role| operand(name, &shape, &[ROW, COLUMN], role);
        let stages = vec![
            Stage::Reduction(Combine::Maximum, at(0)),
            Stage::Column(minus(at(0), stage(0)).unary(Unary::Exponential)),
            Stage::Reduction(Combine::Sum, stage(1)),
            Stage::Row(over(Expression::constant(1.0), stage(2))),
            Stage::Column(times(stage(1), stage(3))),
        ];
        Ok(over_matrix(shape, vec![matrix("x", Role::Input), matrix("y", Role::Output)], stages))
    }

    fn reference(&self, _: &Parameters, operands: &[TensorView<'_>], at: &[u64]) -> ReferenceElement {
        Row::of(operands[0], at[0]).probability(operands[0].get(at))
    }

    fn reference_row(
        &self,
        _: &Parameters,
        operands: &[TensorView<'_>],
        outer: &[u64],
        length: u64,
    ) -> Vec<ReferenceElement> {
        let row = Row::of(operands[0], outer[0]);
        (0..length).map(|column| row.probability(operands[0].get(&[outer[0], column]))).collect()
    }

    fn tolerance(&self, parameters: &Parameters) -> Tolerance {
        tolerance(columns(parameters) + 16)
    }

    fn test_workloads(&self) -> Vec<Workload> {
        workloads(&[
            "softmax:rows=1,cols=1,dtype=f32",
            "softmax:rows=3,cols=7,dtype=f32",
            "softmax:rows=5,cols=64,dtype=f32",
            "softmax:rows=2,cols=300,dtype=f32",
            "softmax:rows=33,cols=129,dtype=f32",
        ])
    }
}

impl Operator for LogSoftmax {
    fn id(&self) -> &'static str {
        "log_softmax"
    }

    fn summary(&self) -> &'static str {
        "logarithm of the softmax of each row"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &MATRIX
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        self.describe(parameters)?;
        Ok(parameters.clone())
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let shape = matrix_of(&fields(self.id(), parameters)?)?;
        let matrix = |name, role| operand(name, &shape, &[ROW, COLUMN], role);
        let stages = vec![
            Stage::Reduction(Combine::Maximum, at(0)),
            Stage::Reduction(Combine::Sum, minus(at(0), stage(0)).unary(Unary::Exponential)),
            Stage::Row(stage(1).unary(Unary::Logarithm)),
            Stage::Column(minus(minus(at(0), stage(0)), stage(2))),
        ];
        Ok(over_matrix(shape, vec![matrix("x", Role::Input), matrix("y", Role::Output)], stages))
    }

    fn reference(&self, _: &Parameters, operands: &[TensorView<'_>], at: &[u64]) -> ReferenceElement {
        Row::of(operands[0], at[0]).logarithm(operands[0].get(at))
    }

    fn reference_row(
        &self,
        _: &Parameters,
        operands: &[TensorView<'_>],
        outer: &[u64],
        length: u64,
    ) -> Vec<ReferenceElement> {
        let row = Row::of(operands[0], outer[0]);
        (0..length).map(|column| row.logarithm(operands[0].get(&[outer[0], column]))).collect()
    }

    fn tolerance(&self, parameters: &Parameters) -> Tolerance {
        tolerance(columns(parameters) + 16)
    }

    fn test_workloads(&self) -> Vec<Workload> {
        workloads(&[
            "log_softmax:rows=1,cols=2,dtype=f32",
            "log_softmax:rows=3,cols=17,dtype=f32",
            "log_softmax:rows=6,cols=515,dtype=f32",
        ])
    }
}
