//! One run of a strategy against a recording: proposals are asked for one at a time, answered, judged by the
//! gate for recorded samples, and told. Nothing is lowered and nothing is written.

use std::collections::BTreeSet;
use std::sync::Arc;

use tilewright_genome::Genome;
use tilewright_ir::Schedule;
use tilewright_journal::{Candidate, EvalError, Fidelity, Provenance, Trial};
use tilewright_stats::{Decision, Evidence, Judged};

use super::space::ScoredSpace;
use crate::campaign::judge;
use crate::strategy::{Proposal, Strategy};
use crate::streams;

/// Questions in a row that bring nothing new before the strategy counts as having nothing left.
const MOST_IDLE: u32 = 64;

/// A better value was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Improvement {
    /// When, s of recorded cost since the start.
    pub seconds: f64,
    /// The best value from then on, ms.
    pub time_ms: f64,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Mean performance over the window.
    pub score: f64,
    /// Different configurations that were evaluated.
    pub evaluations: u64,
    /// Every improvement, in order.
    pub improvements: Vec<Improvement>,
    /// Why the strategy proposed nothing more before the end, where it failed.
    pub failure: Option<String>,
}

/// Runs a strategy on a space until the budget is spent or it has nothing left to propose.
///
/// The same `seed` gives the same run. The generator of each question is the campaign's: one stream a round.
pub fn replay(space: &ScoredSpace, strategy: &mut dyn Strategy, seed: u64) -> Replay {
    let mut run = Run::new(space);
    let (mut round, mut idle) = (0, 0);
    while run.seconds < space.window().budget_seconds && idle < MOST_IDLE {
        let mut rng = streams::of_round(seed, round);
        round += 1;
        idle += 1;
        for proposal in strategy.ask(space.space(), 1, &mut rng) {
            if let Some(judged) = run.evaluate(strategy.id(), proposal) {
                idle = if judged.subject().elapsed_ns > 0 { 0 } else { idle };
                strategy.tell(space.space(), &[judged]);
            }
        }
    }
    let score = run.performance().iter().sum::<f64>() / space.window().seconds.len() as f64;
    let evaluations = run.seen.len() as u64;
    Replay { score, evaluations, improvements: run.improvements, failure: strategy.failure() }
}

/// Every configuration of a space, evaluated and judged in the order of the recording: what a heuristic can be
/// learned from.
pub fn judged(space: &ScoredSpace) -> Vec<Judged<Trial>> {
    let mut run = Run::new(space);
    let proposals =
        space.recorded().configurations().iter().map(|it| Proposal::random(Genome(it.values.clone())));
    proposals.filter_map(|proposal| run.evaluate("recording", proposal)).collect()
}

struct Run<'a> {
    space: &'a ScoredSpace,
    index: u64,
    seconds: f64,
    /// Numbers of the configurations seen so far.
    seen: BTreeSet<usize>,
    /// Trial and configuration of the one to beat.
    incumbent: Option<(u64, usize)>,
    improvements: Vec<Improvement>,
}

impl<'a> Run<'a> {
    fn new(space: &'a ScoredSpace) -> Self {
        Self {
            space,
            index: 0,
            seconds: 0.0,
            seen: BTreeSet::new(),
            incumbent: None,
            improvements: Vec::new(),
        }
    }

    /// The judged answer to a proposal; `None` for one that was answered before.
    fn evaluate(&mut self, strategy: &str, proposal: Proposal) -> Option<Judged<Trial>> {
        let Some((at, answer)) = self.space.answer(&proposal.genome) else {
            return Some(self.refuse(strategy, proposal));
        };
        if !self.seen.insert(at) {
            return None;
        }
        self.seconds += answer.cost_seconds;
        if let Some(time_ms) = answer.time_ms
            && self.improvements.last().is_none_or(|best| time_ms < best.time_ms)
        {
            self.improvements.push(Improvement { seconds: self.seconds, time_ms });
        }
        let evidence = self.space.evidence(at, self.incumbent.map(|(_, incumbent)| incumbent));
        let schedule = self.space.recorded().schedule(at).unwrap_or_default();
        let trial = self.trial(strategy, proposal, schedule);
        let trial =
            Trial { outcome: answer.outcome.clone(), evidence, elapsed_ns: answer.elapsed_ns(), ..trial };
        let valid = trial.outcome.is_ok();
        let (judged, _) = judge(trial);
        let beats = self.incumbent.is_none() || judged.verdict().kind == Decision::Faster;
        if valid && beats {
            self.incumbent = Some((judged.subject().index, at));
        }
        Some(judged)
    }

    /// The answer to a genome that was not recorded.
    fn refuse(&mut self, strategy: &str, proposal: Proposal) -> Judged<Trial> {
        let reason = self.space.space().decode(&proposal.genome).err();
        let error = EvalError::Illegal(
            reason.map_or_else(|| "it was not recorded".to_owned(), |why| why.to_string()),
        );
        let evidence = Evidence::Failure { kind: error.kind().to_owned(), reproduced: true };
        let trial = self.trial(strategy, proposal, Schedule::default());
        judge(Trial { outcome: Err(error), evidence, incumbent: None, ..trial }).0
    }

    /// A trial with everything but its answer.
    fn trial(&mut self, strategy: &str, proposal: Proposal, schedule: Schedule) -> Trial {
        let index = self.index;
        self.index += 1;
        Trial {
            index,
            candidate: Candidate { subject: Arc::clone(self.space.subject()), schedule },
            program_hash: None,
            outcome: Err(EvalError::Lost(String::new())),
            evidence: Evidence::Failure { kind: String::new(), reproduced: false },
            incumbent: self.incumbent.map(|(trial, _)| trial),
            provenance: Provenance {
                strategy: strategy.to_owned(),
                operator: proposal.operator,
                parent: proposal.parent,
                fidelity: Fidelity::Replayed,
                stream: index,
                predicted_ns: None,
            },
            at_ns: (self.seconds * 1e9) as u64,
            elapsed_ns: 0,
        }
    }

    fn performance(&self) -> Vec<f64> {
        performance(self.space, &self.improvements)
    }
}

/// Performance at each time of the window; before the first valid value the median counts.
pub(super) fn performance(space: &ScoredSpace, improvements: &[Improvement]) -> Vec<f64> {
    let window = space.window();
    let (mut best, mut next) = (window.median, 0);
    let times = window.seconds.iter().enumerate();
    times
        .map(|(at, &time)| {
            while let Some(improvement) = improvements.get(next).filter(|found| found.seconds <= time) {
                best = improvement.time_ms;
                next += 1;
            }
            window.performance(at, best)
        })
        .collect()
}
