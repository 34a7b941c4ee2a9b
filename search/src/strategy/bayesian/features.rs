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
        dimensions.resize(dimensions.len() + pairs, Dimension::Ordered);
        Self { dimensions, factors }
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
}
