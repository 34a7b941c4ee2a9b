//! Strategies: what to try next. One file each, one line in [`strategies`].

mod annealing;
mod auto;
mod axes;
mod bayesian;
mod cma_es;
mod design;
mod differential_evolution;
mod evolution;
mod external;
mod genetic;
mod islands;
mod iterated_local_search;
mod latin_hypercube;
mod map_elites;
mod memory;
mod neighbours;
mod particle_swarm;
mod parzen;
mod pending;
mod random;
mod scan;
mod searcher;
mod tabu_grey_wolf;

use std::fmt::Debug;

use rand::Rng;
use tilewright_genome::{Genome, SearchSpace};
use tilewright_journal::{ProposerAnswered, Trial};
use tilewright_stats::Judged;

use crate::state::StateError;

pub(crate) use axes::Axes;
pub use evolution::{Evolution, EvolutionPolicy, EvolutionSettings};
pub use external::{External, ExternalError, Parameters};
use searcher::entry;

/// A genome with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// What to try.
    pub genome: Genome,
    /// Operator that made it; `None` for a random one.
    pub operator: Option<String>,
    /// Trial whose genome it was made from.
    pub parent: Option<u64>,
}

impl Proposal {
    /// A genome that was made from no other.
    pub(crate) fn random(genome: Genome) -> Self {
        Self { genome, operator: None, parent: None }
    }

    /// A genome made from that of a trial.
    pub(crate) fn child(genome: Genome, operator: &str, parent: u64) -> Self {
        Self { genome, operator: Some(operator.to_owned()), parent: Some(parent) }
    }
}

/// Proposes genomes and learns from what became of them.
///
/// Its proposals depend on nothing but what it was told and the generator it is given. It may be told less
/// than it proposed (what a ranker left out), and of trials that it did not propose (the default).
pub trait Strategy: Debug + Send {
    /// Its name.
    fn id(&self) -> &'static str;

    /// Up to `count` proposals, none of them proposed twice in one answer; none at all when there is nothing
    /// left to try.
    fn ask(&mut self, space: &SearchSpace, count: usize, rng: &mut dyn Rng) -> Vec<Proposal>;

    /// Learns from judged trials, in the order of their proposal.
    fn tell(&mut self, space: &SearchSpace, judged: &[Judged<Trial>]);

    /// Its state.
    ///
    /// # Errors
    /// When the state has no binary form.
    fn save(&self) -> Result<Vec<u8>, StateError>;

    /// Answers of a program outside since the last call, to be recorded before what comes of them; none for
    /// all that run inside this process.
    fn take_answers(&mut self) -> Vec<ProposerAnswered> {
        Vec::new()
    }

    /// Why it proposes nothing more although there is something left to try; `None` for all that run inside
    /// this process.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// Makes one with a saved state.
pub(crate) type Restore = fn(&[u8]) -> Result<Box<dyn Strategy>, StateError>;

/// A strategy of the list.
#[derive(Debug, Clone, Copy)]
pub struct StrategyEntry {
    /// Its name.
    pub id: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// A new one that has seen nothing.
    pub create: fn() -> Box<dyn Strategy>,
    /// One with a saved state.
    pub restore: Restore,
}

/// All strategies, the portfolio first.
const ALL: &[StrategyEntry] = &[
    entry::<auto::Auto>(),
    evolution::WITH_THOMPSON,
    evolution::WITH_UCB,
    evolution::WITHOUT_BANDIT,
    entry::<bayesian::Bayesian>(),
    entry::<parzen::Parzen>(),
    entry::<tabu_grey_wolf::TabuGreyWolf>(),
    entry::<differential_evolution::DifferentialEvolution>(),
    entry::<genetic::Genetic>(),
    entry::<islands::Islands>(),
    entry::<map_elites::MapElites>(),
    entry::<cma_es::CmaEs>(),
    entry::<particle_swarm::ParticleSwarm>(),
    entry::<annealing::SimulatedAnnealing>(),
    entry::<iterated_local_search::IteratedLocalSearch>(),
    entry::<latin_hypercube::LatinHypercube>(),
    entry::<random::RandomSearch>(),
    evolution::WITH_POLICY,
];

/// All strategies, the portfolio first.
pub fn strategies() -> &'static [StrategyEntry] {
    ALL
}

/// The strategy of that name.
pub fn strategy(id: &str) -> Option<StrategyEntry> {
    strategies().iter().copied().find(|strategy| strategy.id == id)
}

#[cfg(test)]
pub(crate) use external::tests::mortal as proposer;
#[cfg(test)]
mod tests;
