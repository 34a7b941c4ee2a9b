//! Access to single elements: bounds, rounding, and what the rules of races and initialisation say to it.

use super::block::BLOCK;
use super::error::{Action, InterpretError};
use super::index::evaluate;
use super::machine::{Machine, Worker};
use super::order::Stamp;
use super::plan::PlannedAccess;
use super::storage::{MOST_DIMENSIONS, Storage};
use crate::tensor::round_to;

/// An access made ready for the points of one execution.
#[derive(Default)]
pub(super) struct Prepared {
    /// One storage, or those of all instances inside the current one.
    pub(super) storages: Vec<u32>,
    linear: bool,
    base: i64,
    coefficients: Vec<i64>,
    stamp: Stamp,
}

/// What an element has against an access.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    Unwritten,
    Race(Stamp, Action),
}

impl Machine<'_> {
    /// Makes an access ready for points `0..sizes` of its instruction's axes.
    pub(super) fn prepare(
        &mut self,
        access: &PlannedAccess<'_>,
        worker: &mut Worker,
        sizes: &[i64],
        prepared: &mut Prepared,
    ) -> Result<(), InterpretError> {
        self.resolve(access.slot, worker, &mut prepared.storages)?;
        let owned = self.storages[prepared.storages[0] as usize].owned;
        prepared.stamp = if owned { worker.own } else { worker.shared };
        prepared.linear = false;
        if access.wanders || sizes.contains(&0) {
            return Ok(());
        }
        let rank = access.indices.len();
        let (mut origin, mut low, mut high) =
            ([0; MOST_DIMENSIONS], [0; MOST_DIMENSIONS], [0; MOST_DIMENSIONS]);
        for (dimension, index) in access.indices.iter().enumerate() {
            let mut start = evaluate(&index.outer, worker);
            if let Some(lookup) = index.lookup {
                start += lookup.scale * self.look_up(lookup, worker)?;
            }
            origin[dimension] = start;
            (low[dimension], high[dimension]) = (start, start);
            for (&coefficient, &size) in index.axes.iter().zip(sizes) {
                let reach = coefficient * (size - 1);
                *(if reach < 0 { &mut low } else { &mut high })
                    .get_mut(dimension)
                    .expect("invariant: rank") += reach;
            }
        }
        let storage = &self.storages[prepared.storages[0] as usize];
        let inside = storage.contains(&low[..rank]) && storage.contains(&high[..rank]);
        if !inside || !storage.is_linear(&low[..rank], &high[..rank]) {
            return Ok(());
        }
        prepared.linear = true;
        prepared.base = storage.offset(&origin[..rank]) as i64;
        prepared.coefficients.clear();
        prepared.coefficients.extend((0..sizes.len()).map(|axis| {
            access
                .indices
                .iter()
                .zip(&storage.strides)
                .map(|(index, stride)| index.axes[axis] * stride)
                .sum::<i64>()
        }));
        Ok(())
    }

    /// Checks indices and finds the element.
    pub(super) fn locate(
        &self,
        storage: u32,
        indices: &[i64],
        action: Action,
    ) -> Result<usize, InterpretError> {
        let storage = &self.storages[storage as usize];
        if storage.contains(indices) {
            return Ok(storage.offset(indices));
        }
        Err(InterpretError::OutOfRange {
            action,
            target: self.slot_name(storage.slot),
            indices: indices.to_vec(),
            shape: storage.shape.clone(),
        })
    }

    #[inline]
    fn offset(
        &mut self,
        access: &PlannedAccess<'_>,
        prepared: &Prepared,
        point: &[i64],
        worker: &Worker,
        action: Action,
    ) -> Result<usize, InterpretError> {
        if prepared.linear {
            let moved: i64 = prepared.coefficients.iter().zip(point).map(|(c, x)| c * x).sum();
            return Ok((prepared.base + moved) as usize);
        }
        let (indices, rank) = self.indices(access, worker)?;
        self.locate(prepared.storages[0], &indices[..rank], action)
    }

    /// Reads the element of an access at a point, which the worker's values hold too.
    #[inline]
    pub(super) fn read(
        &mut self,
        access: &PlannedAccess<'_>,
        prepared: &Prepared,
        point: &[i64],
        worker: &Worker,
    ) -> Result<f64, InterpretError> {
        let offset = self.offset(access, prepared, point, worker, Action::Read)?;
        let value = self
            .read_cell(prepared.storages[0], offset, prepared.stamp)
            .or_else(|fault| self.fault(fault, Action::Read, access, prepared.stamp, worker))?;
        for &storage in &prepared.storages[1..] {
            let other = self
                .read_cell(storage, offset, prepared.stamp)
                .or_else(|fault| self.fault(fault, Action::Read, access, prepared.stamp, worker))?;
            if other.to_bits() != value.to_bits() {
                let (indices, rank) = self.indices(access, worker)?;
                return Err(InterpretError::Disagreement {
                    target: self.slot_name(access.slot),
                    indices: indices[..rank].to_vec(),
                });
            }
        }
        Ok(value)
    }

    /// Writes the element of an access at a point, rounded to its type (block types: when the instruction ends).
    #[inline]
    pub(super) fn write(
        &mut self,
        access: &PlannedAccess<'_>,
        prepared: &Prepared,
        point: &[i64],
        worker: &Worker,
        value: f64,
    ) -> Result<(), InterpretError> {
        let offset = self.offset(access, prepared, point, worker, Action::Write)?;
        let data_type = self.storages[prepared.storages[0] as usize].data_type;
        if data_type.block().elements > 1 {
            let (indices, rank) = self.indices(access, worker)?;
            for &storage in &prepared.storages {
                self.note_block(storage, &indices[..rank]);
            }
        }
        let value = round_to(data_type, value);
        for &storage in &prepared.storages {
            self.write_cell(storage, offset, prepared.stamp, value)
                .or_else(|fault| self.fault(fault, Action::Write, access, prepared.stamp, worker))?;
        }
        Ok(())
    }

    /// Where a write without rounding goes: for sums that are rounded once at the end.
    pub(super) fn write_exact(
        &mut self,
        access: &PlannedAccess<'_>,
        prepared: &Prepared,
        point: &[i64],
        worker: &Worker,
        value: f64,
    ) -> Result<usize, InterpretError> {
        let offset = self.offset(access, prepared, point, worker, Action::Write)?;
        for &storage in &prepared.storages {
            self.write_cell(storage, offset, prepared.stamp, value)
                .or_else(|fault| self.fault(fault, Action::Write, access, prepared.stamp, worker))?;
        }
        Ok(offset)
    }

    /// Reads an element of one storage on behalf of the whole scope instance.
    pub(super) fn read_at(
        &mut self,
        access: &PlannedAccess<'_>,
        storage: u32,
        indices: &[i64],
        worker: &Worker,
    ) -> Result<f64, InterpretError> {
        let offset = self.locate(storage, indices, Action::Read)?;
        let stamp = if self.storages[storage as usize].owned { worker.own } else { worker.shared };
        self.read_cell(storage, offset, stamp)
            .or_else(|fault| self.fault(fault, Action::Read, access, stamp, worker))
    }

    /// Writes an element of one storage on behalf of the whole scope instance.
    pub(super) fn write_at(
        &mut self,
        access: &PlannedAccess<'_>,
        storage: u32,
        indices: &[i64],
        worker: &Worker,
        value: f64,
    ) -> Result<(), InterpretError> {
        let offset = self.locate(storage, indices, Action::Write)?;
        let Storage { data_type, owned, .. } = self.storages[storage as usize];
        if data_type.block().elements > 1 {
            self.note_block(storage, indices);
        }
        let stamp = if owned { worker.own } else { worker.shared };
        self.write_cell(storage, offset, stamp, round_to(data_type, value))
            .or_else(|fault| self.fault(fault, Action::Write, access, stamp, worker))
    }

    fn note_block(&mut self, storage: u32, indices: &[i64]) {
        let mut first = indices.to_vec();
        if let Some(last) = first.last_mut() {
            *last -= *last % BLOCK as i64;
        }
        *self.blocks.entry((storage, first)).or_insert(0) += 1;
    }

    #[inline]
    pub(super) fn read_cell(&mut self, storage: u32, offset: usize, stamp: Stamp) -> Result<f64, Fault> {
        let cell = &mut self.storages[storage as usize].cells[offset];
        if !cell.is_written() {
            return Err(Fault::Unwritten);
        }
        cell.read(stamp, &mut self.order).map_err(|writer| Fault::Race(writer, Action::Write))
    }

    #[inline]
    fn write_cell(&mut self, storage: u32, offset: usize, stamp: Stamp, value: f64) -> Result<(), Fault> {
        let cell = &mut self.storages[storage as usize].cells[offset];
        cell.write(value, stamp, &mut self.order)
            .map_err(|(other, wrote)| Fault::Race(other, if wrote { Action::Write } else { Action::Read }))
    }

    #[cold]
    fn fault<T>(
        &mut self,
        fault: Fault,
        action: Action,
        access: &PlannedAccess<'_>,
        stamp: Stamp,
        worker: &Worker,
    ) -> Result<T, InterpretError> {
        let (indices, rank) = self.indices(access, worker)?;
        let (target, indices) = (self.slot_name(access.slot), indices[..rank].to_vec());
        Err(self.explain(fault, action, target, indices, stamp))
    }

    pub(super) fn explain(
        &self,
        fault: Fault,
        second_action: Action,
        target: String,
        indices: Vec<i64>,
        stamp: Stamp,
    ) -> InterpretError {
        match fault {
            Fault::Unwritten => InterpretError::Uninitialised { target, indices },
            Fault::Race(other, first_action) => InterpretError::Race {
                target,
                indices,
                first_action,
                first: self.order.describe(other, &self.program.resources),
                second_action,
                second: self.order.describe(stamp, &self.program.resources),
            },
        }
    }
}
