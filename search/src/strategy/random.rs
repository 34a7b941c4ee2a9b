//! Random search: legal genomes by the space's own distribution, never the same one twice. The yardstick that
//! every other strategy has to beat.
//!
//! Bergstra & Bengio 2012, "Random search for hyper-parameter optimization".

use std::collections::BTreeSet;

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_genome::{Genome, SearchSpace};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::{Proposal, Strategy, StrategyEntry};
use crate::state::{self, StateError};

pub(super) const ENTRY: StrategyEntry = StrategyEntry {
    id: "random",
    summary: "random legal genomes; the yardstick",
    create: || Box::<RandomSearch>::default(),
    restore: |bytes| Ok(Box::new(state::read::<RandomSearch>(bytes)?)),
};

/// Draws without a new genome before there is nothing left to try.
pub(super) const MOST_REPEATS: u32 = 200;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RandomSearch {
    proposed: BTreeSet<Genome>,
}

impl Strategy for RandomSearch {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn ask(&mut self, space: &SearchSpace, count: usize, rng: &mut dyn Rng) -> Vec<Proposal> {
        let mut proposals = Vec::with_capacity(count);
        let mut repeats = 0;
        while proposals.len() < count && repeats < MOST_REPEATS {
            let genome = space.sample(rng);
            if self.proposed.insert(genome.clone()) {
                proposals.push(Proposal { genome, operator: None, parent: None });
                repeats = 0;
            } else {
                repeats += 1;
            }
        }
        proposals
    }

    fn tell(&mut self, _space: &SearchSpace, _judged: &[Judged<Trial>]) {}

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}
