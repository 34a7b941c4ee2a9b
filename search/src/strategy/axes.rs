//! Genomes as points of a unit cube, for methods that compute with positions.

use rand::Rng;
use tilewright_genome::{Gene, Genome, Sampling, SearchSpace, Wish};

/// A gene that has more than one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    /// Position of the gene in the space.
    pub(crate) gene: usize,
    /// Number of its values.
    pub(super) values: usize,
    /// Whether neighbouring values are alike.
    pub(super) ordered: bool,
    /// Whether its sizes matter by their ratio.
    logarithmic: bool,
}

impl Axis {
    fn of(at: usize, gene: &Gene) -> Option<Self> {
        let values = gene.values.len();
        let logarithmic = matches!(gene.sampling, Sampling::Logarithmic { .. });
        (values > 1).then_some(Self { gene: at, values, ordered: gene.is_ordered(), logarithmic })
    }

    /// Place of a value, from 0 for the first to 1 for the last.
    pub(super) fn place(&self, index: u16) -> f64 {
        let last = (self.values - 1) as f64;
        if self.logarithmic { f64::from(index).ln_1p() / last.ln_1p() } else { f64::from(index) / last }
    }

    /// The value nearest to a place; places outside are moved to the border.
    pub(super) fn index(&self, place: f64) -> u16 {
        let last = (self.values - 1) as f64;
        let place = if place.is_nan() { 0.5 } else { place.clamp(0.0, 1.0) };
        let at = if self.logarithmic { (place * last.ln_1p()).exp_m1() } else { place * last };
        at.round().min(last) as u16
    }
}

/// The genes that matter, each of which is one dimension.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axes {
    axes: Vec<Axis>,
    genes: usize,
}

impl Axes {
    pub(crate) fn of(space: &SearchSpace) -> Self {
        let genes = space.genes();
        let axes = genes.iter().enumerate().filter_map(|(at, gene)| Axis::of(at, gene)).collect();
        Self { axes, genes: genes.len() }
    }

    pub(crate) fn len(&self) -> usize {
        self.axes.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Axis> {
        self.axes.iter()
    }

    /// Where a genome lies.
    pub(crate) fn position(&self, genome: &Genome) -> Vec<f64> {
        self.axes.iter().map(|axis| axis.place(genome.0[axis.gene])).collect()
    }

    /// A legal genome near a position: gene after gene, the nearest open value. `None` at a dead end.
    pub(super) fn genome(&self, space: &SearchSpace, position: &[f64], rng: &mut dyn Rng) -> Option<Genome> {
        let indices = self.axes.iter().zip(position).map(|(axis, &place)| (axis.gene, axis.index(place)));
        self.complete(space, indices, rng)
    }

    /// A legal genome near these values; genes that are not named are drawn at random.
    pub(super) fn complete(
        &self,
        space: &SearchSpace,
        indices: impl Iterator<Item = (usize, u16)>,
        rng: &mut dyn Rng,
    ) -> Option<Genome> {
        let mut wishes = vec![Wish::Free; self.genes];
        for (gene, index) in indices {
            wishes[gene] = Wish::Around(index);
        }
        space.complete(&wishes, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn a_genome_is_found_again_from_its_position() {
        let space = synthetic::space();
        let axes = Axes::of(&space);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..200 {
            let genome = space.sample(&mut rng);
            let position = axes.position(&genome);
            assert!(position.iter().all(|place| (0.0..=1.0).contains(place)));
            assert_eq!(axes.genome(&space, &position, &mut rng), Some(genome));
        }
    }

    #[test]
    fn every_position_has_a_legal_genome_near_it() {
        let space = synthetic::space();
        let axes = Axes::of(&space);
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for _ in 0..200 {
            let mut position: Vec<f64> = (0..axes.len()).map(|_| rng.random()).collect();
            position[0] = position[0] * 9.0 - 4.0;
            position[1] = f64::NAN;
            let genome = axes.genome(&space, &position, &mut rng).unwrap();
            assert!(space.decode(&genome).is_ok());
        }
    }
}
