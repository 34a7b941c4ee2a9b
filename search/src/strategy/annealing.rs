//! Simulated annealing: a walk to neighbouring points that always goes to a faster one and at times, the more
//! rarely the colder it is, to a slower one.
//!
//! Cooling is exponential and begins anew from the best point found, since the budget is not known.
//!
//! Kirkpatrick, Gelatt & Vecchi 1983, "Optimization by simulated annealing".

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::Proposal;
use super::memory::{Observation, faster};
use super::neighbours::random_neighbour;
use super::pending::Pending;
use super::searcher::{Context, Method};

/// First temperature: a point slower by so much (natural logarithm of the ratio of times) is accepted with
/// probability 1/e.
const HOTTEST: f64 = 0.3;
/// Last temperature, of the order of the noise.
const COLDEST: f64 = 0.005;
/// Factor of the temperature at each judged point.
const COOLING: f64 = 0.97;
/// Known points that one proposal may pass: a walk among them costs no evaluation.
const MOST_PASSED: u32 = 32;

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SimulatedAnnealing {
    here: Option<Observation>,
    temperature: f64,
    /// The draw that decides on each proposal, made when it is proposed.
    chances: Pending<f64>,
}

impl Default for SimulatedAnnealing {
    fn default() -> Self {
        Self { here: None, temperature: HOTTEST, chances: Pending::default() }
    }
}

impl SimulatedAnnealing {
    /// Goes to a judged point, or stays.
    fn consider(&mut self, there: &Observation, chance: f64) {
        let accepted =
            self.here.as_ref().is_none_or(|here| accepts(here.score, there.score, chance, self.temperature));
        if accepted {
            self.here = Some(there.clone());
        }
    }
}

/// Metropolis' rule on logarithms of times: whether a walk goes from one point to another at a temperature,
/// given a draw from 0 to 1. A failure is never accepted where something valid is known.
pub(super) fn accepts(here: Option<f64>, there: Option<f64>, chance: f64, temperature: f64) -> bool {
    match (here, there) {
        (Some(here), Some(there)) => there <= here || chance < ((here - there) / temperature).exp(),
        (here, there) => !faster(here, there),
    }
}

impl Method for SimulatedAnnealing {
    const ID: &'static str = "annealing";
    const SUMMARY: &'static str = "simulated annealing with reheating";
    const DESIGN: usize = 8;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        for _ in 0..MOST_PASSED {
            let here = self.here.as_ref()?;
            let genome = random_neighbour(context, &here.genome, rng)?;
            let Some(known) = context.memory.observation(&genome) else {
                self.chances.note(genome.clone(), rng.random());
                return Some(Proposal::child(genome, "neighbour", here.trial));
            };
            let chance = rng.random();
            self.consider(&known, chance);
        }
        None
    }

    fn learn(&mut self, context: Context<'_>, observation: &Observation) {
        // A point from elsewhere is taken only where it is faster.
        let chance = self.chances.take(&observation.genome).unwrap_or(1.0);
        self.consider(observation, chance);
        self.temperature *= COOLING;
        if self.temperature < COLDEST {
            self.temperature = HOTTEST;
            self.here = context.memory.best().cloned().or(self.here.take());
        }
    }
}
