//! Draws all genes of one group anew: what belongs together changes together.

use std::collections::BTreeSet;

use rand::Rng;

use super::{Mutation, keep, shuffled};
use crate::genome::Genome;
use crate::space::{SearchSpace, Wish};

/// See the module.
#[derive(Debug)]
pub struct ResampleGroup;

impl Mutation for ResampleGroup {
    fn id(&self) -> &'static str {
        "resample_group"
    }

    fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
        let wishes = keep(space, genome)?;
        let groups: BTreeSet<&str> = space.genes().iter().map(|gene| gene.group.as_str()).collect();
        let groups: Vec<&str> = groups.into_iter().collect();
        shuffled((0..groups.len()).collect(), rng).into_iter().find_map(|group| {
            let mut wishes = wishes.clone();
            for (wish, gene) in wishes.iter_mut().zip(space.genes()) {
                if gene.group == groups[group] {
                    *wish = Wish::Free;
                }
            }
            space.complete(&wishes, rng).filter(|changed| changed != genome)
        })
    }
}
