//! What a method wants to remember of a proposal until it is told what became of it.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

/// Proposals kept; a ranker may leave out most of what is proposed, and those are never told of.
const MOST: usize = 4_096;

/// Notes on proposals by genome; the oldest are forgotten when there are too many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Pending<T> {
    notes: BTreeMap<Genome, T>,
    order: VecDeque<Genome>,
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self { notes: BTreeMap::new(), order: VecDeque::new() }
    }
}

impl<T> Pending<T> {
    pub(super) fn note(&mut self, genome: Genome, note: T) {
        if self.notes.insert(genome.clone(), note).is_none() {
            self.order.push_back(genome);
        }
        // Notes that were taken leave their place in the order behind.
        while self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.notes.remove(&oldest);
            }
        }
    }

    pub(super) fn take(&mut self, genome: &Genome) -> Option<T> {
        let note = self.notes.remove(genome);
        while self.order.front().is_some_and(|oldest| !self.notes.contains_key(oldest)) {
            self.order.pop_front();
        }
        note
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_taken_once_and_old_ones_forgotten() {
        let mut pending = Pending::default();
        let genome = |at: usize| Genome([at as u16, (at >> 16) as u16].into());
        for at in 0..MOST + 10 {
            pending.note(genome(at), at);
        }
        assert_eq!(pending.take(&genome(9)), None);
        assert_eq!(pending.take(&genome(10)), Some(10));
        assert_eq!(pending.take(&genome(10)), None);
        assert_eq!(pending.take(&genome(MOST + 9)), Some(MOST + 9));
    }
}
