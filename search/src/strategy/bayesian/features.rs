//! What a forest sees of a genome.

use tilewright_genome::Genome;

use super::forest::Dimension;
use crate::strategy::searcher::Context;

/// Genes whose products are seen: of more, the number of products would grow beyond what is worth it.
const MOST_FACTORS: usize = 10;

/// Each gene's place, then the logarithm of the product of each two numbers.
#[derive(Debug)]
pub(super) struct Features {
    dimensions: Vec<Dimension>,
    /// Number of genes, the first of the dimensions.
    genes: usize,
    /// Numeric genes with more than two values, those with the most first.
    factors: Vec<usize>,
}

impl Features {
    pub(super) fn of(context: Context<'_>) -> Self {
        let mut longest: Vec<_> =
            context.axes.iter().filter(|axis| axis.ordered && axis.values > 2).collect();
        longest.sort_by_key(|axis| (std::cmp::Reverse(axis.values), axis.gene));
        let factors: Vec<usize> = longest.into_iter().take(MOST_FACTORS).map(|axis| axis.gene).collect();
        let kind = |ordered| if ordered { Dimension::Ordered } else { Dimension::Choice };
        let mut dimensions: Vec<Dimension> = context.axes.iter().map(|axis| kind(axis.ordered)).collect();
        let pairs = factors.len() * factors.len().saturating_sub(1) / 2;
        let genes = dimensions.len();
        dimensions.resize(dimensions.len() + pairs, Dimension::Ordered);
        Self { dimensions, genes, factors }
    }

    pub(super) fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    pub(super) fn at(&self, context: Context<'_>, genome: &Genome) -> Vec<f64> {
        let mut seen = context.axes.position(genome);
        let number = |&gene: &usize| context.space.genes()[gene].number(genome.0[gene]).unwrap_or(0);
        // 0 is a value like any other (a distance, a switch): one halving below 1.
        let logarithm = |gene| (number(gene) as f64).max(0.5).ln();
        let logarithms: Vec<f64> = self.factors.iter().map(logarithm).collect();
        for (at, first) in logarithms.iter().enumerate() {
            seen.extend(logarithms[at + 1..].iter().map(|second| first + second));
        }
        seen
    }

    /// Distance of a place from the nearest of `others`: the mean over genes, from 0 where one is the same to 1
    /// where all genes of all others are at opposite ends, or are other choices. 0 without others.
    pub(super) fn gap(&self, place: &[f64], others: &[Vec<f64>]) -> f64 {
        let dimensions = &self.dimensions[..self.genes];
        let mut nearest = f64::INFINITY;
        for other in others {
            let mut distance = 0.0;
            // Few others are near, so most are given up before their last gene.
            for (at, kind) in dimensions.iter().enumerate() {
                distance += match kind {
                    Dimension::Ordered => (place[at] - other[at]).abs(),
                    Dimension::Choice => f64::from(u8::from(place[at] != other[at])),
                };
                if distance >= nearest {
                    break;
                }
            }
            nearest = nearest.min(distance);
        }
        if others.is_empty() { 0.0 } else { nearest / self.genes.max(1) as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::axes::Axes;
    use crate::strategy::memory::Memory;
    use crate::synthetic;

    #[test]
    fn places_come_first_and_then_the_products_of_numbers() {
        let space = synthetic::space();
        let (axes, memory) = (Axes::of(&space), Memory::default());
        let context = Context { space: &space, memory: &memory, axes: &axes };
        let features = Features::of(context);
        // Six genes; rows, columns, steps and unroll are numbers.
        let seen = features.at(context, &Genome([3, 7, 63, 1, 2, 2].into()));
        assert_eq!((features.dimensions().len(), seen.len()), (12, 12));
        assert_eq!(features.dimensions()[3], Dimension::Choice);
        assert_eq!(seen[..6], axes.position(&Genome([3, 7, 63, 1, 2, 2].into())));
        // Steps and rows.
        assert!((seen[6] - (64.0_f64 * 4.0).ln()).abs() < 1e-12);
    }

    #[test]
    fn the_gap_is_the_mean_distance_of_genes_from_the_nearest_place() {
        let space = synthetic::space();
        let (axes, memory) = (Axes::of(&space), Memory::default());
        let context = Context { space: &space, memory: &memory, axes: &axes };
        let features = Features::of(context);
        let at = |genes: [u16; 6]| features.at(context, &Genome(genes.into()));
        let place = at([3, 7, 63, 1, 2, 2]);
        assert_eq!(features.gap(&place, &[]), 0.0);
        assert_eq!(features.gap(&place, &[at([0, 0, 0, 0, 0, 0]), place.clone()]), 0.0);
        // Another choice is as far as the other end of a number.
        let other_choice = at([3, 7, 63, 0, 2, 2]);
        assert!((features.gap(&place, &[at([0, 0, 0, 0, 0, 0]), other_choice]) - 1.0 / 6.0).abs() < 1e-12);
    }
}
