//! Answers from a journal what was measured then.
//!
//! The answers to one candidate come in the order they were recorded in, since a candidate that was tried
//! twice need not have been as fast both times. Nothing is confirmed: a replay measures nothing.
//!
//! ```
//! # use tilewright_evaluator::{ReplayRunner, Runner};
//! let mut replay = ReplayRunner::new(&[]);
//! assert!(replay.run(None, &[]).evaluations.is_empty());
//! ```

use std::collections::{BTreeMap, VecDeque};

use tilewright_ir::Schedule;
use tilewright_journal::{EvalError, Fidelity, Trial};
use tilewright_stats::Evidence;

use crate::runner::{BatchReport, Evaluation, Runner, Task};

/// The runner.
#[derive(Debug, Clone, Default)]
pub struct ReplayRunner {
    answers: BTreeMap<Schedule, VecDeque<Evaluation>>,
}

impl ReplayRunner {
    /// Answers with these trials, which are of one subject. Duplicates are left out: a search finds them
    /// itself.
    pub fn new(trials: &[Trial]) -> Self {
        let mut answers: BTreeMap<_, VecDeque<_>> = BTreeMap::new();
        for trial in trials.iter().filter(|trial| !matches!(trial.outcome, Err(EvalError::Duplicate { .. })))
        {
            answers.entry(trial.candidate.schedule.clone()).or_default().push_back(Evaluation {
                outcome: trial.outcome.clone(),
                evidence: trial.evidence.clone(),
                elapsed_ns: trial.elapsed_ns,
            });
        }
        Self { answers }
    }

    /// Recorded answers that were not asked for yet.
    pub fn left(&self) -> usize {
        self.answers.values().map(VecDeque::len).sum()
    }

    fn answer(&mut self, task: &Task) -> Evaluation {
        let recorded = self.answers.get_mut(&task.candidate.schedule).and_then(VecDeque::pop_front);
        recorded.unwrap_or_else(|| {
            let error = EvalError::Lost("the recording does not have this candidate".to_owned());
            let kind = error.kind().to_owned();
            Evaluation {
                outcome: Err(error),
                evidence: Evidence::Failure { kind, reproduced: false },
                elapsed_ns: 0,
            }
        })
    }
}

impl Runner for ReplayRunner {
    fn run(&mut self, _: Option<&Task>, batch: &[Task]) -> BatchReport {
        let evaluations = batch.iter().map(|task| self.answer(task)).collect();
        BatchReport { evaluations, overhead_ns: 0 }
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Replayed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tilewright_journal::{Candidate, Measurement, Provenance, RecordedSpace, Subject};

    use super::*;

    fn task(unroll: u64) -> Task {
        let space = RecordedSpace {
            space: "s".to_owned(),
            device: "d".to_owned(),
            digest: String::new(),
            parameters: vec!["unroll".to_owned()],
        };
        let schedule = Schedule::default().with_number("unroll", unroll);
        let candidate = Candidate { subject: Arc::new(Subject::Recorded(space)), schedule };
        Task { candidate, program: None, seed: 0 }
    }

    fn trial(index: u64, unroll: u64, nanoseconds: f64) -> Trial {
        Trial {
            index,
            candidate: task(unroll).candidate,
            program_hash: None,
            outcome: Ok(Measurement::predicted(nanoseconds)),
            evidence: Evidence::Exact { incumbent: 1.0, candidate: nanoseconds },
            incumbent: None,
            provenance: Provenance {
                strategy: "random".to_owned(),
                operator: None,
                parent: None,
                fidelity: Fidelity::Measured,
                stream: index,
                predicted_ns: None,
            },
            at_ns: 0,
            elapsed_ns: 7,
        }
    }

    #[test]
    fn answers_come_in_the_recorded_order() {
        let mut replay = ReplayRunner::new(&[trial(0, 1, 10.0), trial(1, 2, 20.0), trial(2, 1, 30.0)]);
        let report = replay.run(None, &[task(1), task(2), task(1), task(1), task(4)]);
        let times: Vec<Option<f64>> = report
            .evaluations
            .iter()
            .map(|evaluation| evaluation.outcome.as_ref().ok().map(|measurement| measurement.median_ns))
            .collect();
        assert_eq!(times, [Some(10.0), Some(20.0), Some(30.0), None, None]);
        assert_eq!((replay.left(), report.evaluations[0].elapsed_ns), (0, 7));
    }
}
