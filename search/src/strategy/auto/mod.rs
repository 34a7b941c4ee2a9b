//! A portfolio for any space: a model that exploits what it has learned, and a walk and a
//! population that take over the more, the longer nothing better was found.
//!
//! Eight evaluations or ten thousand, one surrogate serves well until it is wrong: where its trees agree on a
//! mistake, expected improvement asks near the same few points for ever. Methods without a model make no such
//! mistakes, and they share all judged points with it: what they find is what the forest learns from next, and
//! the best of all is where the walk goes on from. How often they are asked depends on how much of the search
//! so far went by since the best was found: seldom while the model makes headway, at most seven times of ten
//! when it never did.
//!
//! Thinking must not cost more than it saves: the model learns anew only while the time that this takes, as
//! estimated from the number of points, stays below a share of the time that evaluations took. Where a trial
//! takes a fraction of a millisecond, walk and population do most of the work.
//!
//! `docs/search.md` says what was measured of each part, and what was left out because it did not help.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::Proposal;
use super::annealing::SimulatedAnnealing;
use super::bayesian::Bayesian;
use super::differential_evolution::DifferentialEvolution;
use super::memory::Observation;
use super::searcher::{Context, Method};

/// Weight of the model.
const MODEL: f64 = 0.3;
/// Weights of the walk and of the population when nothing was ever improved.
const WALK: f64 = 0.4;
const POPULATION: f64 = 0.3;

/// Most of the model's thinking over the time of the evaluations so far.
const THINKING: f64 = 0.25;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Auto {
    model: Bayesian,
    walk: SimulatedAnnealing,
    population: DifferentialEvolution,
    /// Points judged so far, and since the best of them.
    judged: usize,
    since_improvement: usize,
    /// Estimated time of the model's thinking so far, ns.
    thought_ns: f64,
}

impl Auto {
    /// Whether so much thinking for the next proposal, ns, is worth it after what evaluations took. Where it is not
    /// known how long they took, nothing speaks against it.
    fn may_think(&self, thinking_ns: f64, elapsed_ns: u64) -> bool {
        let elapsed_ns = elapsed_ns as f64;
        elapsed_ns == 0.0 || thinking_ns == 0.0 || self.thought_ns + thinking_ns <= THINKING * elapsed_ns
    }
}

impl Method for Auto {
    const ID: &'static str = "auto";
    const SUMMARY: &'static str = "a model, and a walk and a population where it is stuck";
    const DESIGN: usize = Bayesian::DESIGN;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        let thinking_ns = self.model.thinking_ns(context);
        let may_think = self.may_think(thinking_ns, context.memory.elapsed_ns());
        let (model, share) = if may_think {
            (MODEL, self.since_improvement as f64 / (self.judged as f64 + 1.0))
        } else {
            (0.0, 1.0)
        };
        let (walk, population) = (WALK * share, POPULATION * share);
        let draw = rng.random::<f64>() * (model + walk + population);
        let other = if draw < walk {
            self.walk.propose(context, rng)
        } else if draw < walk + population {
            self.population.propose(context, rng)
        } else {
            None
        };
        if other.is_some() || !may_think {
            return other;
        }
        self.thought_ns += thinking_ns;
        self.model.propose(context, rng)
    }

    fn learn(&mut self, context: Context<'_>, observation: &Observation) {
        self.judged += 1;
        self.since_improvement += 1;
        if context.memory.best().is_some_and(|best| best.trial == observation.trial) {
            self.since_improvement = 0;
        }
        self.model.learn(context, observation);
        self.walk.learn(context, observation);
        self.population.learn(context, observation);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use tilewright_journal::Trial;
    use tilewright_stats::{Exact, Judged};

    use super::*;
    use crate::strategy::{Strategy, strategy};
    use crate::synthetic::{self, Landscape, TimeOf};

    /// Proposals of the model in a search of 150 trials that each take so long, ns.
    fn of_the_model(elapsed_ns: u64) -> usize {
        let space = synthetic::space();
        let mut strategy: Box<dyn Strategy> = (strategy(Auto::ID).unwrap().create)();
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut found = 0;
        for index in 0..150 {
            let proposal = strategy.ask(&space, 1, &mut rng).remove(0);
            found += usize::from(proposal.operator.as_deref() == Some("model"));
            let schedule = space.decode(&proposal.genome).unwrap();
            let time_ns = Landscape.time_of(&schedule);
            let judged = synthetic::judged(schedule, index, Some(time_ns));
            let trial = Trial { elapsed_ns, ..judged.subject().clone() };
            strategy.tell(&space, &[Judged::by(&Exact, judged.evidence().clone(), trial)]);
        }
        found
    }

    #[test]
    fn the_model_thinks_only_where_evaluations_take_longer() {
        let (unknown, short, long) = (of_the_model(0), of_the_model(1_000), of_the_model(1_000_000_000));
        assert_eq!((short, unknown), (0, long));
        assert!(long > 30, "{long}");
    }

    #[test]
    fn thinking_stays_below_its_share() {
        let auto = Auto { thought_ns: 20.0, ..Auto::default() };
        assert!(auto.may_think(5.0, 100) && !auto.may_think(6.0, 100));
        assert!(auto.may_think(0.0, 1) && auto.may_think(1e9, 0));
    }
}
