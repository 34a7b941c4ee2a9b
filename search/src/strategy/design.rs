//! The points that a strategy begins with: legal ones, as far apart as possible.
//!
//! Of a pool of random points the first is taken, and then again and again the one that is farthest from all
//! taken so far, until there are as many as the strategy asks for. Such points lie at the ends of the genes,
//! as those of a factorial design do, whatever constraints leave of the space; eight of them say more than
//! eight random ones. A Latin hypercube that has to be repaired to be legal crowds at the borders instead.
//!
//! Johnson, Moore & Ylvisaker 1990, "Minimax and maximin distance designs"; picked greedily as by Gonzalez
//! 1985, "Clustering to minimize the maximum intercluster distance".

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

use super::searcher::Context;

/// Random points in the pool: enough to hold the corners of a space of few genes.
const POOL: usize = 512;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Design {
    /// Points given or known otherwise.
    points: Vec<Genome>,
    /// Points to choose from, drawn when the first is asked for; gone when the last was given.
    pool: Option<Vec<Candidate>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Candidate {
    genome: Genome,
    /// Distance from the nearest of the points.
    gap: f64,
    /// Points that the gap accounts for.
    seen: usize,
}

impl Design {
    /// Counts a point that was chosen elsewhere as one of the first `most`.
    pub(super) fn note(&mut self, genome: &Genome, most: usize) {
        if self.points.len() < most && !self.points.contains(genome) {
            self.points.push(genome.clone());
        }
    }

    /// The next of `most` points; `None` when there are as many, or nothing in the pool is new.
    pub(super) fn next(&mut self, context: Context<'_>, most: usize, rng: &mut dyn Rng) -> Option<Genome> {
        if self.points.len() >= most {
            self.pool = None;
            return None;
        }
        let draw = || Candidate { genome: context.space.sample(rng), gap: f64::INFINITY, seen: 0 };
        let pool = self.pool.get_or_insert_with(|| std::iter::repeat_with(draw).take(POOL).collect());
        for candidate in pool.iter_mut() {
            let place = context.axes.position(&candidate.genome);
            for point in &self.points[candidate.seen..] {
                candidate.gap = candidate.gap.min(distance(&place, &context.axes.position(point)));
            }
            candidate.seen = self.points.len();
        }
        let fresh = pool.iter().filter(|candidate| context.memory.is_new(&candidate.genome));
        let farthest = fresh.max_by(|first, second| first.gap.total_cmp(&second.gap))?.genome.clone();
        self.points.push(farthest.clone());
        Some(farthest)
    }
}

/// Distance of two positions: the sum over dimensions.
fn distance(first: &[f64], second: &[f64]) -> f64 {
    first.iter().zip(second).map(|(first, second)| (first - second).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::axes::Axes;
    use crate::strategy::memory::Memory;
    use crate::synthetic;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Smallest distance between two of eight points.
    fn closest(genomes: &[Genome], axes: &Axes) -> f64 {
        let places: Vec<Vec<f64>> = genomes.iter().map(|genome| axes.position(genome)).collect();
        let pairs = (0..places.len()).flat_map(|first| (0..first).map(move |second| (first, second)));
        pairs.map(|(first, second)| distance(&places[first], &places[second])).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn points_are_farther_apart_than_random_ones_and_end() {
        let space = synthetic::space();
        let axes = Axes::of(&space);
        let memory = Memory::default();
        let context = Context { space: &space, memory: &memory, axes: &axes };
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut apart, mut random) = (0.0, 0.0);
        for _ in 0..20 {
            let mut design = Design::default();
            let points: Vec<Genome> = std::iter::from_fn(|| design.next(context, 8, &mut rng)).collect();
            assert_eq!(points.len(), 8);
            apart += closest(&points, &axes);
            let drawn: Vec<Genome> = (0..8).map(|_| space.sample(&mut rng)).collect();
            random += closest(&drawn, &axes);
        }
        assert!(apart > 2.0 * random, "{apart} {random}");
    }
}
