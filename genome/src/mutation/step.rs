//! Moves an ordered gene to a neighbouring open value: the fine end of the search.
//!
//! A list of many values is crossed by steps of 1, 2, 4 … up to a sixteenth of it, so that a long list is no
//! longer walk than a short one.

use rand::{Rng, RngExt};

use super::{Mutation, active_genes, with};
use crate::genome::Genome;
use crate::space::SearchSpace;

/// See the module.
#[derive(Debug)]
pub struct Step;

impl Mutation for Step {
    fn id(&self) -> &'static str {
        "step"
    }

    fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
        let meanings = space.meanings(genome).ok()?;
        let ordered = active_genes(space, &meanings, rng, |gene| space.genes()[gene].is_ordered());
        ordered.into_iter().find_map(|gene| {
            let open = space.open_values(genome, gene);
            let here = open.iter().position(|&index| index == genome.0[gene])?;
            let doublings = (open.len() / 16).max(1).ilog2();
            let far = 1_usize << rng.random_range(0..=doublings);
            let (down, up) = (here.saturating_sub(far), (here + far).min(open.len() - 1));
            let first = if rng.random() { [down, up] } else { [up, down] };
            first
                .into_iter()
                .filter(|&there| there != here)
                .find_map(|there| with(space, genome, gene, open[there], rng))
        })
    }
}
