//! Copies a gene from the default: undoes what a lineage has picked up by chance.

use rand::Rng;
use tilewright_ir::ScheduleValue;

use super::{Mutation, keep, shuffled};
use crate::genome::Genome;
use crate::space::{SearchSpace, Wish};

/// See the module.
#[derive(Debug)]
pub struct CopyDefault;

impl Mutation for CopyDefault {
    fn id(&self) -> &'static str {
        "copy_default"
    }

    fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
        let wishes = keep(space, genome)?;
        let meanings: Vec<Option<ScheduleValue>> = space.meanings(space.default_genome()).ok()?;
        shuffled((0..wishes.len()).collect(), rng).into_iter().find_map(|gene| {
            let wish = Wish::Near(meanings[gene].clone()?);
            if wishes[gene] == wish {
                return None;
            }
            let mut wishes = wishes.clone();
            wishes[gene] = wish;
            space.complete(&wishes, rng).filter(|changed| changed != genome)
        })
    }
}
