//! Doubles one number and halves another: a tile that grows along one axis and shrinks along another keeps
//! its footprint.

use rand::Rng;
use tilewright_ir::ScheduleValue;

use super::{Mutation, active_genes, keep, number};
use crate::genome::Genome;
use crate::space::{SearchSpace, Wish};

/// See the module.
#[derive(Debug)]
pub struct Trade;

/// Pairs tried before there is nothing to do.
const MOST_PAIRS: usize = 16;

impl Mutation for Trade {
    fn id(&self) -> &'static str {
        "trade"
    }

    fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
        let meanings = space.meanings(genome).ok()?;
        let ordered = active_genes(space, &meanings, rng, |gene| {
            space.genes()[gene].is_ordered() && number(meanings[gene].as_ref()).is_some_and(|now| now > 0)
        });
        let pairs = ordered
            .iter()
            .flat_map(|&up| ordered.iter().map(move |&down| (up, down)))
            .filter(|(up, down)| up != down);
        pairs.take(MOST_PAIRS).find_map(|(up, down)| {
            let mut wishes = keep(space, genome)?;
            let value = |gene: usize| number(meanings[gene].as_ref());
            wishes[up] = Wish::Near(ScheduleValue::Number(value(up)?.saturating_mul(2)));
            wishes[down] = Wish::Near(ScheduleValue::Number(value(down)? / 2));
            space
                .complete(&wishes, rng)
                .filter(|changed| [up, down].iter().all(|&gene| changed.0[gene] != genome.0[gene]))
        })
    }
}
