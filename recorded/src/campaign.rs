//! The trials of a campaign as a recorded space.
//!
//! A parameter without effect is absent from a schedule. It becomes 0 where all its other values are numbers
//! and none is 0, else the text `absent`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tilewright_ir::{Schedule, ScheduleValue};
use tilewright_journal::{EvalError, Event, Journal, Subject, Trial};
use tilewright_stats::{Evidence, PairedTimes};

use crate::builder::{Builder, Row};
use crate::error::RecordedError;
use crate::space::{Cost, Failure, FailureKind, RecordedSpace, Timing};
use crate::value::Value;

const NS_PER_MS: f64 = 1e6;

/// The space of a journal.
pub(crate) fn read(path: &Path) -> Result<RecordedSpace, RecordedError> {
    let file = path.display().to_string();
    let journal = Journal::read(path)?;
    let mut builder = Builder {
        file,
        kernel: "unnamed".to_owned(),
        device: "unnamed".to_owned(),
        digest: String::new(),
        cut_off: !journal.damage.is_empty(),
        names: Vec::new(),
        rows: Vec::new(),
    };
    let mut digest = blake3::Hasher::new();
    let mut seen: BTreeSet<&Schedule> = BTreeSet::new();
    let mut trials: Vec<&Trial> = Vec::new();
    for event in journal.events() {
        match event {
            Event::CampaignStarted(started) => {
                (builder.kernel, builder.device) = match &started.subject {
                    Subject::Workload(key) => (key.to_string(), started.host.processor.clone()),
                    Subject::Recorded(recorded) => (recorded.space.clone(), recorded.device.clone()),
                };
            }
            Event::TrialFinished(finished) => {
                let trial = &finished.trial;
                digest.update(format!("{} {}\n", trial.index, trial.candidate.schedule).as_bytes());
                // Nothing ran for a duplicate, and a schedule that could not be made has no values.
                let ran = !matches!(trial.outcome, Err(EvalError::Duplicate { .. }));
                let known = !trial.candidate.schedule.parameters.is_empty();
                if ran && known && seen.insert(&trial.candidate.schedule) {
                    trials.push(trial);
                }
            }
            _ => {}
        }
    }
    let absent = absent_values(&trials);
    builder.digest = digest.finalize().to_hex().to_string();
    builder.names = absent.keys().map(|&name| name.to_owned()).collect();
    builder.rows = trials.iter().map(|trial| row(trial, &absent)).collect();
    builder.build()
}

/// Every parameter with what stands for its absence.
fn absent_values<'a>(trials: &[&'a Trial]) -> BTreeMap<&'a str, Value> {
    let mut sizes: BTreeMap<&str, bool> = BTreeMap::new();
    for (name, value) in trials.iter().flat_map(|trial| &trial.candidate.schedule.parameters) {
        let size = matches!(value, ScheduleValue::Number(1..));
        *sizes.entry(name).or_insert(true) &= size;
    }
    let absent = |size| if size { Value::Integer(0) } else { Value::Text("absent".to_owned()) };
    sizes.into_iter().map(|(name, size)| (name, absent(size))).collect()
}

fn row(trial: &Trial, absent: &BTreeMap<&str, Value>) -> Row {
    let values = absent.iter().map(|(&name, absent)| match trial.candidate.schedule.parameters.get(name) {
        Some(ScheduleValue::Number(number)) => {
            i64::try_from(*number).map_or_else(|_| Value::Text(number.to_string()), Value::Integer)
        }
        Some(ScheduleValue::Name(name)) => Value::Text(name.clone()),
        None => absent.clone(),
    });
    let elapsed_ms = trial.elapsed_ns as f64 / NS_PER_MS;
    let (result, compile_ms, launches_ms) = match &trial.outcome {
        Ok(measurement) => {
            let samples_ms = samples(&trial.evidence);
            let timing = Timing { time_ms: measurement.median_ns / NS_PER_MS, samples_ms };
            let launches_ms = measurement.kernel_ns as f64 / NS_PER_MS;
            (Ok(timing), measurement.codegen_ns as f64 / NS_PER_MS, launches_ms)
        }
        Err(error) => (Err(Failure { kind: kind(error), text: error.to_string() }), 0.0, 0.0),
    };
    let framework_ms = (elapsed_ms - compile_ms - launches_ms).max(0.0);
    let cost = Cost { compile_ms, launches_ms, framework_ms, ..Cost::default() };
    Row { place: format!("trial {}", trial.index), values: values.collect(), result, cost }
}

/// The candidate's samples, ms.
fn samples(evidence: &Evidence) -> Vec<f64> {
    match evidence {
        Evidence::Pairs { candidate, .. }
        | Evidence::Samples { candidate, .. }
        | Evidence::Claim { confirmation: PairedTimes { candidate, .. }, .. } => {
            candidate.iter().map(|time| time / NS_PER_MS).collect()
        }
        Evidence::Exact { candidate, .. } => vec![candidate / NS_PER_MS],
        Evidence::Failure { .. } => Vec::new(),
    }
}

fn kind(error: &EvalError) -> FailureKind {
    match error {
        EvalError::Illegal(_) | EvalError::Duplicate { .. } => FailureKind::Illegal,
        EvalError::Compile(_) => FailureKind::Compile,
        EvalError::Timeout { .. } => FailureKind::Timeout,
        EvalError::WrongAnswer { .. } | EvalError::StaleOutput(_) | EvalError::Nondeterministic(_) => {
            FailureKind::WrongAnswer
        }
        EvalError::OutOfBounds(_)
        | EvalError::InputModified(_)
        | EvalError::TimerTampered(_)
        | EvalError::StateChanged(_)
        | EvalError::ThreadLeft(_)
        | EvalError::Forked(_)
        | EvalError::ForbiddenCall(_)
        | EvalError::Crashed { .. }
        | EvalError::IllegalInstruction
        | EvalError::OutOfMemory
        | EvalError::Implausible(_)
        | EvalError::Lost(_)
        | EvalError::Unknown(_) => FailureKind::Run,
    }
}
