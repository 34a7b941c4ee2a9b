//! Verifies and measures a kept kernel again, beside the default schedule, in a fresh process.

use std::sync::Arc;

use anyhow::Result;
use serde::Serialize;
use tilewright_evaluator::{DeviceRunner, DeviceSettings, Pacing, Runner, Task};
use tilewright_ir::{Limits, Schedule, Workload, default_schedule, legalise, lower};
use tilewright_journal::{Candidate, Subject};
use tilewright_registry::{Record, Registry};
use tilewright_runtime::{HostFacts, artifact_of};
use tilewright_stats::{Decision, Gate, Level};

use crate::target::Target;

/// Gain that may be lost between two measurements before it counts as a problem: other load on the machine
/// moves ratios by less.
const LOST: f64 = 1.05;

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct Remeasured {
    record: String,
    workload: String,
    /// Time of the kept kernel over time of the default, now.
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    pub(crate) median_ns: Option<f64>,
    /// Whether this version still generates the very bytes that are kept.
    same_code: bool,
    /// What is wrong, if anything.
    pub(crate) problem: Option<String>,
}

impl Remeasured {
    /// One line for people.
    pub(crate) fn text(&self) -> String {
        let ratio = match (self.ratio, self.low, self.high) {
            (Some(ratio), Some(low), Some(high)) => {
                format!("{ratio:.3} [{low:.3}, {high:.3}] of the default's time")
            }
            _ => "not measured".to_owned(),
        };
        format!(
            "{} {}: {}, {ratio}",
            &self.record[..12],
            self.workload,
            if self.problem.is_some() { "problem" } else { "verified" }
        )
    }
}

/// A task for a schedule of a workload.
pub(crate) fn task(
    subject: &Arc<Subject>,
    workload: &Workload,
    schedule: Schedule,
    limits: &Limits,
    seed: u64,
) -> Result<Task> {
    let program = legalise(&lower(workload, &schedule, limits)?, limits)?;
    Ok(Task {
        candidate: Candidate { subject: Arc::clone(subject), schedule },
        program: Some(Arc::new(program)),
        seed,
    })
}

/// Measures one record.
pub(crate) fn remeasure(registry: &Registry, record: &Record, host: &HostFacts) -> Result<Remeasured> {
    let kernel = record.kernel.subject();
    let key = &kernel.key;
    let target = Target::of_host(host, Some(&kernel.artifact.isa))?;
    let limits = target.limits(key.threads);
    let subject = Arc::new(Subject::Workload(key.clone()));
    let mut found = Remeasured {
        record: record.id.to_string(),
        workload: key.workload.to_string(),
        ratio: None,
        low: None,
        high: None,
        median_ns: None,
        same_code: false,
        problem: None,
    };
    let kept = match artifact_of(registry, record) {
        Ok(artifact) => artifact,
        Err(error) => {
            found.problem = Some(error.to_string());
            return Ok(found);
        }
    };
    let winner = task(&subject, &key.workload, kernel.schedule.clone(), &limits, 1)?;
    let default = task(&subject, &key.workload, default_schedule(&key.workload, &limits), &limits, 2)?;
    let compiled = winner.program.as_ref().map(|program| target.isa.compile(program)).transpose()?;
    found.same_code = compiled.is_some_and(|compiled| compiled.code == kept.code);
    if !found.same_code {
        found.problem =
            Some("this version generates other code for its schedule: tune the workload again".to_owned());
        return Ok(found);
    }
    let executable = std::env::current_exe()?;
    let settings = DeviceSettings {
        isa: target.isa,
        executable,
        seed: 3,
        pacing: Pacing::default(),
        claim_level: Level::ONE_IN_TEN_THOUSAND,
    };
    let mut runner = DeviceRunner::new(key.clone(), settings)?;
    match runner.confirm(&winner, &default) {
        Err(error) => found.problem = Some(error.to_string()),
        Ok(None) => found.problem = Some("it could not be measured".to_owned()),
        Ok(Some(report)) => {
            let verdict = report.gate.judge(&report.evidence);
            (found.ratio, found.low, found.high) = (verdict.ratio, verdict.low, verdict.high);
            found.median_ns = Some(report.winner.measurement.median_ns);
            if verdict.kind == Decision::Slower && verdict.low.is_some_and(|low| low > LOST) {
                found.problem = Some("it is slower than the default schedule now".to_owned());
            }
        }
    }
    Ok(found)
}
