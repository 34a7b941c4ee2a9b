//! Latin hypercube: the first points cover each gene's values evenly, every later one is random.
//!
//! Stein 1987, "Large sample properties of simulations using Latin hypercube sampling".

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::mutation::shuffle;

use super::Proposal;
use super::memory::Observation;
use super::searcher::{Context, Method};

/// Points of one design.
const POINTS: usize = 24;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct LatinHypercube {
    /// What is left of the design, made when the first point is asked for.
    rest: Option<Vec<Vec<f64>>>,
}

impl Method for LatinHypercube {
    const ID: &'static str = "lhs";
    const SUMMARY: &'static str = "a Latin hypercube, then random genomes";

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        match self.rest.get_or_insert_with(|| latin_hypercube(context.axes.len(), POINTS, rng)).pop() {
            Some(position) => context.axes.genome(context.space, &position, rng).map(Proposal::random),
            None => Some(Proposal::random(context.space.sample(rng))),
        }
    }

    fn learn(&mut self, _context: Context<'_>, _observation: &Observation) {}
}

/// `points` positions, of which each of `points` equal parts of each dimension holds one.
fn latin_hypercube(dimensions: usize, points: usize, rng: &mut dyn Rng) -> Vec<Vec<f64>> {
    let mut positions = vec![vec![0.0; dimensions]; points];
    for dimension in 0..dimensions {
        let mut parts: Vec<usize> = (0..points).collect();
        shuffle(&mut parts, rng);
        for (position, part) in positions.iter_mut().zip(parts) {
            position[dimension] = (part as f64 + rng.random::<f64>()) / points as f64;
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn every_part_of_every_dimension_holds_one_point() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let positions = latin_hypercube(3, 10, &mut rng);
        for dimension in 0..3 {
            let mut parts: Vec<usize> =
                positions.iter().map(|position| (position[dimension] * 10.0) as usize).collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..10).collect::<Vec<_>>());
        }
    }
}
