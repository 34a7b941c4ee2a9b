use std::sync::Arc;

use tilewright_genome::{Gene, Genome, SearchSpace, SpaceError};
use tilewright_journal::{EvalError, Measurement, Outcome, Subject};
use tilewright_recorded::{Failure, FailureKind, Parameter, RecordedSpace};
use tilewright_stats::Evidence;
use tilewright_stats::samples::quantile;

use super::baseline::Baseline;
use super::window::Window;

/// Why a recorded space cannot be scored on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScoreError {
    /// No configuration has a time.
    #[error("no configuration has a time, so there is nothing to find")]
    NothingValid,
    /// The median configuration is as fast as the best.
    #[error("at least half of the configurations are as fast as the best, so there is nothing to find")]
    Flat,
    /// No costs were recorded.
    #[error("the recording says nothing about what evaluations cost; record compile and launch times")]
    Free,
    /// The configurations make no search space.
    #[error(transparent)]
    Space(#[from] SpaceError),
}

/// A recorded space ready to be searched and scored.
#[derive(Debug, Clone)]
pub struct ScoredSpace {
    name: String,
    subject: Arc<Subject>,
    space: SearchSpace,
    answers: Vec<Answer>,
    recorded: RecordedSpace,
    window: Window,
    baseline: Baseline,
}

/// What is answered for a configuration.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    /// Single launches, ns; empty for a failure.
    pub(super) samples_ns: Vec<f64>,
    /// The objective, ms.
    pub(super) time_ms: Option<f64>,
    pub(super) cost_seconds: f64,
}

impl Answer {
    /// What it costs, ns, at least 1.
    pub(super) fn elapsed_ns(&self) -> u64 {
        (self.cost_seconds * 1e9).round().max(1.0) as u64
    }
}

impl ScoredSpace {
    /// A space under a name, by which its random streams and its results are known.
    ///
    /// Its genes are the recorded parameters: ordered where all values are whole numbers from 0 on, else
    /// choices; a genome's indices are those of the recording. Legal is what was recorded.
    ///
    /// # Errors
    /// When there is nothing to find, or costs are missing.
    pub fn new(name: &str, recorded: RecordedSpace) -> Result<Self, ScoreError> {
        let genes = recorded.parameters().iter().map(gene).collect();
        let configurations = recorded.configurations();
        let points =
            configurations.iter().map(|configuration| Genome(configuration.values.clone())).collect();
        let space = SearchSpace::enumerated(genes, points)?;
        let answers: Vec<Answer> = configurations
            .iter()
            .map(|configuration| {
                let cost_seconds = configuration.cost.seconds();
                match &configuration.result {
                    Ok(timing) => {
                        let samples_ns = timing.evidence_ns();
                        let outcome = Ok(measurement(timing.time_ms, &samples_ns));
                        Answer { outcome, samples_ns, time_ms: Some(timing.time_ms), cost_seconds }
                    }
                    Err(failure) => Answer {
                        outcome: Err(error(failure)),
                        samples_ns: Vec::new(),
                        time_ms: None,
                        cost_seconds,
                    },
                }
            })
            .collect();
        let costs: Vec<f64> = answers.iter().map(|answer| answer.cost_seconds).collect();
        let baseline =
            Baseline::new(answers.iter().filter_map(|answer| answer.time_ms).collect(), answers.len());
        let window = Window::new(&baseline, &costs)?;
        let subject = Arc::new(recorded.subject());
        Ok(Self { name: name.to_owned(), subject, space, answers, recorded, window, baseline })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is searched.
    pub fn space(&self) -> &SearchSpace {
        &self.space
    }

    /// What was recorded.
    pub fn recorded(&self) -> &RecordedSpace {
        &self.recorded
    }

    /// The times at which a strategy is looked at.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// What random search is expected to find.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// Evaluations of median cost that the budget pays for.
    pub fn evaluations(&self) -> u64 {
        let costs: Vec<f64> = self.answers.iter().map(|answer| answer.cost_seconds).collect();
        let median = quantile(&costs, 0.5).unwrap_or(f64::INFINITY);
        (self.window.budget_seconds / median) as u64
    }

    /// What is being made fast.
    pub fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    /// What is answered for a genome, with its number; `None` for one that was not recorded.
    pub(super) fn answer(&self, genome: &Genome) -> Option<(usize, &Answer)> {
        let at = self.recorded.find(&genome.0)?;
        Some((at, &self.answers[at]))
    }

    /// The answer with this number as evidence beside another one, or beside itself.
    pub(super) fn evidence(&self, at: usize, beside: Option<usize>) -> Evidence {
        let samples = |at: usize| self.answers[at].samples_ns.clone();
        match &self.answers[at].outcome {
            Ok(_) => Evidence::Samples { incumbent: samples(beside.unwrap_or(at)), candidate: samples(at) },
            // What was recorded fails again however often it is looked up.
            Err(error) => Evidence::Failure { kind: error.kind().to_owned(), reproduced: true },
        }
    }
}

/// Each parameter is a group of its own: a recording does not say which belong together.
fn gene(parameter: &Parameter) -> Gene {
    let Parameter { name, values, ordered } = parameter;
    if *ordered {
        let sizes = values.iter().filter_map(tilewright_recorded::Value::size).collect();
        return Gene::ordered(name, name, sizes);
    }
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    Gene::categorical(name, name, &texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn measurement(time_ms: f64, samples_ns: &[f64]) -> Measurement {
    Measurement {
        p99_ns: quantile(samples_ns, 0.99).ok(),
        launches: samples_ns.len() as u64,
        kernel_ns: samples_ns.iter().sum::<f64>() as u64,
        ..Measurement::predicted(time_ms * 1e6)
    }
}

fn error(failure: &Failure) -> EvalError {
    let text = failure.text.clone();
    match failure.kind {
        FailureKind::Illegal => EvalError::Illegal(text),
        FailureKind::Compile => EvalError::Compile(text),
        // A recording does not say which signal.
        FailureKind::Run => EvalError::Crashed { signal: 0 },
        FailureKind::Timeout => EvalError::Timeout { limit_ms: 0 },
        FailureKind::WrongAnswer => EvalError::WrongAnswer {
            tensor: text,
            at: Vec::new(),
            found: f64::NAN,
            wanted: f64::NAN,
            max_error: f64::NAN,
            tolerance: f64::NAN,
        },
    }
}
