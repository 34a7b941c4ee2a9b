//! Exchange between the instances of a resource.

use super::error::InterpretError;
use super::evaluate::combine;
use super::instruction::Execution;
use super::machine::{Machine, Worker};
use crate::program::{CollectiveKind, Combine};

impl Machine<'_> {
    /// Everything before it, in any instance, comes before the exchange, and that before everything after it.
    pub(super) fn collective(
        &mut self,
        execution: &mut Execution<'_, '_>,
        worker: &mut Worker,
        kind: CollectiveKind,
    ) -> Result<(), InterpretError> {
        let depth = worker.path.len();
        self.join(worker, depth);
        self.refresh(worker);
        self.exchange(execution, worker, kind)?;
        self.join(worker, depth);
        self.refresh(worker);
        Ok(())
    }

    fn exchange(
        &mut self,
        execution: &mut Execution<'_, '_>,
        worker: &mut Worker,
        kind: CollectiveKind,
    ) -> Result<(), InterpretError> {
        if execution.sizes.contains(&0) {
            return Ok(());
        }
        let planned = execution.planned;
        let (destination, source) = (&planned.accesses[0], &planned.accesses[1]);
        let (mut destinations, mut sources) = (Vec::new(), Vec::new());
        self.resolve(destination.slot, worker, &mut destinations)?;
        self.resolve(source.slot, worker, &mut sources)?;
        let row = |storage: u32| self.storages[storage as usize].shape.last().map_or(1, |&n| n as i64);
        let part = match kind {
            CollectiveKind::AllGather => row(sources[0]),
            CollectiveKind::ReduceScatter(_) => row(destinations[0]),
            CollectiveKind::AllReduce(_) | CollectiveKind::Broadcast => 0,
        };
        let sizes = execution.sizes.clone();
        loop {
            if planned.mask.is_empty() || self.holds(&planned.mask, worker)? {
                let (mut to, to_rank) = self.indices(destination, worker)?;
                let (mut from, from_rank) = self.indices(source, worker)?;
                let (to, from) = (&mut to[..to_rank], &mut from[..from_rank]);
                match kind {
                    CollectiveKind::Broadcast => {
                        let value = self.read_at(source, sources[0], from, worker)?;
                        for &storage in &destinations {
                            self.write_at(destination, storage, to, worker, value)?;
                        }
                    }
                    CollectiveKind::AllReduce(how) => {
                        let value = self.combined(source, &sources, from, worker, how)?;
                        for &storage in &destinations {
                            self.write_at(destination, storage, to, worker, value)?;
                        }
                    }
                    CollectiveKind::AllGather => {
                        for &storage in &sources {
                            let value = self.read_at(source, storage, from, worker)?;
                            for &storage in &destinations {
                                self.write_at(destination, storage, to, worker, value)?;
                            }
                            to.iter_mut().last().into_iter().for_each(|last| *last += part);
                        }
                    }
                    CollectiveKind::ReduceScatter(how) => {
                        for &storage in &destinations {
                            let value = self.combined(source, &sources, from, worker, how)?;
                            self.write_at(destination, storage, to, worker, value)?;
                            from.iter_mut().last().into_iter().for_each(|last| *last += part);
                        }
                    }
                }
            }
            if !execution.next(&planned.order, &sizes, worker) {
                return Ok(());
            }
        }
    }

    /// The combination of one element over all instances, in their order.
    fn combined(
        &mut self,
        source: &super::plan::PlannedAccess<'_>,
        storages: &[u32],
        indices: &[i64],
        worker: &Worker,
        how: Combine,
    ) -> Result<f64, InterpretError> {
        let mut result = super::evaluate::identity(how);
        for &storage in storages {
            result = combine(how, result, self.read_at(source, storage, indices, worker)?);
        }
        Ok(result)
    }
}
