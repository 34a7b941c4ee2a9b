//! Iterated local search: from a point to any faster neighbour until there is none, then a leap from the best
//! such end to a place near it, and on from there.
//!
//! Lourenço, Martin & Stützle 2003, "Iterated local search".

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

use super::Proposal;
use super::memory::Observation;
use super::neighbours::{Neighbours, random_neighbour};
use super::searcher::{Context, Method};

/// Fewest and most genes that a leap changes; it grows with each descent in vain.
const LEAP: (usize, usize) = (2, 6);
/// Known points that one proposal may pass: a descent among them costs no evaluation.
const MOST_PASSED: u32 = 400;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct IteratedLocalSearch {
    here: Option<Observation>,
    /// Neighbours of `here` that were not looked at.
    neighbours: Option<Neighbours>,
    /// The best end of a descent.
    home: Option<Observation>,
    /// Where the search leapt to, until that is judged.
    landing: Option<Genome>,
    /// Descents since `home` changed.
    in_vain: usize,
}

impl IteratedLocalSearch {
    fn go(&mut self, there: &Observation) {
        self.here = Some(there.clone());
        self.neighbours = None;
    }

    /// Notes the end of a descent and leaps from the best one.
    fn leap(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        let end = self.here.clone()?;
        if self.home.as_ref().is_none_or(|home| end.beats(home)) {
            self.home = Some(end.clone());
            self.in_vain = 0;
        } else {
            self.in_vain += 1;
        }
        let home = self.home.clone().unwrap_or(end);
        let farthest = (LEAP.0 + self.in_vain / 2).min(LEAP.1);
        let mut genome = home.genome.clone();
        for _ in 0..rng.random_range(LEAP.0..=farthest) {
            genome = random_neighbour(context, &genome, rng)?;
        }
        if let Some(known) = context.memory.observation(&genome) {
            self.go(&known);
            return None;
        }
        self.landing = Some(genome.clone());
        Some(Proposal::child(genome, "leap", home.trial))
    }
}

impl Method for IteratedLocalSearch {
    const ID: &'static str = "local-search";
    const SUMMARY: &'static str = "iterated local search, first improvement";
    const DESIGN: usize = 8;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        for _ in 0..MOST_PASSED {
            let here = self.here.clone()?;
            let neighbours =
                self.neighbours.get_or_insert_with(|| Neighbours::of(context, &here.genome, None, rng));
            let Some(genome) = neighbours.next(context.space, rng) else {
                return self.leap(context, rng);
            };
            if context.memory.is_new(&genome) {
                return Some(Proposal::child(genome, "neighbour", here.trial));
            }
            if let Some(known) = context.memory.observation(&genome)
                && known.beats(&here)
            {
                self.go(&known);
            }
        }
        None
    }

    fn learn(&mut self, _context: Context<'_>, observation: &Observation) {
        if self.landing.as_ref() == Some(&observation.genome) {
            self.landing = None;
            self.go(observation);
        } else if self.here.as_ref().is_none_or(|here| observation.beats(here)) {
            self.go(observation);
        }
    }
}
