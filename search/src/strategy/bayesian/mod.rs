//! Bayesian optimisation with a forest of regression trees: propose what is expected to be fast, or might be.
//!
//! A design that keeps its points apart comes first. Then a forest learns logarithms of times, and of a pool
//! (all neighbours of the fastest points, and random points) the one with the most expected improvement is
//! proposed. Times above the median count as the median, and failures too: where the slow points lie matters
//! more than how slow they are.
//!
//! Hutter, Hoos & Leyton-Brown 2011, "Sequential model-based optimization for general algorithm
//! configuration"; expected improvement after Jones, Schonlau & Welch 1998.

mod forest;

use std::collections::BTreeSet;

use rand::Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use tilewright_genome::Genome;

use super::Proposal;
use super::axes::distance;
use super::memory::{Observation, by_score};
use super::neighbours::Neighbours;
use super::searcher::{Context, Method};
use forest::{Dimension, Expectation, Forest};

/// Points of the initial design.
const DESIGN: usize = 8;
/// Random points of which the one farthest from all others joins the design.
const DESIGN_DRAWS: usize = 24;
/// Judged points that a forest learns from; of more, the slower half is thinned out.
const HISTORY: usize = 1_024;
/// Fastest points whose neighbours are in the pool.
const FASTEST: usize = 6;
/// Random points in the pool.
const RANDOM: usize = 300;
/// Share of new points in the history that make the forest learn anew.
const RENEWAL: f64 = 0.04;
/// Quantile of the scores that slower points and failures are counted as.
const CAP: f64 = 0.75;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Bayesian {
    proposed: usize,
    history: Vec<Observation>,
    /// What to propose next, the best last.
    queue: Vec<(Genome, Option<u64>)>,
    /// Points judged since the forest learned.
    news: usize,
}

impl Method for Bayesian {
    const ID: &'static str = "bayesian";
    const SUMMARY: &'static str = "Bayesian optimisation with a forest of regression trees";

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        self.proposed += 1;
        if self.history.len() < DESIGN.min(self.proposed) || self.history.iter().all(|it| it.score.is_none())
        {
            return Some(Proposal::random(far_from_all(context, &self.history, rng)));
        }
        if self.news as f64 >= (self.history.len() as f64 * RENEWAL).max(1.0) || self.queue.is_empty() {
            self.learn_anew(context, rng);
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
            let fast = HISTORY / 2;
            let mut at = 0;
            self.history.retain(|_| {
                at += 1;
                at <= fast || at % 2 == 0
            });
        }
    }
}

impl Bayesian {
    fn learn_anew(&mut self, context: Context<'_>, rng: &mut dyn Rng) {
        self.news = 0;
        let mut order: Vec<&Observation> = self.history.iter().collect();
        order.sort_by(|first, second| by_score(first.score, second.score));
        let cap = order[(order.len() as f64 * CAP) as usize % order.len()].score;
        let Some(best) = order.first().and_then(|best| best.score) else { return };
        let valid_cap = cap.or_else(|| order.iter().rev().find_map(|it| it.score)).unwrap_or(best);
        let places: Vec<Vec<f64>> = order.iter().map(|it| context.axes.position(&it.genome)).collect();
        let scores: Vec<f64> = order.iter().map(|it| it.score.unwrap_or(valid_cap).min(valid_cap)).collect();
        let kinds: Vec<Dimension> = context
            .axes
            .iter()
            .map(|axis| if axis.ordered { Dimension::Ordered } else { Dimension::Choice })
            .collect();
        let forest = Forest::of(&places, &scores, &kinds, rng);
        let mut pool: BTreeSet<(Genome, Option<u64>)> = BTreeSet::new();
        for observation in order.iter().take(FASTEST) {
            let mut neighbours = Neighbours::of(context, &observation.genome, None, rng);
            while let Some(genome) = neighbours.next(context.space, rng) {
                pool.insert((genome, Some(observation.trial)));
            }
        }
        pool.extend((0..RANDOM).map(|_| (context.space.sample(rng), None)));
        let mut ranked: Vec<(f64, Genome, Option<u64>)> = pool
            .into_iter()
            .filter(|(genome, _)| context.memory.is_new(genome))
            .map(|(genome, parent)| {
                let expectation = forest.expect(&context.axes.position(&genome));
                (improvement(expectation, best), genome, parent)
            })
            .collect();
        ranked.sort_by(|first, second| first.0.total_cmp(&second.0));
        self.queue = ranked.into_iter().map(|(_, genome, parent)| (genome, parent)).collect();
    }
}

/// The one of some random points that is farthest from the nearest of those known.
fn far_from_all(context: Context<'_>, known: &[Observation], rng: &mut dyn Rng) -> Genome {
    let places: Vec<Vec<f64>> = known.iter().map(|it| context.axes.position(&it.genome)).collect();
    let gap = |genome: &Genome| {
        let place = context.axes.position(genome);
        places.iter().map(|other| distance(&place, other)).fold(f64::INFINITY, f64::min)
    };
    let draws = if places.is_empty() { 1 } else { DESIGN_DRAWS };
    let points: Vec<(f64, Genome)> = (0..draws)
        .map(|_| {
            let genome = context.space.sample(rng);
            (gap(&genome), genome)
        })
        .collect();
    let farthest = points.into_iter().max_by(|first, second| first.0.total_cmp(&second.0));
    farthest.expect("invariant: at least one point is drawn").1
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
