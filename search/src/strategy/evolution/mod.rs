//! Evolution: a small population of the fastest different genomes, changed by mutation operators that a
//! bandit chooses, and by crossover.
//!
//! Steady state: each judged trial enters the population at once if it is fast enough, so that proposals
//! never wait for a generation. Parents win a tournament; a share of proposals are immigrants, drawn at
//! random; when the best has not improved for long, all but the elites are replaced by immigrants.
//!
//! Real et al. 2019, "Regularized evolution for image classifier architecture search", for tournaments in
//! steady state; Fialho et al. 2010 for operator selection by bandits; Cobb & Grefenstette 1993 for random
//! immigrants.

mod policy;
mod population;

use std::collections::BTreeSet;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::{Genome, SearchSpace, crossover, mutation, mutations};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::random::MOST_REPEATS;
use super::{Proposal, Strategy, StrategyEntry};
use crate::bandit::{Bandit, BanditEntry, SearchContext, bandit};
use crate::scoreboard::Scoreboard;
use crate::state::{self, StateError};
pub use policy::EvolutionPolicy;
pub(super) use policy::WITH_POLICY;
use population::{Member, Population};

pub(super) const WITH_THOMPSON: StrategyEntry = StrategyEntry {
    id: "evolution",
    summary: "evolution; operators chosen by discounted Thompson sampling",
    create: || create("evolution", "thompson"),
    restore: |bytes| restore("evolution", "thompson", bytes),
};
pub(super) const WITH_UCB: StrategyEntry = StrategyEntry {
    id: "evolution-ucb",
    summary: "evolution; operators chosen by discounted UCB",
    create: || create("evolution-ucb", "discounted-ucb"),
    restore: |bytes| restore("evolution-ucb", "discounted-ucb", bytes),
};
pub(super) const WITHOUT_BANDIT: StrategyEntry = StrategyEntry {
    id: "evolution-uniform",
    summary: "evolution; the bandit switched off, operators drawn uniformly",
    create: || create("evolution-uniform", "uniform"),
    restore: |bytes| restore("evolution-uniform", "uniform", bytes),
};

/// Numbers that shape the search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EvolutionSettings {
    /// Members of the population.
    pub capacity: usize,
    /// Members drawn for a tournament.
    pub tournament: usize,
    /// Judged trials before evolution begins.
    pub initial: usize,
    /// Share of the proposals before that which are drawn at random; the others are near what is known, which
    /// is the default.
    pub scatter: f64,
    /// Share of proposals drawn at random.
    pub immigrants: f64,
    /// Share of the other proposals that begin with a crossover.
    pub crossover: f64,
    /// Judged trials without an improvement of at least half a percent before a restart.
    pub patience: usize,
    /// Members that survive a restart.
    pub elites: usize,
}

impl Default for EvolutionSettings {
    fn default() -> Self {
        Self {
            capacity: 24,
            tournament: 4,
            initial: 24,
            scatter: 0.5,
            immigrants: 0.06,
            crossover: 0.25,
            patience: 240,
            elites: 3,
        }
    }
}

/// Relative improvement of the best that counts against [`EvolutionSettings::patience`].
const IMPROVEMENT: f64 = 0.005;

/// Everything but the bandit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Memory {
    settings: EvolutionSettings,
    population: Population,
    scores: Scoreboard,
    told: BTreeSet<Genome>,
    /// Judged trials in all, and those of them that failed.
    trials: u64,
    failures: u64,
    /// Valid or failed trials since the beginning or the last restart.
    judged: usize,
    /// Judged trials since the best improved.
    since_improvement: usize,
    /// Score of the best when it last improved.
    best: Option<f64>,
}

/// See the module.
#[derive(Debug)]
pub struct Evolution {
    id: &'static str,
    bandit: Box<dyn Bandit>,
    memory: Memory,
}

fn entry(id: &str) -> BanditEntry {
    bandit(id).expect("invariant: a bandit of the list")
}

fn create(id: &'static str, bandit: &str) -> Box<dyn Strategy> {
    Box::new(Evolution::new(id, (entry(bandit).create)(), EvolutionSettings::default()))
}

fn restore(id: &'static str, bandit: &str, bytes: &[u8]) -> Result<Box<dyn Strategy>, StateError> {
    let (memory, arms): (Memory, Vec<u8>) = state::read(bytes)?;
    Ok(Box::new(Evolution { id, bandit: (entry(bandit).restore)(&arms)?, memory }))
}

/// How a proposal begins.
enum Start {
    /// It needs no mutation.
    Done(Proposal),
    /// The member at this place of the population is to be mutated.
    Parent(usize),
}

impl Memory {
    fn new(settings: EvolutionSettings) -> Self {
        Self {
            settings,
            population: Population::default(),
            scores: Scoreboard::default(),
            told: BTreeSet::new(),
            trials: 0,
            failures: 0,
            judged: 0,
            since_improvement: 0,
            best: None,
        }
    }

    /// Where the search stands, for a child of the trial `parent`.
    fn context(&self, parent: Option<u64>) -> SearchContext {
        SearchContext {
            trials: self.trials,
            spent: None,
            stagnation: self.since_improvement as f64 / self.settings.patience.max(1) as f64,
            diversity: self.population.diversity(),
            parent_rank: self.population.rank(parent),
            failures: self.failures as f64 / self.trials.max(1) as f64,
        }
    }

    /// An immigrant, a child of two parents, or the parent of a mutation.
    fn start(&self, space: &SearchSpace, rng: &mut dyn Rng) -> Start {
        let members = self.population.members();
        let beginning = self.judged < self.settings.initial;
        let immigrants = if beginning { self.settings.scatter } else { self.settings.immigrants };
        if members.is_empty() || rng.random::<f64>() < immigrants {
            return Start::Done(Proposal::random(space.sample(rng)));
        }
        let parent = self.tournament(rng);
        if members.len() > 1 && rng.random::<f64>() < self.settings.crossover {
            let other = &members[self.tournament(rng)].genome;
            if let Some(genome) = crossover(space, &members[parent].genome, other, rng) {
                return Start::Done(Proposal::child(genome, "crossover", members[parent].trial));
            }
        }
        Start::Parent(parent)
    }

    /// The fastest of a few members drawn at random.
    fn tournament(&self, rng: &mut dyn Rng) -> usize {
        let members = self.population.members().len();
        (0..self.settings.tournament.max(1))
            .map(|_| rng.random_range(0..members))
            .min()
            .expect("invariant: at least one member is drawn")
    }

    /// Score of a judged trial, and its gain over its parent.
    fn place(&mut self, judged: &Judged<Trial>) -> (Option<f64>, Option<f64>) {
        let score = self.scores.place(judged);
        let parent = judged.subject().provenance.parent.and_then(|parent| self.scores.score(parent));
        (score, parent.zip(score).map(|(parent, score)| parent - score))
    }

    /// Takes a trial in that has this score, and gives its genome where it is one of this space.
    fn absorb(&mut self, space: &SearchSpace, trial: &Trial, score: Option<f64>) -> Option<Genome> {
        self.failures += u64::from(score.is_none());
        let schedule = &trial.candidate.schedule;
        let genome = space.encode(schedule).or_else(|| space.nearest(schedule));
        if let Some(genome) = &genome {
            self.told.insert(genome.clone());
            if let Some(score) = score {
                let member = Member { genome: genome.clone(), score, trial: trial.index };
                self.population.insert(member, self.settings.capacity);
            }
        }
        self.note_progress();
        genome
    }

    /// Counts what was judged, and begins anew when nothing has improved for long.
    fn note_progress(&mut self) {
        let Self { settings, population, trials, judged, since_improvement, best, .. } = self;
        *trials += 1;
        *judged += 1;
        *since_improvement += 1;
        let Some(leader) = population.members().first().map(|member| member.score) else { return };
        if best.is_none_or(|best| leader < best - IMPROVEMENT) {
            *best = Some(leader);
            *since_improvement = 0;
        }
        if *since_improvement >= settings.patience {
            population.keep(settings.elites);
            *judged = 0;
            *since_improvement = 0;
        }
    }
}

impl Evolution {
    /// A search that has seen nothing.
    pub fn new(id: &'static str, bandit: Box<dyn Bandit>, settings: EvolutionSettings) -> Self {
        Self { id, bandit, memory: Memory::new(settings) }
    }

    fn propose(&mut self, space: &SearchSpace, arms: &[&'static str], rng: &mut dyn Rng) -> Option<Proposal> {
        let parent = match self.memory.start(space, rng) {
            Start::Done(proposal) => return Some(proposal),
            Start::Parent(parent) => &self.memory.population.members()[parent],
        };
        let context = self.memory.context(Some(parent.trial));
        let operator = mutation(arms[self.bandit.select(arms, &context, rng)])?;
        let genome = operator.apply(space, &parent.genome, rng)?;
        Some(Proposal::child(genome, operator.id(), parent.trial))
    }
}

impl Strategy for Evolution {
    fn id(&self) -> &'static str {
        self.id
    }

    fn ask(&mut self, space: &SearchSpace, count: usize, rng: &mut dyn Rng) -> Vec<Proposal> {
        let arms: Vec<&'static str> = mutations().iter().map(|mutation| mutation.id()).collect();
        let mut proposals: Vec<Proposal> = Vec::with_capacity(count);
        let mut fresh = BTreeSet::new();
        let mut repeats = 0;
        while proposals.len() < count && repeats < MOST_REPEATS {
            let proposal = self.propose(space, &arms, rng).filter(|proposal| {
                !self.memory.told.contains(&proposal.genome) && fresh.insert(proposal.genome.clone())
            });
            match proposal {
                Some(proposal) => {
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
            let trial = judged.subject();
            let (score, gain) = self.memory.place(judged);
            if let Some(operator) = &trial.provenance.operator {
                let context = self.memory.context(trial.provenance.parent);
                self.bandit.reward(operator, judged, gain, &context);
            }
            self.memory.absorb(space, trial, score);
        }
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(&(&self.memory, self.bandit.save()?))
    }
}
