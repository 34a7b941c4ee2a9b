//! Extremely randomised regression trees: what a place is expected to score, and how sure that is.
//!
//! Geurts, Ernst & Wehenkel 2006, "Extremely randomized trees". Mean and deviation over the trees as in
//! Hutter, Hoos & Leyton-Brown 2011, "Sequential model-based optimization for general algorithm
//! configuration": the deviation holds both how much the trees disagree and how much their leaves spread.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// Trees of a forest.
const TREES: usize = 30;
/// Points of a node that is not split further.
const LEAF: usize = 2;

/// A dimension of the places that a forest learns from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Dimension {
    /// Neighbouring places are alike.
    Ordered,
    /// Each place is a choice of its own.
    Choice,
}

#[derive(Debug, Clone)]
enum Node {
    Leaf {
        mean: f64,
        variance: f64,
    },
    /// Places below the threshold (of a choice: equal to it) are in the left node.
    Split {
        dimension: usize,
        threshold: f64,
        equal: bool,
        left: usize,
        right: usize,
    },
}

/// A forest that has learned.
#[derive(Debug, Clone)]
pub(super) struct Forest {
    trees: Vec<Vec<Node>>,
}

/// Expected score of a place and its standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Expectation {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

struct Growing<'a> {
    places: &'a [Vec<f64>],
    scores: &'a [f64],
    dimensions: &'a [Dimension],
    nodes: Vec<Node>,
}

impl Forest {
    /// Learns from places, all with one number per dimension, and their scores.
    pub(super) fn of(
        places: &[Vec<f64>],
        scores: &[f64],
        dimensions: &[Dimension],
        rng: &mut dyn Rng,
    ) -> Self {
        let seeds: Vec<u64> = (0..TREES).map(|_| rng.random()).collect();
        // Each tree has its own generator, so that they can grow at once and still be the same each time.
        let grow = |&seed: &u64| {
            let mut tree = Growing { places, scores, dimensions, nodes: Vec::new() };
            let mut all: Vec<u32> = (0..places.len() as u32).collect();
            tree.grow(&mut all, &mut ChaCha8Rng::seed_from_u64(seed));
            tree.nodes
        };
        let trees = seeds.par_iter().map(grow).collect();
        Self { trees }
    }

    pub(super) fn expect(&self, place: &[f64]) -> Expectation {
        let (mut sum, mut squares, mut variances) = (0.0, 0.0, 0.0);
        for tree in &self.trees {
            let (mean, variance) = leaf(tree, place);
            sum += mean;
            squares += mean * mean;
            variances += variance;
        }
        let count = self.trees.len() as f64;
        let mean = sum / count;
        let variance = (squares / count - mean * mean).max(0.0) + variances / count;
        Expectation { mean, deviation: variance.sqrt() }
    }
}

fn leaf(tree: &[Node], place: &[f64]) -> (f64, f64) {
    let mut at = 0;
    loop {
        match tree[at] {
            Node::Leaf { mean, variance } => return (mean, variance),
            Node::Split { dimension, threshold, equal, left, right } => {
                at = if goes_left(place[dimension], threshold, equal) { left } else { right };
            }
        }
    }
}

fn goes_left(place: f64, threshold: f64, equal: bool) -> bool {
    if equal { place == threshold } else { place < threshold }
}

impl Growing<'_> {
    /// Grows the node of these points; gives its number.
    fn grow(&mut self, points: &mut [u32], rng: &mut dyn Rng) -> usize {
        let number = self.nodes.len();
        let (mean, variance) = self.moments(points);
        self.nodes.push(Node::Leaf { mean, variance });
        if points.len() <= LEAF || variance <= f64::EPSILON {
            return number;
        }
        let Some((dimension, threshold)) = self.best_split(points, rng) else { return number };
        let equal = self.dimensions[dimension] == Dimension::Choice;
        let mut border = 0;
        for at in 0..points.len() {
            if goes_left(self.places[points[at] as usize][dimension], threshold, equal) {
                points.swap(at, border);
                border += 1;
            }
        }
        let (first, second) = points.split_at_mut(border);
        let left = self.grow(first, rng);
        let right = self.grow(second, rng);
        self.nodes[number] = Node::Split { dimension, threshold, equal, left, right };
        number
    }

    fn moments(&self, points: &[u32]) -> (f64, f64) {
        let count = points.len().max(1) as f64;
        let score = |&point: &u32| self.scores[point as usize];
        let mean = points.iter().map(score).sum::<f64>() / count;
        let variance = points.iter().map(score).map(|score| (score - mean).powi(2)).sum::<f64>() / count;
        (mean, variance)
    }

    /// Of one random threshold in each dimension, the one that explains most of the variance; `None` when all
    /// points are at one place.
    fn best_split(&self, points: &[u32], rng: &mut dyn Rng) -> Option<(usize, f64)> {
        let mut best: Option<(f64, usize, f64)> = None;
        for (dimension, kind) in self.dimensions.iter().enumerate() {
            let place = |&point: &u32| self.places[point as usize][dimension];
            let (low, high) = points
                .iter()
                .map(place)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (it.min(low), it.max(high)));
            if low >= high {
                continue;
            }
            let threshold = match kind {
                // Above the lowest, so that both sides have points.
                Dimension::Ordered => high - rng.random::<f64>() * (high - low),
                Dimension::Choice => place(&points[rng.random_range(0..points.len())]),
            };
            let equal = *kind == Dimension::Choice;
            let (mut count, mut sum, mut total) = (0.0, 0.0, 0.0);
            for point in points {
                let score = self.scores[*point as usize];
                total += score;
                if goes_left(place(point), threshold, equal) {
                    count += 1.0;
                    sum += score;
                }
            }
            let rest = points.len() as f64 - count;
            if count == 0.0 || rest == 0.0 {
                continue;
            }
            let explained = sum * sum / count + (total - sum).powi(2) / rest;
            if best.is_none_or(|(most, ..)| explained > most) {
                best = Some((explained, dimension, threshold));
            }
        }
        best.map(|(_, dimension, threshold)| (dimension, threshold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forest_learns_a_slope_and_a_choice_and_is_less_sure_where_it_saw_nothing() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let truth = |place: &[f64]| 3.0 * place[0] + if place[1] == 0.5 { -2.0 } else { 0.0 };
        let places: Vec<Vec<f64>> = (0..300)
            .map(|_| vec![rng.random::<f64>() * 0.7, f64::from(rng.random_range(0..3_u8)) / 2.0])
            .collect();
        let scores: Vec<f64> = places.iter().map(|place| truth(place)).collect();
        let forest = Forest::of(&places, &scores, &[Dimension::Ordered, Dimension::Choice], &mut rng);
        let mut deviations = 0.0;
        for place in [[0.1, 0.0], [0.3, 0.5], [0.6, 1.0]] {
            let expectation = forest.expect(&place);
            assert!((expectation.mean - truth(&place)).abs() < 0.15, "{place:?} {expectation:?}");
            deviations += expectation.deviation / 3.0;
        }
        let single = Forest::of(&places[..1], &scores[..1], &[Dimension::Ordered; 2], &mut rng);
        let expectation = single.expect(&[0.9, 0.9]);
        assert!((expectation.mean - scores[0]).abs() < 1e-9 && expectation.deviation < 1e-6);
        assert!(deviations < 0.2, "{deviations}");
    }
}
