//! Bayesian optimisation with a forest of regression trees: propose what is expected to be fast, or might be.
//!
//! A forest learns logarithms of times, and of a pool (all neighbours of the fastest points, and random
//! points) the one with the most expected improvement is proposed. Times above the median of those judged
//! count as the median, and failures too: where the fast points lie matters, and not how slow the others are.
//! Trees that agree far from everything judged know no more there than elsewhere, so a point's expectation is
//! the less certain the farther the nearest judged point is; without that the search gets stuck where all
//! trees have learned the same.
//! Beside each gene's place the forest sees the product of each two numbers, since limits of hardware (threads
//! of a block, bytes of a tile) are limits on products.
//!
//! Hutter, Hoos & Leyton-Brown 2011, "Sequential model-based optimization for general algorithm
//! configuration"; expected improvement after Jones, Schonlau & Welch 1998.

mod features;
mod forest;

use std::collections::BTreeSet;

use rand::Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::statistics::Statistics;
use tilewright_genome::Genome;

use super::Proposal;
use super::memory::{Observation, by_score};
use super::neighbours::Neighbours;
use super::searcher::{Context, Method};
use features::Features;
use forest::{Expectation, Forest};

/// Judged points that a forest learns from; of more, the slower half is thinned out.
const HISTORY: usize = 1_024;
/// Fastest points whose neighbours are in the pool.
const FASTEST: usize = 6;
/// Random points in the pool.
const RANDOM: usize = 300;
/// Share of all judged points that are new when the forest learns anew.
const RENEWAL: f64 = 0.04;
/// Standard deviation that the distance of a point from the nearest judged one adds, when all its genes are
/// as far apart as they can be, over the standard deviation of the scores.
const FARNESS: f64 = 2.5;
/// Neighbours that a gene has, about, for [`Bayesian::thinking_ns`].
const NEIGHBOURS_OF_GENE: f64 = 4.0;
/// What growing a forest takes for each point, dimension and level, ns; this and the next two as seen on two cores of
/// a Xeon in 2026 with 97 to 1,021 points of matmul's 23 genes, where the sum was within a factor of two.
const GROWING_NS: f64 = 50.0;
/// What comparing a gene of two points takes, ns.
const COMPARING_NS: f64 = 0.3;
/// What drawing and ranking one point of the pool takes else, ns.
const POINT_NS: f64 = 6_000.0;
/// Quantile of the scores that slower points and failures are counted as.
const CAP: f64 = 0.5;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Bayesian {
    history: Vec<Observation>,
    /// What to propose next with the trial it is a neighbour of, the best last.
    queue: Vec<(Genome, Option<u64>)>,
    /// Points judged since the forest learned.
    news: usize,
}

impl Method for Bayesian {
    const ID: &'static str = "bayesian";
    const SUMMARY: &'static str = "Bayesian optimisation with a forest of regression trees";
    const DESIGN: usize = 5;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        if self.must_learn(context) {
            self.queue = self.ranked_pool(context, rng)?;
            self.news = 0;
        }
        let (genome, parent) = self.queue.pop()?;
        Some(match parent {
            Some(parent) => Proposal::child(genome, "model", parent),
            None => Proposal::random(genome),
        })
    }

    fn learn(&mut self, context: Context<'_>, observation: &Observation) {
        self.news += 1;
        if context.memory.best().is_some_and(|best| best.trial == observation.trial) {
            self.queue.clear();
        }
        self.history.push(observation.clone());
        if self.history.len() > HISTORY {
            self.history.sort_by(|first, second| by_score(first.score, second.score));
            let mut at = 0;
            self.history.retain(|_| {
                at += 1;
                at <= HISTORY / 2 || at % 2 == 0
            });
        }
    }
}

impl Bayesian {
    /// Whether the forest learns anew before the next proposal.
    fn must_learn(&self, context: Context<'_>) -> bool {
        let stale = self.news as f64 >= (context.memory.told() as f64 * RENEWAL).max(1.0);
        stale || self.queue.is_empty()
    }

    /// About how long the next proposal takes, ns, from the numbers of what is computed and not from a clock, so
    /// that the same search always thinks the same.
    pub(super) fn thinking_ns(&self, context: Context<'_>) -> f64 {
        if !self.must_learn(context) {
            return 0.0;
        }
        let points = self.history.len() as f64;
        let features = Features::of(context).dimensions().len() as f64;
        let genes = context.axes.len() as f64;
        let pool = RANDOM as f64 + FASTEST as f64 * genes * NEIGHBOURS_OF_GENE;
        points * features * points.max(2.0).log2() * GROWING_NS
            + pool * points * genes * COMPARING_NS
            + pool * POINT_NS
    }

    /// New points by expected improvement, the most last; `None` where nothing valid is known.
    fn ranked_pool(&self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Vec<(Genome, Option<u64>)>> {
        let mut best_first: Vec<&Observation> = self.history.iter().collect();
        best_first.sort_by(|first, second| by_score(first.score, second.score));
        let best = best_first.first()?.score?;
        let features = Features::of(context);
        let places: Vec<Vec<f64>> = best_first.iter().map(|it| features.at(context, &it.genome)).collect();
        let scores = capped(&best_first, best);
        let forest = Forest::of(&places, &scores, features.dimensions(), rng);
        let farness = FARNESS * scores.iter().population_std_dev();
        let mut pool: BTreeSet<(Genome, Option<u64>)> = BTreeSet::new();
        for observation in best_first.iter().take(FASTEST) {
            let mut neighbours = Neighbours::of(context, &observation.genome, None, rng);
            while let Some(genome) = neighbours.next(context.space, rng) {
                pool.insert((genome, Some(observation.trial)));
            }
        }
        pool.extend((0..RANDOM).map(|_| (context.space.sample(rng), None)));
        let pool: Vec<(Genome, Option<u64>)> = pool.into_iter().collect();
        let mut ranked: Vec<(f64, Genome, Option<u64>)> = pool
            .into_par_iter()
            .filter(|(genome, _)| context.memory.is_new(genome))
            .map(|(genome, parent)| {
                let place = features.at(context, &genome);
                let Expectation { mean, deviation } = forest.expect(&place);
                let deviation = deviation.hypot(farness * features.gap(&place, &places));
                (improvement(Expectation { mean, deviation }, best), genome, parent)
            })
            .collect();
        ranked.sort_by(|first, second| first.0.total_cmp(&second.0));
        Some(ranked.into_iter().map(|(_, genome, parent)| (genome, parent)).collect())
    }
}

/// Scores of points that are sorted best first, none above the one at [`CAP`].
fn capped(best_first: &[&Observation], best: f64) -> Vec<f64> {
    let valid = best_first.iter().filter(|it| it.score.is_some()).count();
    let at = ((best_first.len() as f64 * CAP) as usize).min(valid.saturating_sub(1));
    let cap = best_first[at].score.unwrap_or(best);
    best_first.iter().map(|it| it.score.map_or(cap, |score| score.min(cap))).collect()
}

/// Expected improvement on the best score.
fn improvement(expectation: Expectation, best: f64) -> f64 {
    let Expectation { mean, deviation } = expectation;
    if deviation <= 0.0 {
        return (best - mean).max(0.0);
    }
    let z = (best - mean) / deviation;
    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    deviation * (z * Normal::standard().cdf(z) + density)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_points_and_failures_count_as_the_median() {
        let observe = |score| Observation { genome: Genome([0].into()), trial: 0, score };
        let points = [Some(-1.0), Some(0.0), Some(4.0), Some(9.0), None].map(observe);
        let points: Vec<&Observation> = points.iter().collect();
        assert_eq!(capped(&points, -1.0), [-1.0, 0.0, 4.0, 4.0, 4.0]);
        let failures = [Some(-1.0), None, None, None].map(observe);
        let failures: Vec<&Observation> = failures.iter().collect();
        assert_eq!(capped(&failures, -1.0), [-1.0; 4]);
    }

    #[test]
    fn improvement_is_expected_where_the_mean_is_lower_or_less_is_known() {
        let expect = |mean, deviation| improvement(Expectation { mean, deviation }, 1.0);
        assert!(expect(0.5, 0.1) > expect(0.9, 0.1) && expect(1.5, 1.0) > expect(1.5, 0.1));
        assert!((expect(1.0, 1.0) - 0.398_942_28).abs() < 1e-8);
        assert_eq!((expect(0.5, 0.0), expect(1.5, 0.0)), (0.5, 0.0));
    }
}
