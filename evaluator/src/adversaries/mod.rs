//! Kernels that cheat, stray and attack, as a standing test of what rejects them.
//!
//! Each is tried like any candidate: loaded into a confined worker, verified, compared beside a right kernel. The list
//! is in machine code, so that it needs no compiler; `evaluator/adversaries/` holds more in C, for `tilewright judge`.

mod list;
mod machine_code;

use std::path::Path;
use std::time::Duration;

use iced_x86::IcedError;
use iced_x86::code_asm::CodeAssembler;
use serde::Serialize;
use tilewright_codegen::{Artifact, EntryPoint};
use tilewright_ir::{CacheState, WorkloadKey};
use tilewright_journal::EvalError;

use crate::EvaluatorError;
use crate::protocol::{TimePlan, WarmUp};
use crate::stand::{Isolation, StandSettings, TestStand};
use machine_code::Shape;

/// What they pretend to compute.
const WORKLOAD: &str = "matmul:m=16,n=16,k=16,dtype=f32";
/// Scratch memory of each, bytes.
const WORKSPACE: u64 = 2048;
/// Longest time for each set of inputs.
const LIMIT: Duration = Duration::from_millis(300);

/// A kernel that must be rejected.
pub(crate) struct Adversary {
    name: &'static str,
    /// Kinds of failure under which it may be recorded.
    expected: &'static [&'static str],
    workers: u32,
    write: fn(&mut CodeAssembler) -> Result<(), IcedError>,
}

/// What became of an adversary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdversaryOutcome {
    /// What it does.
    pub name: &'static str,
    /// Kinds of failure under which it may be recorded.
    pub expected: &'static [&'static str],
    /// The kind under which it was rejected; `None`: it passed.
    pub got: Option<&'static str>,
    /// The failure in words; empty where it passed.
    pub detail: String,
}

impl AdversaryOutcome {
    /// Whether it was rejected for what it does.
    pub fn is_as_expected(&self) -> bool {
        self.got.is_some_and(|got| self.expected.contains(&got))
    }
}

/// Tries every adversary on this machine, each in a fresh worker.
///
/// # Errors
/// When there is no worker to try them in; not when one of them passes.
pub fn run_adversaries(executable: &Path) -> Result<Vec<AdversaryOutcome>, EvaluatorError> {
    let mut outcomes = Vec::new();
    for adversary in list::ADVERSARIES {
        let mut stand = stand(executable, adversary.workers)?;
        let failed = attempt(&mut stand, adversary).err();
        outcomes.push(AdversaryOutcome {
            name: adversary.name,
            expected: adversary.expected,
            got: failed.as_ref().map(EvalError::kind),
            detail: failed.map_or_else(String::new, |error| error.to_string()),
        });
    }
    Ok(outcomes)
}

/// How workers are confined on this system.
///
/// # Errors
/// When no worker starts.
pub fn isolation(executable: &Path) -> Result<Isolation, EvaluatorError> {
    Ok(stand(executable, 1)?.isolation().clone())
}

fn stand(executable: &Path, threads: u32) -> Result<TestStand, EvaluatorError> {
    let refused = |reason: String| EvaluatorError::Workload { workload: WORKLOAD.to_owned(), reason };
    let workload = WORKLOAD.parse().map_err(|error| refused(format!("{error}")))?;
    let key = WorkloadKey { workload, target: String::new(), threads, cache: CacheState::Warm };
    TestStand::new(&key, StandSettings { executable: executable.to_owned(), seed: 17, thorough: true })
}

fn attempt(stand: &mut TestStand, adversary: &Adversary) -> Result<(), EvalError> {
    let right = artifact(1, |asm| machine_code::multiply(asm, Shape::cube(16)))?;
    stand.set_incumbent(&right)?;
    let examined = stand.examine(&artifact(adversary.workers, adversary.write)?, LIMIT)?;
    let launches = (2e5 / examined.first_ns).clamp(1.0, 100.0) as u32;
    let plan = TimePlan {
        pairs: 4,
        launches: [launches; 2],
        candidate_first: 0b0101,
        checked_pair: 2,
        warm_up: WarmUp::Both,
        cold: false,
    };
    stand.compare(&plan, LIMIT).map(|_| ())
}

fn artifact(
    workers: u32,
    write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> Result<Artifact, EvalError> {
    let code = machine_code::code(write).map_err(|error| EvalError::Compile(error.to_string()))?;
    let entries = vec![EntryPoint { name: "run".to_owned(), offset: 0 }];
    Ok(Artifact { isa: String::new(), code, entries, workers, workspace_bytes: WORKSPACE })
}
