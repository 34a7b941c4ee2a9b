//! A runner that answers from a recording, so that whole campaigns can be run on it.

use rand::Rng;
use tilewright_evaluator::{BatchReport, Evaluation, Runner, Task};
use tilewright_ir::Schedule;
use tilewright_journal::{EvalError, Fidelity};
use tilewright_stats::Evidence;

use super::space::{Answer, ScoredSpace};

/// Answers tasks from a recorded space and charges what recording each configuration cost. As a campaign asks
/// for no program twice, nothing is free.
#[derive(Debug, Clone)]
pub struct RecordedRunner<'a> {
    space: &'a ScoredSpace,
}

impl<'a> RecordedRunner<'a> {
    /// Answers from this space.
    pub fn new(space: &'a ScoredSpace) -> Self {
        Self { space }
    }

    /// A configuration to begin with: a recording does not say which one its kernel has without a tuner, so
    /// one is drawn. Strategies that are compared are given the same one, by the same generator.
    pub fn first(&self, rng: &mut dyn Rng) -> Schedule {
        self.space.space().decode(&self.space.space().sample(rng)).unwrap_or_default()
    }

    fn answer(&self, schedule: &Schedule) -> Option<(usize, &'a Answer)> {
        self.space.answer(&self.space.space().encode(schedule)?)
    }

    fn evaluate(&self, incumbent: Option<&Task>, task: &Task) -> Evaluation {
        let Some((at, answer)) = self.answer(&task.candidate.schedule) else {
            let error = EvalError::Illegal("it was not recorded".to_owned());
            let kind = error.kind().to_owned();
            let evidence = Evidence::Failure { kind, reproduced: true };
            return Evaluation { outcome: Err(error), evidence, elapsed_ns: 0 };
        };
        let beside = incumbent.and_then(|task| self.answer(&task.candidate.schedule));
        Evaluation {
            outcome: answer.outcome.clone(),
            evidence: self.space.evidence(at, beside.map(|(beside, _)| beside)),
            elapsed_ns: answer.elapsed_ns(),
        }
    }
}

impl Runner for RecordedRunner<'_> {
    fn run(&mut self, incumbent: Option<&Task>, batch: &[Task]) -> BatchReport {
        let evaluations = batch.iter().map(|task| self.evaluate(incumbent, task)).collect();
        BatchReport { evaluations, overhead_ns: 0 }
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Replayed
    }
}
