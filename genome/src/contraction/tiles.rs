//! Into what pieces loops cut an axis.

use super::facts::{Facts, K, MOST_STEPS, Threads};
use super::rules::ContractionRules;

impl ContractionRules {
    /// Elements of an axis that a thread gets when it is dealt in blocks.
    pub(super) fn share(&self, axis: usize, register: u64) -> u64 {
        let tiles = self.extents[axis].div_ceil(register);
        tiles.div_ceil(self.workers) * register
    }

    /// Reduction steps of one of `split` slices.
    pub(super) fn slice(&self, split: u64, register: u64) -> u64 {
        self.extents[K].div_ceil(split).next_multiple_of(register.max(1))
    }

    /// Whether no slice is empty.
    pub(super) fn splits(&self, split: u64, register: u64) -> bool {
        (split - 1).saturating_mul(self.slice(split, register)) < self.extents[K]
    }

    /// Lengths that the loop around the cache tile leaves to it: a thread's share or a slice, and a shorter
    /// last one.
    fn lengths(&self, axis: usize, facts: &Facts) -> [u64; 2] {
        let extent = self.extents[axis];
        let register = facts.register[axis];
        let piece = match facts.threads {
            Threads::Outer(shared) if shared == axis && !facts.cyclic => self.share(axis, register),
            Threads::Split if axis == K => self.slice(facts.split, register),
            _ => extent,
        };
        match extent % piece.min(extent) {
            0 => [piece.min(extent); 2],
            last => [piece, last],
        }
    }

    /// Notes what a cache tile of `tile` elements means for the genes behind it.
    pub(super) fn note_tile(&self, axis: usize, tile: u64, facts: &mut Facts) {
        let register = facts.register[axis].max(1);
        let lengths = self.lengths(axis, facts);
        let shortened = lengths[0] != lengths[1];
        // A slice's length is known only when it runs; shares of a loop are peeled into two lengths.
        let ragged = shortened && axis == K && facts.threads == Threads::Split;
        let full = tile.min(lengths[0]);
        let copy_step = self.copy_steps(full);
        let (mut rest, mut copy_rest) = (shortened && !ragged, ragged);
        for length in lengths {
            for piece in [tile.min(length), length % tile.min(length)] {
                rest |= piece % register != 0;
                copy_rest |= piece % copy_step != 0;
            }
            rest |= length % tile.min(length) != 0;
        }
        if ragged {
            rest = tile < lengths[0] || register > 1;
        }
        // A peeled last step is a body of its own: only full steps repeat.
        let full_steps = (full / register).clamp(1, MOST_STEPS);
        facts.whole[axis] = tile == self.extents[axis];
        facts.rest[axis] = rest;
        facts.alone[axis] = register >= self.extents[axis];
        facts.register[axis] = 0;
        if axis == K {
            facts.ragged = ragged;
            facts.copy_rest = copy_rest && !facts.lanes_along_k;
            facts.steps = 1 << full_steps.ilog2();
            facts.split = 1;
            facts.cyclic = false;
        } else {
            facts.several[axis] = full > register;
        }
    }

    /// Reduction steps that one packing instruction copies where lanes run along the columns.
    pub(super) fn copy_steps(&self, range: u64) -> u64 {
        self.lanes.min(range)
    }
}
