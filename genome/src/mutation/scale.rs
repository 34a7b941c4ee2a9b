//! Doubles or halves a number: sizes matter by their ratio to a cache or a register file.

use rand::{Rng, RngExt};
use tilewright_ir::ScheduleValue;

use super::{Mutation, active_genes, keep, number};
use crate::genome::Genome;
use crate::space::{SearchSpace, Wish};

/// See the module.
#[derive(Debug)]
pub struct Scale;

impl Mutation for Scale {
    fn id(&self) -> &'static str {
        "scale"
    }

    fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
        let meanings = space.meanings(genome).ok()?;
        let ordered = active_genes(space, &meanings, rng, |gene| space.genes()[gene].is_ordered());
        ordered.into_iter().find_map(|gene| {
            let now = number(meanings[gene].as_ref())?;
            let mut targets = [now.saturating_mul(2), now / 2];
            if rng.random() {
                targets.swap(0, 1);
            }
            targets.into_iter().filter(|&target| target != now).find_map(|target| {
                let mut wishes = keep(space, genome)?;
                wishes[gene] = Wish::Near(ScheduleValue::Number(target));
                space.complete(&wishes, rng).filter(|changed| changed.0[gene] != genome.0[gene])
            })
        })
    }
}
