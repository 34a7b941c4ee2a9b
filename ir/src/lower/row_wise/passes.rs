//! Which stage is computed in which pass over the columns.

use crate::row_wise::{RowWise, Stage};

/// The passes of a computation.
pub(super) struct Passes {
    /// For each stage: the pass over the columns in which it is computed; for a value of the row that is no
    /// reduction: the pass before which it is.
    pub(super) of: Vec<usize>,
    /// Number of passes.
    pub(super) count: usize,
}

impl Passes {
    /// Each stage as early as what it reads allows.
    pub(super) fn of(computation: &RowWise) -> Self {
        let mut of: Vec<usize> = Vec::new();
        for stage in &computation.stages {
            let earliest = stage.reads().into_iter().map(|read| {
                let late = matches!(computation.stages[read], Stage::Reduction(..));
                of[read] + usize::from(late)
            });
            let earliest = earliest.max().unwrap_or(0);
            of.push(earliest);
        }
        let over_columns = computation.stages.iter().zip(&of);
        let last =
            over_columns.filter(|(stage, _)| !matches!(stage, Stage::Row(_))).map(|(_, &pass)| pass).max();
        Self { of, count: last.map_or(0, |last| last + 1) }
    }

    /// Whether a later pass than its own reads this value of each column.
    pub(super) fn is_read_later(&self, computation: &RowWise, stage: usize) -> bool {
        matches!(computation.stages[stage], Stage::Column(_))
            && computation.stages.iter().zip(&self.of).any(|(reader, &pass)| {
                pass > self.of[stage] && !matches!(reader, Stage::Row(_)) && reader.reads().contains(&stage)
            })
    }
}

impl RowWise {
    /// Whether some value of each column is read in a later pass over them, so that it can be kept.
    pub fn rereads_columns(&self) -> bool {
        let passes = Passes::of(self);
        (0..self.stages.len()).any(|stage| passes.is_read_later(self, stage))
    }

    /// Whether each column stands for itself.
    pub fn is_element_wise(&self) -> bool {
        self.stages.iter().all(|stage| matches!(stage, Stage::Column(_)))
    }

    /// Vector registers that so many vectors at a time take: partial results of the pass with most reductions, one
    /// for each value of a row or of its columns, and what expressions need on their way.
    pub fn registers_needed(&self, vectors: u64) -> u32 {
        let passes = Passes::of(self);
        let reductions = |pass: usize| {
            let stages = self.stages.iter().zip(&passes.of);
            stages.filter(|(stage, of)| **of == pass && matches!(stage, Stage::Reduction(..))).count() as u32
        };
        let most = (0..passes.count).map(reductions).max().unwrap_or(0);
        most * vectors as u32 + self.stages.len() as u32 + TEMPORARIES
    }
}

/// Registers for what an expression needs on its way.
const TEMPORARIES: u32 = 7;
