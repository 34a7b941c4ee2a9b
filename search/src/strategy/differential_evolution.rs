//! Differential evolution: a member moves towards one of the best and along the difference of two others, and
//! gives way to its child when that is no slower.
//!
//! Storn & Price 1997, "Differential evolution"; the move (current-to-pbest) and the adaptation of its two
//! rates are those of Zhang & Sanderson 2009, "JADE: adaptive differential evolution with optional external
//! archive". Choices without an order are taken from one of the members involved.

use rand::{Rng, RngExt};
use rand_distr::{Cauchy, Distribution, Normal};
use serde::{Deserialize, Serialize};

use super::Proposal;
use super::memory::{Observation, by_score, faster};
use super::neighbours::freshened;
use super::pending::Pending;
use super::searcher::{Context, Method};

/// Members, and points of the initial design.
const MEMBERS: usize = 20;
/// Share of the members that count as the best.
const BEST: f64 = 0.2;
/// Weight of a success in the means of the rates; JADE's 0.1 is for a generation's mean.
const LEARNING: f64 = 0.05;
/// Width of the distributions that rates are drawn from (JADE).
const SPREAD: f64 = 0.1;

/// A proposal that waits for its judgement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Attempt {
    target: usize,
    factor: f64,
    rate: f64,
}

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DifferentialEvolution {
    members: Vec<Observation>,
    attempts: Pending<Attempt>,
    /// The member to be changed next.
    target: usize,
    /// Mean factor of differences.
    factor: f64,
    /// Mean rate of crossover.
    rate: f64,
}

impl Default for DifferentialEvolution {
    fn default() -> Self {
        Self { members: Vec::new(), attempts: Pending::default(), target: 0, factor: 0.5, rate: 0.5 }
    }
}

impl DifferentialEvolution {
    /// Factor and rate of one proposal.
    fn rates(&self, rng: &mut dyn Rng) -> (f64, f64) {
        let factors = Cauchy::new(self.factor, SPREAD).expect("invariant: the spread is positive");
        let rates = Normal::new(self.rate, SPREAD).expect("invariant: the spread is finite");
        let factor = (0..16).map(|_| factors.sample(rng)).find(|factor| *factor > 0.0).unwrap_or(0.5);
        (factor.min(1.0), rates.sample(rng).clamp(0.0, 1.0))
    }

    /// One of the best members.
    fn one_of_the_best(&self, rng: &mut dyn Rng) -> usize {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by(|&first, &second| by_score(self.members[first].score, self.members[second].score));
        let best = ((order.len() as f64 * BEST).ceil() as usize).max(1);
        order[rng.random_range(0..best)]
    }
}

impl Method for DifferentialEvolution {
    const ID: &'static str = "differential-evolution";
    const SUMMARY: &'static str = "differential evolution with adaptive rates";
    const DESIGN: usize = MEMBERS;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        let count = self.members.len();
        if count < 4 || context.axes.len() == 0 {
            return None;
        }
        self.target = (self.target + 1) % count;
        let (factor, rate) = self.rates(rng);
        let target = &self.members[self.target];
        let here = context.axes.position(&target.genome);
        let [best, first, second] =
            [self.one_of_the_best(rng), rng.random_range(0..count), rng.random_range(0..count)]
                .map(|member| context.axes.position(&self.members[member].genome));
        let always = rng.random_range(0..context.axes.len());
        let mut there = here.clone();
        for (at, axis) in context.axes.iter().enumerate() {
            if at != always && rng.random::<f64>() >= rate {
                continue;
            }
            there[at] = if axis.ordered {
                let place = here[at] + factor * (best[at] - here[at] + first[at] - second[at]);
                // Half-way to the border instead of beyond it (JADE).
                if place < 0.0 {
                    here[at] / 2.0
                } else if place > 1.0 {
                    f64::midpoint(here[at], 1.0)
                } else {
                    place
                }
            } else {
                [best[at], first[at], second[at]][rng.random_range(0..3)]
            };
        }
        let genome = context.axes.genome(context.space, &there, rng)?;
        let genome = freshened(context, genome, rng)?;
        let parent = target.trial;
        self.attempts.note(genome.clone(), Attempt { target: self.target, factor, rate });
        Some(Proposal::child(genome, "difference", parent))
    }

    fn learn(&mut self, _context: Context<'_>, observation: &Observation) {
        if self.members.len() < MEMBERS {
            self.members.push(observation.clone());
            return;
        }
        if let Some(attempt) = self.attempts.take(&observation.genome) {
            let target = &mut self.members[attempt.target];
            if observation.beats(target) {
                *target = observation.clone();
                self.factor += LEARNING * (attempt.factor - self.factor);
                self.rate += LEARNING * (attempt.rate - self.rate);
            } else if !target.beats(observation) {
                *target = observation.clone();
            }
            return;
        }
        let slowest = self.members.iter_mut().max_by(|first, second| by_score(first.score, second.score));
        if let Some(slowest) = slowest
            && faster(observation.score, slowest.score)
        {
            *slowest = observation.clone();
        }
    }
}
