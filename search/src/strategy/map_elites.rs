//! MAP-Elites: the fastest point of each kind is kept, and any of them can have children.
//!
//! A kind is a cell of a grid over the genes with the most values, so that the archive holds fast points of
//! very different sizes. Mouret & Clune 2015, "Illuminating search spaces by mapping elites".

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

use super::Proposal;
use super::axes::Axes;
use super::genetic::{child, ranked};
use super::memory::{Observation, by_score};
use super::searcher::{Context, Method};

/// Genes that the grid is over.
const GENES: usize = 3;
/// Cells along each of them.
const CELLS: u8 = 4;
/// Share of parents drawn from all cells alike; the others are drawn by rank.
const CURIOUS: f64 = 0.3;
/// Share of children that begin with a crossover.
const CROSSOVER: f64 = 0.5;
/// Probability of one more mutation.
const MUTATION: f64 = 0.4;

type Cell = [u8; GENES];

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct MapElites {
    elites: BTreeMap<Cell, Observation>,
}

impl MapElites {
    fn parent<'a>(best_first: &'a [Observation], rng: &mut dyn Rng) -> &'a Observation {
        if rng.random::<f64>() < CURIOUS {
            &best_first[rng.random_range(0..best_first.len())]
        } else {
            ranked(best_first, rng)
        }
    }
}

impl Method for MapElites {
    const ID: &'static str = "map-elites";
    const SUMMARY: &'static str = "the fastest of each kind, and their children";
    const DESIGN: usize = 20;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        if self.elites.is_empty() {
            return None;
        }
        let mut best_first: Vec<Observation> = self.elites.values().cloned().collect();
        best_first.sort_by(|first, second| by_score(first.score, second.score));
        let parents = [Self::parent(&best_first, rng), Self::parent(&best_first, rng)];
        let genome = child(context, parents, CROSSOVER, MUTATION, rng)?;
        Some(Proposal::child(genome, "elite", parents[0].trial))
    }

    fn learn(&mut self, context: Context<'_>, observation: &Observation) {
        let cell = cell_of(context.axes, &observation.genome);
        match self.elites.get_mut(&cell) {
            Some(elite) if !observation.beats(elite) => {}
            Some(elite) => *elite = observation.clone(),
            None => {
                self.elites.insert(cell, observation.clone());
            }
        }
    }
}

/// The cell of a genome: where it lies along the genes with the most values.
fn cell_of(axes: &Axes, genome: &Genome) -> Cell {
    let mut longest: Vec<_> = axes.iter().collect();
    longest.sort_by_key(|axis| (std::cmp::Reverse(axis.values), axis.gene));
    let mut cell = [0; GENES];
    for (place, axis) in cell.iter_mut().zip(longest) {
        *place = ((axis.place(genome.0[axis.gene]) * f64::from(CELLS)) as u8).min(CELLS - 1);
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn the_fastest_of_each_cell_stays() {
        let space = synthetic::space();
        let axes = Axes::of(&space);
        let memory = super::super::memory::Memory::default();
        let context = Context { space: &space, memory: &memory, axes: &axes };
        let mut method = MapElites::default();
        let mut learn = |genome: [u16; 6], score| {
            method.learn(context, &Observation { genome: Genome(genome.into()), trial: 0, score });
            method.elites.values().map(|elite| elite.score).collect::<Vec<_>>()
        };
        assert_eq!(learn([0, 0, 0, 0, 0, 0], None), [None]);
        assert_eq!(learn([0, 0, 0, 1, 0, 0], Some(1.0)), [Some(1.0)]);
        assert_eq!(learn([0, 0, 0, 2, 0, 0], Some(2.0)), [Some(1.0)]);
        assert_eq!(learn([0, 0, 1023, 2, 0, 0], Some(2.0)), [Some(1.0), Some(2.0)]);
    }
}
