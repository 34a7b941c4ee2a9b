//! The stack frame: places relative to the stack pointer, which is aligned to 64 bytes.

use super::tree::ClassId;

/// The stack pointer on entry.
pub(super) const CALLER_STACK: i64 = 0;
/// This worker's number.
pub(super) const WORKER: i64 = 8;
/// Address of the barrier.
pub(super) const BARRIER: i64 = 16;
const FIRST_FREE: i64 = 24;

/// Places given out so far.
#[derive(Debug)]
pub(super) struct Frame {
    end: i64,
    /// By class.
    bases: Vec<Option<i64>>,
    loops: Vec<i64>,
    scratch: Option<i64>,
    spills: Vec<i64>,
}

impl Frame {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            end: FIRST_FREE,
            bases: vec![None; classes],
            loops: Vec::new(),
            scratch: None,
            spills: Vec::new(),
        }
    }

    /// A new place of `bytes` bytes, aligned to its size.
    pub(super) fn slot(&mut self, bytes: i64) -> i64 {
        let at = (self.end + bytes - 1) / bytes * bytes;
        self.end = at + bytes;
        at
    }

    /// Where the entry leaves a base address.
    pub(super) fn base_slot(&mut self, class: ClassId) -> i64 {
        if let Some(slot) = self.bases[class] {
            return slot;
        }
        let slot = self.slot(8);
        self.bases[class] = Some(slot);
        slot
    }

    /// Bases in use, with their places.
    pub(super) fn bases(&self) -> impl Iterator<Item = (ClassId, i64)> + '_ {
        self.bases.iter().enumerate().filter_map(|(class, slot)| slot.map(|slot| (class, slot)))
    }

    /// Place of a loop's counter or address that found no register.
    pub(super) fn loop_slot(&mut self, number: usize) -> i64 {
        while self.loops.len() <= number {
            let slot = self.slot(8);
            self.loops.push(slot);
        }
        self.loops[number]
    }

    /// A place for one vector, for use inside one operation.
    pub(super) fn scratch(&mut self) -> i64 {
        if let Some(slot) = self.scratch {
            return slot;
        }
        let slot = self.slot(64);
        self.scratch = Some(slot);
        slot
    }

    /// A place for a vector register that is needed for something else for a while.
    pub(super) fn spill_slot(&mut self, number: usize) -> i64 {
        while self.spills.len() <= number {
            let slot = self.slot(64);
            self.spills.push(slot);
        }
        self.spills[number]
    }

    /// Bytes in all.
    pub(super) fn bytes(&self) -> i64 {
        (self.end + 63) / 64 * 64
    }
}
