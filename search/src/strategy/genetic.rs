//! Genetic algorithm by generations: the better half of a population has children by crossover and mutation,
//! and the best of parents and children are the next population.
//!
//! Holland 1975, "Adaptation in natural and artificial systems"; linear ranking after Baker 1985; survival of
//! the best of both generations (μ + λ) after Schwefel 1981.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::{Genome, crossover};

use super::Proposal;
use super::memory::{Observation, by_score};
use super::neighbours::random_neighbour;
use super::searcher::{Context, Method};

/// Members of the population, and points of the initial design.
const MEMBERS: usize = 20;
/// Children that are judged before the next generation begins.
const CHILDREN: usize = 20;
/// Share of children that begin with a crossover.
const CROSSOVER: f64 = 0.9;
/// Probability of one more mutation of a child; the number of mutations is geometric.
const MUTATION: f64 = 0.5;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Genetic {
    /// The present generation, best first.
    population: Vec<Observation>,
    /// Judged since it began.
    judged: Vec<Observation>,
}

impl Method for Genetic {
    const ID: &'static str = "genetic";
    const SUMMARY: &'static str = "genetic algorithm by generations";
    const DESIGN: usize = MEMBERS;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        if self.population.is_empty() {
            return None;
        }
        let parent = ranked(&self.population, rng);
        let other = ranked(&self.population, rng);
        let genome = child(context, [parent, other], CROSSOVER, MUTATION, rng)?;
        Some(Proposal::child(genome, "crossover", parent.trial))
    }

    fn learn(&mut self, _context: Context<'_>, observation: &Observation) {
        self.judged.push(observation.clone());
        if self.judged.len() >= CHILDREN {
            self.population.append(&mut self.judged);
            self.population.sort_by(|first, second| by_score(first.score, second.score));
            self.population.dedup_by(|second, first| second.genome == first.genome);
            self.population.truncate(MEMBERS);
        }
    }
}

/// A member, the better the likelier: the best twice as likely as the middle one.
pub(super) fn ranked<'a>(best_first: &'a [Observation], rng: &mut dyn Rng) -> &'a Observation {
    let place = 1.0 - rng.random::<f64>().sqrt();
    &best_first[((place * best_first.len() as f64) as usize).min(best_first.len() - 1)]
}

/// A child of two parents: with probability `cross` a crossover, then mutations of single genes, each followed
/// by another with probability `more`; one at least where there was no crossover.
pub(super) fn child(
    context: Context<'_>,
    parents: [&Observation; 2],
    cross: f64,
    more: f64,
    rng: &mut dyn Rng,
) -> Option<Genome> {
    let [first, second] = parents.map(|parent| &parent.genome);
    let crossed =
        if rng.random::<f64>() < cross { crossover(context.space, first, second, rng) } else { None };
    let mut mutate = crossed.is_none();
    let mut genome = crossed.unwrap_or_else(|| first.clone());
    mutate |= !context.memory.is_new(&genome) || rng.random::<f64>() < more;
    while mutate {
        genome = random_neighbour(context, &genome, rng)?;
        mutate = rng.random::<f64>() < more;
    }
    Some(genome)
}
