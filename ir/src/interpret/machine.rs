//! State of a run: memory, barriers, and access to single elements.

use std::collections::BTreeMap;

use rand::Rng;

use super::data::PersistentStore;
use super::error::InterpretError;
use super::order::{Cell, NEVER, Order, Stamp};
use super::plan::invalid;
use super::storage::Storage;
use crate::program::{Count, Lifetime, Program};

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
            // Of another shape (run-time extents differ): as if never written.
            && kept.len() == storage.cells.len()
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
