//! State of a run: memory, barriers, and access to single elements.

use std::collections::BTreeMap;

use rand::Rng;

use super::data::PersistentStore;
use super::error::{Action, InterpretError};
use super::order::{Cell, NEVER, Order, Stamp};
use super::plan::{PlannedAccess, invalid};
use super::storage::{MOST_DIMENSIONS, Storage};
use crate::affine::{Affine, Constraint, Index};
use crate::program::{Count, Lifetime, Program};
use crate::tensor::round_to;

/// Not yet resolved, in [`Worker::bound`].
pub(super) const UNBOUND: u32 = u32::MAX;

/// A scope instance at work: what its statements read beside memory.
#[derive(Clone)]
pub(super) struct Worker {
    /// Values of all variables that have one.
    pub(super) values: Vec<i64>,
    /// Instance numbers, from the outermost resource in.
    pub(super) path: Vec<u32>,
    /// The same with each iteration of a dynamic loop as an instance of its own: whoever takes it, it may race.
    pub(super) race_path: Vec<u32>,
    /// Storage of each buffer that this instance alone sees.
    pub(super) bound: Vec<u32>,
    /// Stamp on what all share.
    pub(super) shared: Stamp,
    /// Stamp on what instances own, where the iterations of one instance do follow one another.
    pub(super) own: Stamp,
}

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
enum Fault {
    Unwritten,
    Race(Stamp, Action),
}

/// Memory and barriers of a run.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    /// Tensors first, in their order; then instances of buffers as they are met.
    pub(super) storages: Vec<Storage>,
    pub(super) instances: BTreeMap<(usize, Vec<u32>), u32>,
    /// Depth of each buffer's owner and its fixed shape.
    pub(super) buffers: Vec<(usize, Vec<u64>)>,
    pub(super) order: Order,
    pub(super) persistent: &'a PersistentStore,
    pub(super) rng: &'a mut dyn Rng,
    /// Blocks of block types that the current instruction has written, by first element, with their count.
    pub(super) blocks: BTreeMap<(u32, Vec<i64>), usize>,
}

impl Machine<'_> {
    /// The storage of a buffer for the instance `path` of its owner.
    pub(super) fn instance(&mut self, buffer: usize, path: &[u32]) -> u32 {
        if let Some(&storage) = self.instances.get(&(buffer, path.to_vec())) {
            return storage;
        }
        let declared = &self.program.buffers[buffer];
        let slot = self.program.tensors.len() + buffer;
        let shape = self.buffers[buffer].1.clone();
        let mut storage =
            Storage::buffer(slot, declared.data_type, shape, declared.layout.clone(), !path.is_empty());
        if declared.lifetime == Lifetime::Persistent
            && let Some(kept) = self.persistent.buffers.get(&(declared.name.clone(), path.to_vec()))
        {
            for (cell, value) in storage.cells.iter_mut().zip(kept) {
                if let Some(value) = value {
                    *cell = Cell::holding(*value);
                }
            }
        }
        self.storages.push(storage);
        let number = self.storages.len() as u32 - 1;
        self.instances.insert((buffer, path.to_vec()), number);
        number
    }

    /// Declares a buffer anew for every instance inside the worker's.
    pub(super) fn declare(&mut self, buffer: usize, worker: &Worker) {
        let inside = self.instances.range((buffer, worker.path.clone())..);
        for (_, &storage) in
            inside.take_while(|((other, path), _)| *other == buffer && path.starts_with(&worker.path))
        {
            self.storages[storage as usize].cells.iter_mut().for_each(Cell::forget);
        }
    }

    /// The storages that an access of this worker reaches.
    pub(super) fn resolve(
        &mut self,
        slot: usize,
        worker: &mut Worker,
        storages: &mut Vec<u32>,
    ) -> Result<(), InterpretError> {
        storages.clear();
        let Some(buffer) = slot.checked_sub(self.program.tensors.len()) else {
            storages.push(slot as u32);
            return Ok(());
        };
        let depth = self.buffers[buffer].0;
        if depth <= worker.path.len() {
            if worker.bound[buffer] == UNBOUND {
                worker.bound[buffer] = self.instance(buffer, &worker.path[..depth]);
            }
            storages.push(worker.bound[buffer]);
            return Ok(());
        }
        let mut paths = vec![worker.path.clone()];
        for resource in &self.program.resources[worker.path.len()..depth] {
            let Count::Fixed(count) = resource.count else {
                return invalid(format!(
                    "{} is used outside the loop over {}, a grid",
                    self.program.buffers[buffer].name, resource.name
                ));
            };
            let extend = |path: &Vec<u32>| {
                let path = path.clone();
                (0..count as u32).map(move |number| [path.as_slice(), &[number]].concat())
            };
            paths = paths.iter().flat_map(extend).collect();
        }
        storages.extend(paths.iter().map(|path| self.instance(buffer, path)));
        Ok(())
    }

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
            *last -= *last % super::block::BLOCK as i64;
        }
        *self.blocks.entry((storage, first)).or_insert(0) += 1;
    }

    #[inline]
    fn read_cell(&mut self, storage: u32, offset: usize, stamp: Stamp) -> Result<f64, Fault> {
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

    fn explain(
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

    /// Name of a tensor or buffer.
    pub(super) fn slot_name(&self, slot: usize) -> String {
        match slot.checked_sub(self.program.tensors.len()) {
            None => self.program.tensors[slot].name.clone(),
            Some(buffer) => self.program.buffers[buffer].name.clone(),
        }
    }

    /// Name of the scope at a depth.
    pub(super) fn scope_name(&self, depth: usize) -> String {
        match depth.checked_sub(1) {
            None => "device".to_owned(),
            Some(resource) => self.program.resources[resource].name.clone(),
        }
    }

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

    fn look_up(&mut self, lookup: &crate::affine::Lookup, worker: &Worker) -> Result<i64, InterpretError> {
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

    /// Current stamps of a worker, after barriers.
    pub(super) fn refresh(&mut self, worker: &mut Worker) {
        worker.own = self.order.enter(&worker.path, &worker.path);
        worker.shared = if worker.race_path == worker.path {
            worker.own
        } else {
            self.order.enter(&worker.race_path, &worker.path)
        };
    }

    /// A barrier of the scope instance at `depth` around the worker, or of all at `depth` inside it.
    pub(super) fn join(&mut self, worker: &Worker, depth: usize) {
        let paths = [&worker.path, &worker.race_path];
        let different = if worker.path == worker.race_path { 1 } else { 2 };
        for path in &paths[..different] {
            if depth <= path.len() {
                self.order.join(&path[..depth]);
            } else {
                self.order.join_inside(path, depth);
            }
        }
    }

    /// A worker that nothing has happened to yet.
    pub(super) fn worker(&self, values: Vec<i64>) -> Worker {
        Worker {
            values,
            path: Vec::new(),
            race_path: Vec::new(),
            bound: vec![UNBOUND; self.program.buffers.len()],
            shared: NEVER,
            own: NEVER,
        }
    }
}

/// Value of an affine expression.
#[inline]
pub(super) fn evaluate(affine: &Affine, worker: &Worker) -> i64 {
    affine.evaluate(|variable| worker.values[variable.0 as usize])
}
