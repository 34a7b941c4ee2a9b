//! What an operator computes, as data: axes, index maps, element and combine expressions.

use serde::{Deserialize, Serialize};

use crate::affine::{Affine, Variable};
use crate::data_type::DataType;
use crate::expression::Expression;
use crate::program::{BufferId, Role, Target};
use crate::row_wise::RowWise;
use crate::tensor::TensorLayout;

/// How an axis of a contraction appears in its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisRole {
    /// In the left factor and the output.
    Row,
    /// In the right factor and the output.
    Column,
    /// In both factors: summed over.
    Reduction,
}

/// One axis of the iteration space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComputationAxis {
    /// Its name in the workload (`m`, `n`, `k`).
    pub name: String,
    /// Number of points.
    pub extent: u64,
    /// Where it appears.
    pub role: AxisRole,
}

/// An operand, and which element of it belongs to a point of the iteration space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// Its name in the workload (`a`, `b`, `c`, `bias`).
    pub name: String,
    /// Element type.
    pub data_type: DataType,
    /// Extents, outermost first.
    pub shape: Vec<u64>,
    /// Distance of neighbours along each dimension, elements.
    pub strides: Vec<i64>,
    /// Use by the launch.
    pub role: Role,
    /// Index of each dimension, over `Variable(axis number)`.
    pub indices: Vec<Affine>,
}

impl Operand {
    /// Where its elements lie.
    pub fn layout(&self) -> TensorLayout {
        TensorLayout { data_type: self.data_type, shape: self.shape.clone(), strides: self.strides.clone() }
    }

    /// The dimension that moves with `axis` alone and by one, if there is one.
    pub fn dimension_of(&self, axis: usize) -> Option<usize> {
        self.indices.iter().position(|index| *index == Affine::from(Variable(axis as u32)))
    }

    /// Distance in elements between neighbours along `axis`; 0 when it does not depend on it.
    pub fn stride_of(&self, axis: usize) -> i64 {
        self.indices
            .iter()
            .zip(&self.strides)
            .map(|(index, stride)| index.coefficient(Variable(axis as u32)) * stride)
            .sum()
    }
}

/// In an epilogue, stands for the sum that the contraction has accumulated.
pub const ACCUMULATED: Target = Target::Buffer(BufferId(u32::MAX));

/// `output ← epilogue(Σ over reduction axes of left · right (+ output))`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contraction {
    /// Iteration space: exactly one row, one column and one reduction axis in this version, in that order.
    pub axes: Vec<ComputationAxis>,
    /// All operands, in the order of the launch.
    pub operands: Vec<Operand>,
    /// Position of the left factor in `operands`.
    pub left: usize,
    /// Position of the right factor.
    pub right: usize,
    /// Position of the output.
    pub output: usize,
    /// Type of the running sum.
    pub accumulator: DataType,
    /// Whether the output's old value is part of the sum.
    pub accumulate: bool,
    /// Applied to the sum before it is stored: loads of [`ACCUMULATED`] and of operands (by
    /// `TensorId(position)`, indices over `Variable(axis number)`).
    pub epilogue: Option<Expression>,
}

/// What an operator computes, by family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Computation {
    /// Sums of products.
    Contraction(Contraction),
    /// One row at a time.
    RowWise(RowWise),
}

impl Computation {
    /// Name of the family, whose lowering and search space all its operators share.
    pub fn family(&self) -> &'static str {
        match self {
            Self::Contraction(_) => "contraction",
            Self::RowWise(_) => "row-wise",
        }
    }

    /// All operands, in the order of the launch.
    pub fn operands(&self) -> &[Operand] {
        match self {
            Self::Contraction(contraction) => &contraction.operands,
            Self::RowWise(row_wise) => &row_wise.operands,
        }
    }

    /// Position of the output among the operands.
    pub fn output(&self) -> usize {
        match self {
            Self::Contraction(contraction) => contraction.output,
            Self::RowWise(row_wise) => row_wise.output,
        }
    }

    /// Floating-point operations of one run, a multiplication and an addition counted as two; epilogues of
    /// contractions left out, a function such as `exp` counted as one.
    pub fn operations(&self) -> f64 {
        match self {
            Self::Contraction(contraction) => {
                2.0 * contraction.axes.iter().map(|axis| axis.extent as f64).product::<f64>()
            }
            Self::RowWise(row_wise) => row_wise.operations(),
        }
    }

    /// Bytes that any implementation must move at least once: inputs read, outputs written.
    pub fn compulsory_bytes(&self) -> u64 {
        self.operands()
            .iter()
            .map(|operand| {
                let bytes = operand.data_type.bytes(operand.shape.iter().product());
                if operand.role == Role::InputOutput { 2 * bytes } else { bytes }
            })
            .sum()
    }
}
