use std::collections::BTreeMap;

use rand::{Rng, RngExt};

use crate::genome::Genome;
use crate::mutation::keep;
use crate::space::SearchSpace;

/// A legal child that takes each group of genes from one of two parents, drawn with equal chances.
///
/// Where a gene of one parent does not fit those of the other, it moves to the nearest open value. `None`
/// when a parent is not legal, or the child equals one of them.
///
/// Uniform crossover (Syswerda 1989), by group: genes that are decided together stay together.
pub fn crossover(space: &SearchSpace, first: &Genome, second: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
    let parents = [keep(space, first)?, keep(space, second)?];
    let mut choice: BTreeMap<&str, bool> = BTreeMap::new();
    let wishes: Vec<_> = space
        .genes()
        .iter()
        .enumerate()
        .map(|(at, gene)| {
            let from_second = *choice.entry(&gene.group).or_insert_with(|| rng.random());
            parents[usize::from(from_second)][at].clone()
        })
        .collect();
    space.complete(&wishes, rng).filter(|child| child != first && child != second)
}
