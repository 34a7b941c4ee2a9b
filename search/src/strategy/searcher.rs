//! The part that most strategies share: remembering what was tried, never proposing a point twice while new
//! ones remain, and going on at random where the method has nothing to say.

use std::collections::BTreeSet;
use std::fmt::Debug;

use rand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tilewright_genome::{Genome, SearchSpace};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::axes::Axes;
use super::design::Design;
use super::memory::{Memory, Observation};
use super::{Proposal, Strategy, StrategyEntry};
use crate::state::{self, StateError};

/// Proposals of a method that are not new before a random point is proposed instead.
const MOST_ATTEMPTS: u32 = 12;

/// What a method sees of the search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) space: &'a SearchSpace,
    pub(super) memory: &'a Memory,
    pub(super) axes: &'a Axes,
}

/// What is different between strategies.
pub(super) trait Method: Debug + Default + Send + Serialize + DeserializeOwned + 'static {
    const ID: &'static str;
    const SUMMARY: &'static str;
    /// Points that are known before the method is asked for the first time.
    const DESIGN: usize = 0;

    /// A legal point to try, `None` when the method has none; asked again when the point is not new.
    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal>;

    /// Learns from a judged point, which may be one that the method did not propose.
    fn learn(&mut self, context: Context<'_>, observation: &Observation);
}

/// A method with its memory.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Searcher<M> {
    memory: Memory,
    design: Design,
    method: M,
}

/// The line of the list for a method.
pub(super) const fn entry<M: Method>() -> StrategyEntry {
    StrategyEntry {
        id: M::ID,
        summary: M::SUMMARY,
        create: || Box::<Searcher<M>>::default(),
        restore: |bytes| {
            let searcher: Searcher<M> = state::read(bytes)?;
            Ok(Box::new(searcher))
        },
    }
}

impl<M: Method> Strategy for Searcher<M> {
    fn id(&self) -> &'static str {
        M::ID
    }

    fn ask(&mut self, space: &SearchSpace, count: usize, rng: &mut dyn Rng) -> Vec<Proposal> {
        let axes = Axes::of(space);
        let mut proposals: Vec<Proposal> = Vec::with_capacity(count);
        let mut taken: BTreeSet<Genome> = BTreeSet::new();
        while proposals.len() < count {
            let Self { memory, design, method } = self;
            let context = Context { space, memory, axes: &axes };
            let designed = design.next(context, M::DESIGN, rng).map(Proposal::random);
            let proposal = designed.or_else(|| {
                (0..MOST_ATTEMPTS).find_map(|_| {
                    method.propose(context, rng).filter(|proposal| memory.is_new(&proposal.genome))
                })
            });
            let Some(proposal) = proposal.or_else(|| {
                memory.unvisited(space, |genome| taken.contains(genome), rng).map(Proposal::random)
            }) else {
                break;
            };
            memory.note_asked(&proposal.genome);
            taken.insert(proposal.genome.clone());
            proposals.push(proposal);
        }
        proposals
    }

    fn tell(&mut self, space: &SearchSpace, judged: &[Judged<Trial>]) {
        let axes = Axes::of(space);
        for judged in judged {
            if let Some(observation) = self.memory.note_told(space, judged) {
                self.design.note(&observation.genome, M::DESIGN);
                let context = Context { space, memory: &self.memory, axes: &axes };
                self.method.learn(context, &observation);
            }
        }
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}
