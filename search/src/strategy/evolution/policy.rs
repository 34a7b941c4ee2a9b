//! Evolution whose mutations a learned policy chooses, everything else alike: population, tournaments,
//! crossover and immigrants are those of [`super`].

use std::collections::BTreeSet;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tilewright_genome::{Genome, SearchSpace};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::{EvolutionSettings, Memory, Start};
use crate::credit::credit;
use crate::policy::{Judgement, Learner, Learning, Policy, View};
use crate::state::{self, StateError};
use crate::strategy::random::MOST_REPEATS;
use crate::strategy::{Proposal, Strategy, StrategyEntry};

pub(in crate::strategy) const WITH_POLICY: StrategyEntry = StrategyEntry {
    id: EvolutionPolicy::ID,
    summary: "evolution; gene and change chosen by a policy that learns",
    create: || Box::new(EvolutionPolicy::default()),
    restore: |bytes| {
        let (memory, learner) = state::read(bytes)?;
        Ok(Box::new(EvolutionPolicy { memory, learner }))
    },
};

/// Factor of a step of policy gradient within a search.
const RATE: f64 = 0.1;
/// Of the hidden units of an untrained policy, which must only differ from one another.
const SEED: u64 = 1;

/// See the module.
#[derive(Debug)]
pub struct EvolutionPolicy {
    memory: Memory,
    learner: Learner,
}

impl Default for EvolutionPolicy {
    /// Untrained; it learns as it goes.
    fn default() -> Self {
        let policy = Policy::untrained(&mut ChaCha8Rng::seed_from_u64(SEED));
        Self::with(policy, Learning::Online { rate: RATE })
    }
}

impl EvolutionPolicy {
    /// Its name.
    pub const ID: &'static str = "evolution-policy";

    /// A search that has seen nothing, with this policy.
    pub fn with(policy: Policy, learning: Learning) -> Self {
        Self { memory: Memory::new(EvolutionSettings::default()), learner: Learner::new(policy, learning) }
    }

    /// The policy as it is now.
    pub fn policy(&self) -> &Policy {
        self.learner.policy()
    }

    pub(crate) fn into_learner(self) -> Learner {
        self.learner
    }

    fn propose(
        &mut self,
        space: &SearchSpace,
        is_new: &dyn Fn(&Memory, &Genome) -> bool,
        rng: &mut dyn Rng,
    ) -> Option<Proposal> {
        let Self { memory, learner } = self;
        let parent = match memory.start(space, rng) {
            Start::Done(proposal) => return Some(proposal).filter(|it| is_new(memory, &it.genome)),
            Start::Parent(parent) => parent,
        };
        let donor = memory.tournament(rng);
        let members = memory.population.members();
        let parents: Vec<&Genome> = members.iter().map(|member| &member.genome).collect();
        let trial = members[parent].trial;
        let view = View {
            space,
            genome: parents[parent],
            donor: (donor != parent).then(|| parents[donor]),
            parents: &parents,
            context: memory.context(Some(trial)),
        };
        let (genome, kind) = learner.propose(&view, &|genome| is_new(memory, genome), rng)?;
        Some(Proposal::child(genome, kind.id(), trial))
    }
}

impl Strategy for EvolutionPolicy {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn ask(&mut self, space: &SearchSpace, count: usize, rng: &mut dyn Rng) -> Vec<Proposal> {
        let mut proposals: Vec<Proposal> = Vec::with_capacity(count);
        let mut taken: BTreeSet<Genome> = BTreeSet::new();
        let mut repeats = 0;
        while proposals.len() < count && repeats < MOST_REPEATS {
            let is_new =
                |memory: &Memory, genome: &Genome| !memory.told.contains(genome) && !taken.contains(genome);
            match self.propose(space, &is_new, rng) {
                Some(proposal) => {
                    taken.insert(proposal.genome.clone());
                    proposals.push(proposal);
                    repeats = 0;
                }
                None => repeats += 1,
            }
        }
        proposals
    }

    fn tell(&mut self, space: &SearchSpace, judged: &[Judged<Trial>]) {
        for judged in judged {
            let (score, gain) = self.memory.place(judged);
            if let Some(genome) = self.memory.absorb(space, judged.subject(), score) {
                let judgement = Judgement { genome: &genome, score, gain, credit: credit(judged, gain) };
                self.learner.learn(&judgement);
            }
        }
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(&(&self.memory, &self.learner))
    }
}
