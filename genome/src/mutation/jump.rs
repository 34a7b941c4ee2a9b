//! Gives one gene any other open value: every value is one mutation away.

use rand::Rng;

use super::{Mutation, active_genes, with};
use crate::genome::Genome;
use crate::sampling;
use crate::space::SearchSpace;

/// See the module.
#[derive(Debug)]
pub struct Jump;

impl Mutation for Jump {
    fn id(&self) -> &'static str {
        "jump"
    }

    fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
        let meanings = space.meanings(genome).ok()?;
        active_genes(space, &meanings, rng, |_| true).into_iter().find_map(|gene| {
            let mut open = space.open_values(genome, gene);
            open.retain(|&index| index != genome.0[gene]);
            let index = sampling::draw(&open, space.genes()[gene].sampling, rng)?;
            with(space, genome, gene, index, rng)
        })
    }
}
