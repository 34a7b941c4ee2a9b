//! Exchanges loops in an order, as few as possible.
//!
//! An order is any gene whose choices are arrangements of the same letters (`mnk`, `mkn`, …); nothing here
//! knows which gene that is. Neighbouring loops are exchanged where that order is open, else the open order
//! with the fewest exchanges is taken: where a loop is missing, only one order stands for several.

use rand::Rng;

use super::{Mutation, active_genes, with};
use crate::gene::{Gene, Values};
use crate::genome::Genome;
use crate::sampling;
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
            let letters = |index: u16| space.genes()[gene].choice(index).unwrap_or_default();
            let here = genome.0[gene];
            let open = space.open_values(genome, gene).into_iter().filter(|&index| index != here);
            let exchanges: Vec<(usize, u16)> =
                open.map(|index| (inversions(letters(here), letters(index)), index)).collect();
            let fewest = exchanges.iter().map(|(count, _)| *count).min()?;
            let nearest: Vec<u16> =
                exchanges.into_iter().filter(|(count, _)| *count == fewest).map(|(_, index)| index).collect();
            with(space, genome, gene, sampling::uniform(&nearest, rng)?, rng)
        })
    }
}

/// Pairs of letters that stand in one order in `first` and in the other in `second`.
fn inversions(first: &str, second: &str) -> usize {
    let places: Vec<usize> = first.chars().filter_map(|letter| second.find(letter)).collect();
    let pairs = places.iter().enumerate();
    pairs.map(|(at, place)| places[at + 1..].iter().filter(|later| *later < place).count()).sum()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_are_counted_in_pairs() {
        assert_eq!(inversions("mnk", "mnk"), 0);
        assert_eq!(inversions("mnk", "mkn"), 1);
        assert_eq!(inversions("mnk", "kmn"), 2);
        assert_eq!(inversions("mnk", "knm"), 3);
    }
}
