//! A strategy that is told of advice, and lets it earn its weight.
//!
//! Advice is a list of points that did well elsewhere. What it is worth here shows on the points that the
//! strategy evaluates anyway: each advisor is asked beforehand where it would place them, and is believed as
//! far as its order agrees with what was found, beyond doubt. After that proposals are drawn: the strategy's
//! own with a fixed weight, an advisor's with what it has proven, less the more of its points were tried in
//! vain. The strategy learns from all of them. An advisor that misleads loses its weight as it got it.
//!
//! Before it has proven anything, all advice together gets two evaluations: one at once, and the other when an
//! order agrees at all. Half of all evaluations are advice where there are fewer than fifty, because there is
//! no time to wait for proof.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::{Genome, SearchSpace};
use tilewright_journal::{ProposerAnswered, Trial};
use tilewright_stats::Judged;

use super::advisor::Advisor;
use crate::ranker::Skill;
use crate::scoreboard::Scoreboard;
use crate::state::{self, StateError};
use crate::strategy::{Proposal, Strategy};

/// Evaluations that advice gets before it has proven anything.
const UNPROVEN: u64 = 2;
/// Evaluations below which it gets half of them.
const SHORT: u64 = 50;
/// Weight of the strategy's own proposals. An advisor whose order is right in 60 trials to a rank correlation
/// of 0.7 has a weight of 0.7.
const OWN: f64 = 0.5;
/// Points in vain after which an advisor's weight is half of what it has proven.
const PATIENCE: f64 = 8.0;
/// Advisors whose points fit the space less than this share of the best one's wait until they have proven
/// themselves.
const FIT: f64 = 0.5;
/// Questions to the strategy before it counts as having nothing that is not asked already.
const MOST_REPEATS: usize = 12;
/// How the operator of a proposal begins that is advice; the origin of the advice follows.
const OPERATOR: &str = "advice of ";

/// Where the advice comes from that an operator of this name stands for; `None` for any other operator.
pub fn advice_of(operator: &str) -> Option<&str> {
    operator.strip_prefix(OPERATOR)
}

/// See the module.
#[derive(Debug)]
pub struct Advised {
    strategy: Box<dyn Strategy>,
    state: State,
}

#[derive(Debug, Serialize, Deserialize)]
struct State {
    advisors: Vec<Standing>,
    /// Whether there is no time to wait for proof.
    short: bool,
    /// Evaluations that advice still gets without proof.
    unproven: u64,
    scores: Scoreboard,
    best: Option<f64>,
    /// Points asked for or known, with the advisor that named them.
    known: BTreeMap<Genome, Option<usize>>,
}

/// An advisor and what it has proven.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Standing {
    advisor: Advisor,
    skill: Skill,
    /// Points of its list that are behind.
    next: usize,
    /// Points of its own that were judged since one was the best so far.
    in_vain: u64,
}

impl Advised {
    /// A strategy with advisors, and the number of evaluations that it will get, where that is known.
    pub fn new(strategy: Box<dyn Strategy>, advisors: Vec<Advisor>, evaluations: Option<u64>) -> Self {
        let standing = |advisor| Standing { advisor, skill: Skill::default(), next: 0, in_vain: 0 };
        let short = evaluations.filter(|&all| all < SHORT);
        let state = State {
            advisors: advisors.into_iter().map(standing).collect(),
            short: short.is_some(),
            unproven: short.map_or(UNPROVEN, |all| all / 2),
            scores: Scoreboard::default(),
            best: None,
            known: BTreeMap::new(),
        };
        Self { strategy, state }
    }

    /// A point of the strategy's own.
    fn own(&mut self, space: &SearchSpace, rng: &mut dyn Rng) -> Option<Proposal> {
        let mut last = None;
        for _ in 0..MOST_REPEATS {
            let proposal = self.strategy.ask(space, 1, rng).pop()?;
            if !self.state.known.contains_key(&proposal.genome) {
                self.state.known.insert(proposal.genome.clone(), None);
                return Some(proposal);
            }
            last = Some(proposal);
        }
        last
    }
}

impl State {
    /// A point that an advisor names, if advice has its turn.
    fn advice(&mut self, space: &SearchSpace, rng: &mut dyn Rng) -> Option<Proposal> {
        let weights: Vec<f64> = self.advisors.iter_mut().map(|it| it.weight(&self.known)).collect();
        let proven: f64 = weights.iter().sum();
        let at = if proven > 0.0 {
            let mut draw = rng.random::<f64>() * (proven + OWN);
            weights.iter().position(|weight| {
                draw -= weight;
                draw < 0.0
            })
        } else {
            self.unproven(space)
        }?;
        let Standing { advisor, next, .. } = &self.advisors[at];
        let (genome, operator) =
            (advisor.best_first().get(*next)?.clone(), format!("{OPERATOR}{}", advisor.origin()));
        self.known.insert(genome.clone(), Some(at));
        Some(Proposal { genome, operator: Some(operator), parent: None })
    }

    /// The advisor that may name a point although none has proven anything: the one whose next point all of
    /// them think the best of.
    fn unproven(&mut self, space: &SearchSpace) -> Option<usize> {
        let best_fit = self.advisors.iter().map(|it| it.advisor.fit()).fold(0.0, f64::max);
        let at_once = self.short || self.unproven == UNPROVEN;
        let may =
            |it: &Standing| it.advisor.fit() >= FIT * best_fit && (at_once || it.skill.correlation() > 0.0);
        let placed = |genome: &Genome| -> f64 {
            let advisors = self.advisors.iter().map(|it| &it.advisor);
            advisors.map(|advisor| advisor.fit() * advisor.predict(space, genome)).sum()
        };
        let heads = self.advisors.iter().enumerate().filter(|(_, it)| self.unproven > 0 && may(it));
        let placed_heads =
            heads.filter_map(|(at, it)| Some((at, placed(it.advisor.best_first().get(it.next)?))));
        let (at, _) = placed_heads.min_by(|first, second| first.1.total_cmp(&second.1))?;
        self.unproven -= 1;
        Some(at)
    }

    fn note(&mut self, space: &SearchSpace, judged: &Judged<Trial>) {
        let score = self.scores.place(judged);
        let Some(genome) = space.encode(&judged.subject().candidate.schedule) else { return };
        let better = score.is_some_and(|score| self.best.is_none_or(|best| score < best));
        if better {
            self.best = score;
        }
        if let Some(at) = self.known.insert(genome.clone(), None).flatten() {
            let named_by = &mut self.advisors[at];
            named_by.in_vain = if better { 0 } else { named_by.in_vain + 1 };
            return;
        }
        // A failure is worse than anything that was found; by how much makes no difference to an order.
        let found = score.unwrap_or(f64::MAX);
        for standing in &mut self.advisors {
            standing.skill.note(standing.advisor.predict(space, &genome), found);
        }
    }
}

impl Standing {
    /// Its weight among the proposals, 0 when it has no more points; moves on to its next point.
    fn weight(&mut self, known: &BTreeMap<Genome, Option<usize>>) -> f64 {
        let points = self.advisor.best_first();
        while points.get(self.next).is_some_and(|genome| known.contains_key(genome)) {
            self.next += 1;
        }
        let left = self.next < points.len();
        if left { self.skill.proven() / (1.0 + self.in_vain as f64 / PATIENCE) } else { 0.0 }
    }
}

impl Strategy for Advised {
    fn id(&self) -> &'static str {
        self.strategy.id()
    }

    fn ask(&mut self, space: &SearchSpace, count: usize, rng: &mut dyn Rng) -> Vec<Proposal> {
        let mut proposals: Vec<Proposal> = Vec::with_capacity(count);
        while proposals.len() < count {
            let proposal = self.state.advice(space, rng).or_else(|| self.own(space, rng));
            let fresh = |it: &Proposal| proposals.iter().all(|other| other.genome != it.genome);
            let Some(proposal) = proposal.filter(fresh) else { break };
            proposals.push(proposal);
        }
        proposals
    }

    fn tell(&mut self, space: &SearchSpace, judged: &[Judged<Trial>]) {
        for judged in judged {
            self.state.note(space, judged);
        }
        self.strategy.tell(space, judged);
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(&(self.strategy.save()?, &self.state))
    }

    fn take_answers(&mut self) -> Vec<ProposerAnswered> {
        self.strategy.take_answers()
    }

    fn failure(&self) -> Option<String> {
        self.strategy.failure()
    }
}
