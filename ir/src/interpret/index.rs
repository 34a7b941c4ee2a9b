//! Values of indices, bounds and constraints, lookups included.

use super::error::{Action, InterpretError};
use super::machine::{Machine, Worker};
use super::plan::PlannedAccess;
use super::storage::MOST_DIMENSIONS;
use crate::affine::{Affine, Constraint, Index, Lookup};

impl Machine<'_> {
    /// Value of an index.
    pub(super) fn index(&mut self, index: &Index, worker: &Worker) -> Result<i64, InterpretError> {
        let affine = evaluate(&index.affine, worker);
        match &index.lookup {
            None => Ok(affine),
            Some(lookup) => Ok(affine + lookup.scale * self.look_up(lookup, worker)?),
        }
    }

    /// Least of a bound.
    pub(super) fn bound<'i>(
        &mut self,
        bound: impl IntoIterator<Item = &'i Index>,
        worker: &Worker,
    ) -> Result<i64, InterpretError> {
        let mut least = i64::MAX;
        for index in bound {
            least = least.min(self.index(index, worker)?);
        }
        Ok(least)
    }

    /// Whether all constraints hold.
    pub(super) fn holds(
        &mut self,
        constraints: &[Constraint],
        worker: &Worker,
    ) -> Result<bool, InterpretError> {
        for constraint in constraints {
            if self.index(&constraint.0, worker)? < 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Value that a lookup finds, within its declared range.
    pub(super) fn look_up(&mut self, lookup: &Lookup, worker: &Worker) -> Result<i64, InterpretError> {
        let mut indices = [0; MOST_DIMENSIONS];
        for (slot, index) in indices.iter_mut().zip(&lookup.indices) {
            *slot = self.index(index, worker)?;
        }
        let indices = &indices[..lookup.indices.len()];
        let table = lookup.table.0;
        let offset = self.locate(table, indices, Action::Read)?;
        let value = match self.read_cell(table, offset, worker.shared) {
            Ok(value) => value,
            Err(fault) => {
                let name = self.slot_name(table as usize);
                return Err(self.explain(fault, Action::Read, name, indices.to_vec(), worker.shared));
            }
        };
        let (least, greatest) = lookup.range;
        if value.fract() != 0.0 || !(least as f64..=greatest as f64).contains(&value) {
            return Err(InterpretError::Lookup {
                table: self.slot_name(table as usize),
                indices: indices.to_vec(),
                value,
                range: lookup.range,
            });
        }
        Ok(value as i64)
    }

    /// Indices of an access at the worker's values.
    pub(super) fn indices(
        &mut self,
        access: &PlannedAccess<'_>,
        worker: &Worker,
    ) -> Result<([i64; MOST_DIMENSIONS], usize), InterpretError> {
        let mut indices = [0; MOST_DIMENSIONS];
        for (slot, index) in indices.iter_mut().zip(&access.source.indices) {
            *slot = self.index(index, worker)?;
        }
        Ok((indices, access.source.indices.len()))
    }
}

/// Value of an affine expression.
#[inline]
pub(super) fn evaluate(affine: &Affine, worker: &Worker) -> i64 {
    affine.evaluate(|variable| worker.values[variable.0 as usize])
}
