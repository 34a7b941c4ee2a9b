//! Points one gene away from another.

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_genome::mutation::{Jump, shuffle, with};
use tilewright_genome::{Genome, Mutation, SearchSpace};

use super::searcher::Context;

/// Values of one gene that count as neighbours: the nearest, and of a longer list a random rest.
const MOST_VALUES: usize = 16;
/// Of those, the nearest.
const NEAREST: usize = 8;
/// Changes before a genome that is not new is given up.
const MOST_CHANGES: u32 = 3;

/// Neighbours of one genome in a random order, each given once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Neighbours {
    genome: Genome,
    /// Gene and value of each move that is left.
    moves: Vec<(u16, u16)>,
}

impl Neighbours {
    /// All neighbours of a genome; of ordered genes only values at most `reach` places away, where given.
    pub(super) fn of(context: Context<'_>, genome: &Genome, reach: Option<usize>, rng: &mut dyn Rng) -> Self {
        let mut moves = Vec::new();
        for axis in context.axes.iter() {
            let here = genome.0[axis.gene];
            let mut open = context.space.open_values(genome, axis.gene);
            open.retain(|&index| index != here);
            if axis.ordered {
                if let Some(reach) = reach {
                    open = nearest_on_both_sides(&open, here, reach);
                }
                open.sort_by_key(|&index| index.abs_diff(here));
                if open.len() > MOST_VALUES {
                    shuffle(&mut open[NEAREST..], rng);
                }
            } else {
                shuffle(&mut open, rng);
            }
            moves.extend(open.into_iter().take(MOST_VALUES).map(|index| (axis.gene as u16, index)));
        }
        shuffle(&mut moves, rng);
        Self { genome: genome.clone(), moves }
    }

    /// The next neighbour; genes that no longer fit move to the nearest open value.
    pub(super) fn next(&mut self, space: &SearchSpace, rng: &mut dyn Rng) -> Option<Genome> {
        while let Some((gene, index)) = self.moves.pop() {
            let neighbour = with(space, &self.genome, usize::from(gene), index, rng);
            if neighbour.is_some() {
                return neighbour;
            }
        }
        None
    }
}

/// Open values of a gene that are at most `reach` open places away from where it is.
fn nearest_on_both_sides(open: &[u16], here: u16, reach: usize) -> Vec<u16> {
    let above = open.partition_point(|&index| index < here);
    open[above.saturating_sub(reach)..(above + reach).min(open.len())].to_vec()
}

/// The genome itself where it is new, else one a few random changes away from it.
pub(super) fn freshened(context: Context<'_>, genome: Genome, rng: &mut dyn Rng) -> Option<Genome> {
    let mut fresh = genome;
    for _ in 0..MOST_CHANGES {
        if context.memory.is_new(&fresh) {
            return Some(fresh);
        }
        fresh = random_neighbour(context, &fresh, rng)?;
    }
    Some(fresh)
}

/// One random neighbour: a random gene, then any of its other values.
pub(super) fn random_neighbour(context: Context<'_>, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
    Jump.apply(context.space, genome, rng)
}
