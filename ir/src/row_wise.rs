//! The row-wise family: what an operator that works on one row at a time computes, as data.

use serde::{Deserialize, Serialize};

use crate::affine::Index;
use crate::computation::{ComputationAxis, Operand};
use crate::expression::Expression;
use crate::program::{Access, BufferId, Combine, Target, TensorId};

/// `outputs ← stages`, for each row by itself.
///
/// Expressions load elements of operands, `Target::Tensor(TensorId(position))` with indices over `Variable(axis
/// number)`, and values of earlier stages, `Target::Buffer(BufferId(stage))` without indices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowWise {
    /// Iteration space: the axes that count rows, and last the columns.
    pub axes: Vec<ComputationAxis>,
    /// All operands, in the order of the launch.
    pub operands: Vec<Operand>,
    /// Position of the output that is checked.
    pub output: usize,
    /// What is computed, in order.
    pub stages: Vec<Stage>,
    /// What is written.
    pub stores: Vec<Store>,
}

/// One step of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A value of each column.
    Column(Expression),
    /// A value of the row: what the expression's values of all columns combine to.
    Reduction(Combine, Expression),
    /// A value of the row, from earlier values of the row.
    Row(Expression),
}

/// A stage's value goes to an operand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Store {
    /// Which stage.
    pub stage: usize,
    /// Where: indices over `Variable(axis number)`.
    pub place: Access,
}

impl Stage {
    /// What is computed for each column, or for the row.
    pub fn expression(&self) -> &Expression {
        match self {
            Self::Column(expression) | Self::Reduction(_, expression) | Self::Row(expression) => expression,
        }
    }

    /// Numbers of the stages that it reads.
    pub fn reads(&self) -> Vec<usize> {
        let mut stages = Vec::new();
        self.expression().loads(&mut |access| {
            if let Target::Buffer(BufferId(stage)) = access.target {
                stages.push(stage as usize);
            }
        });
        stages.sort_unstable();
        stages.dedup();
        stages
    }
}

impl RowWise {
    /// Number of columns.
    pub fn columns(&self) -> u64 {
        self.axes.last().map_or(1, |axis| axis.extent)
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.axes.iter().rev().skip(1).map(|axis| axis.extent).product()
    }

    /// Functions that are evaluated, each counted as one operation, and combinations of reductions.
    pub fn operations(&self) -> f64 {
        let of_row: u64 = self
            .stages
            .iter()
            .map(|stage| match stage {
                Stage::Column(expression) => expression.functions() * self.columns(),
                Stage::Reduction(_, expression) => (expression.functions() + 1) * self.columns(),
                Stage::Row(expression) => expression.functions(),
            })
            .sum();
        of_row as f64 * self.rows() as f64
    }
}

/// The value of a stage, in a later stage's expression.
pub fn stage(number: usize) -> Expression {
    Access::scalar(BufferId(number as u32)).load()
}

/// An element of an operand, in a stage's expression.
pub fn element(operand: usize, indices: impl IntoIterator<Item = impl Into<Index>>) -> Access {
    Access::new(TensorId(operand as u32), indices)
}
