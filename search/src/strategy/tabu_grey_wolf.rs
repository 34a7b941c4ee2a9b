//! Tabu search with grey-wolf moves: a small pack takes each gene from one of its three leaders or keeps its
//! own, is shaken now and then, never goes where it has been, and accepts slower points as annealing does.
//! When nothing improves for long, the slowest wolves start anew.
//!
//! Mirjalili, Mirjalili & Lewis 2014, "Grey wolf optimizer"; Glover 1989, "Tabu search, part I".

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::Proposal;
use super::annealing::accepts;
use super::memory::{Observation, by_score};
use super::neighbours::{freshened, random_neighbour};
use super::pending::Pending;
use super::searcher::{Context, Method};

/// Wolves, and points of the initial design.
const WOLVES: usize = 8;
/// Wolves that lead the others.
const LEADERS: usize = 3;
/// Probability that a move ends with a random change of one gene.
const SHAKE: f64 = 0.3;
/// First temperature and its factor at each judged point, as in simulated annealing.
const HOTTEST: f64 = 0.1;
const COOLING: f64 = 0.995;
/// Judged points without an improvement before a part of the pack starts anew.
const PATIENCE: usize = 60;
/// Wolves that start anew.
const RENEWED: usize = 3;

/// A proposal that waits for its judgement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Move {
    /// Trial of the place that the wolf left.
    left: u64,
    /// Draw that decides whether a slower point is accepted.
    chance: f64,
}

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TabuGreyWolf {
    /// Where the wolves are, the fastest place first.
    wolves: Vec<Observation>,
    moves: Pending<Move>,
    next: usize,
    temperature: f64,
    since_improvement: usize,
    /// Wolves that wait for a new place.
    homeless: usize,
}

impl Default for TabuGreyWolf {
    fn default() -> Self {
        Self {
            wolves: Vec::new(),
            moves: Pending::default(),
            next: 0,
            temperature: HOTTEST,
            since_improvement: 0,
            homeless: 0,
        }
    }
}

impl Method for TabuGreyWolf {
    const ID: &'static str = "tabu-grey-wolf";
    const SUMMARY: &'static str = "tabu search with grey-wolf moves";
    const DESIGN: usize = WOLVES;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        if self.homeless > 0 {
            self.homeless -= 1;
            return Some(Proposal::random(context.space.sample(rng)));
        }
        if self.wolves.is_empty() {
            return None;
        }
        self.next = (self.next + 1) % self.wolves.len();
        let wolf = &self.wolves[self.next];
        let leaders = &self.wolves[..LEADERS.min(self.wolves.len())];
        let genes = context.axes.iter().map(|axis| {
            let from = rng.random_range(0..=leaders.len());
            (axis.gene, leaders.get(from).unwrap_or(wolf).genome.0[axis.gene])
        });
        let genes: Vec<(usize, u16)> = genes.collect();
        let mut genome = context.axes.complete(context.space, genes.into_iter(), rng)?;
        if rng.random::<f64>() < SHAKE {
            genome = random_neighbour(context, &genome, rng).unwrap_or(genome);
        }
        let genome = freshened(context, genome, rng)?;
        self.moves.note(genome.clone(), Move { left: wolf.trial, chance: rng.random() });
        Some(Proposal::child(genome, "hunt", wolf.trial))
    }

    fn learn(&mut self, context: Context<'_>, observation: &Observation) {
        self.temperature *= COOLING;
        self.since_improvement += 1;
        if context.memory.best().is_some_and(|best| best.trial == observation.trial) {
            self.since_improvement = 0;
        }
        let moved = self.moves.take(&observation.genome).and_then(|Move { left, chance }| {
            self.wolves.iter().position(|wolf| wolf.trial == left).map(|wolf| (wolf, chance))
        });
        if let Some((wolf, chance)) = moved {
            if accepts(self.wolves[wolf].score, observation.score, chance, self.temperature) {
                self.wolves[wolf] = observation.clone();
            }
        } else if self.wolves.len() < WOLVES {
            self.wolves.push(observation.clone());
        } else if let Some(slowest) = self.wolves.last_mut()
            && observation.beats(slowest)
        {
            *slowest = observation.clone();
        }
        self.wolves.sort_by(|first, second| by_score(first.score, second.score));
        if self.since_improvement >= PATIENCE && self.wolves.len() == WOLVES {
            self.since_improvement = 0;
            self.temperature = HOTTEST;
            self.wolves.truncate(WOLVES - RENEWED);
            self.homeless = RENEWED;
        }
    }
}
