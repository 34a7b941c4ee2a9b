//! Parts that row-wise operators are described with.

use super::fields::Fields;
use crate::affine::{Affine, Variable};
use crate::computation::{AxisRole, Computation, ComputationAxis, Operand};
use crate::data_type::DataType;
use crate::expression::{Binary, Expression};
use crate::operator::{DEFAULT_DRIFT, Tolerance, summation_error};
use crate::program::Role;
use crate::row_wise::{RowWise, Stage, Store, element};
use crate::workload::{Workload, WorkloadError};

/// The axis of rows.
pub(super) const ROW: Variable = Variable(0);
/// The axis of columns, in operators with one axis of rows.
pub(super) const COLUMN: Variable = Variable(1);
/// Names that most take.
pub(super) const MATRIX: [&str; 3] = ["rows", "cols", "dtype"];

/// Rows and columns of an f32 matrix.
pub(super) fn matrix_of(fields: &Fields<'_>) -> Result<[u64; 2], WorkloadError> {
    fields.data_type(&[DataType::F32])?;
    fields.matrix("rows", "cols")
}

/// A dense operand of f32 with these extents and indices.
pub(super) fn operand(name: &str, shape: &[u64], indices: &[Variable], role: Role) -> Operand {
    let mut strides = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        strides[dimension - 1] = strides[dimension] * shape[dimension] as i64;
    }
    Operand {
        name: name.to_owned(),
        data_type: DataType::F32,
        shape: shape.to_vec(),
        strides,
        role,
        indices: indices.iter().map(|&axis| Affine::from(axis)).collect(),
    }
}

/// A computation over one axis of rows and one of columns; what the last stage gives goes to the last operand.
pub(super) fn over_matrix(
    [rows, columns]: [u64; 2],
    operands: Vec<Operand>,
    stages: Vec<Stage>,
) -> Computation {
    let axis = |name: &str, extent, role| ComputationAxis { name: name.to_owned(), extent, role };
    let output = operands.len() - 1;
    let place = element(output, operands[output].indices.iter().cloned());
    Computation::RowWise(RowWise {
        axes: vec![axis("row", rows, AxisRole::Row), axis("column", columns, AxisRole::Column)],
        operands,
        output,
        stores: vec![Store { stage: stages.len() - 1, place }],
        stages,
    })
}

/// An element of a matrix.
pub(super) fn at(operand: usize) -> Expression {
    element(operand, [ROW, COLUMN]).load()
}

/// An element of a vector that all rows share.
pub(super) fn shared(operand: usize) -> Expression {
    element(operand, [COLUMN]).load()
}

pub(super) fn plus(first: Expression, second: Expression) -> Expression {
    first.binary(Binary::Add, second)
}

pub(super) fn minus(first: Expression, second: Expression) -> Expression {
    first.binary(Binary::Subtract, second)
}

pub(super) fn times(first: Expression, second: Expression) -> Expression {
    first.binary(Binary::Multiply, second)
}

pub(super) fn over(first: Expression, second: Expression) -> Expression {
    first.binary(Binary::Divide, second)
}

/// Bound of a result that goes through so many roundings, the terms of a sum among them: each is at most a unit of
/// the magnitude that the reference states ([`summation_error`]). Results below the normal range may be off by as
/// many of its units.
pub(super) fn tolerance(operations: u64) -> Tolerance {
    Tolerance {
        relative: summation_error(operations as f64, DataType::F32.unit_roundoff()),
        absolute: operations as f64 * f64::from(f32::MIN_POSITIVE),
        drift: DEFAULT_DRIFT,
    }
}

/// Workloads from their texts.
pub(super) fn workloads(texts: &[&str]) -> Vec<Workload> {
    texts.iter().map(|text| text.parse().expect("invariant: a workload of this operator")).collect()
}
