//! Exchanges two neighbours in an order of loops.
//!
//! An order is any gene whose choices are arrangements of the same letters (`mnk`, `mkn`, …); nothing here
//! knows which gene that is.

use rand::Rng;
use tilewright_ir::ScheduleValue;

use super::{Mutation, active_genes, shuffled, with};
use crate::gene::{Gene, Values};
use crate::genome::Genome;
use crate::space::SearchSpace;

/// See the module.
#[derive(Debug)]
pub struct SwapOrder;

impl Mutation for SwapOrder {
    fn id(&self) -> &'static str {
        "swap_order"
    }

    fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
        let meanings = space.meanings(genome).ok()?;
        let orders = active_genes(space, &meanings, rng, |gene| is_order(&space.genes()[gene]));
        orders.into_iter().find_map(|gene| {
            let letters: Vec<char> = space.genes()[gene].choice(genome.0[gene])?.chars().collect();
            shuffled((1..letters.len()).collect(), rng).into_iter().find_map(|at| {
                let mut swapped = letters.clone();
                swapped.swap(at - 1, at);
                let value = ScheduleValue::Name(swapped.into_iter().collect());
                with(space, genome, gene, space.genes()[gene].index_of(&value)?, rng)
            })
        })
    }
}

/// Whether all choices arrange the same letters.
fn is_order(gene: &Gene) -> bool {
    let Values::Categorical(choices) = &gene.values else { return false };
    let sorted = |choice: &String| {
        let mut letters: Vec<char> = choice.chars().collect();
        letters.sort_unstable();
        letters
    };
    choices.len() > 1 && choices.iter().all(|choice| sorted(choice) == sorted(&choices[0]))
}
