//! `tilewright judge`: a user's own kernel through the verification, measurement and gate of ours.

mod arguments;
mod library;
mod printed;

use anyhow::{Context, Result};
use tilewright_codegen::Artifact;
use tilewright_evaluator::{EvaluatorError, JudgeError, JudgeRequest, UserKernel, judge as judge_kernel};
use tilewright_ir::{Workload, WorkloadKey, default_schedule, legalise, lower};
use tilewright_registry::Registry;
use tilewright_runtime::{Dispatched, HostFacts, dispatch};

pub(crate) use arguments::{Against, JUDGE_EXAMPLES, Judge};
use printed::{Printed, Rival};

use crate::target::Target;
use crate::{Ending, UsageError, output, place, unusable};

/// Runs the command.
pub(crate) fn judge(arguments: &Judge) -> Result<Ending> {
    let library = library::checked(&arguments.library).map_err(unusable)?;
    let target = Target::of_host(&HostFacts::detect(), None)?;
    let key = target.key(&arguments.workload, arguments.threads, arguments.cache.into());
    let (rival, code) = rival(arguments, &target, &key)?;
    let seed = arguments.seed.unwrap_or_else(unpredictable);
    let symbol = arguments.symbol.clone();
    let request = JudgeRequest {
        kernel: UserKernel { library, symbol, workspace_bytes: arguments.workspace },
        key,
        rival: code,
        executable: std::env::current_exe().context("cannot find this program's file")?,
        seed,
    };
    if !arguments.quiet {
        output::note(&format!("judging {} beside {}", arguments.symbol, rival.words()));
    }
    let judged = match judge_kernel(&request) {
        Ok(judged) => Ok(judged),
        Err(JudgeError::Rejected { error, isolation }) => Err((*error, isolation)),
        Err(JudgeError::Unusable(text)) => {
            return Err(UsageError(format!("cannot load {}: {text}", arguments.library.display())).into());
        }
        Err(JudgeError::Evaluator(error @ EvaluatorError::Workload { .. })) => return Err(unusable(error)),
        Err(error) => return Err(error.into()),
    };
    let printed = Printed::new(arguments, rival, seed, &judged)?;
    if !arguments.quiet {
        printed.warn();
    }
    if arguments.json {
        output::json(&printed)?;
    } else {
        output::result(&printed.text())?;
    }
    Ok(if judged.is_ok() { Ending::Done } else { Ending::NothingValid })
}

/// What the kernel is compared with.
fn rival(arguments: &Judge, target: &Target, key: &WorkloadKey) -> Result<(Rival, Artifact)> {
    if arguments.against != Some(Against::Default) {
        let folder = place::registry(arguments.registry.as_deref())?;
        match dispatch(&Registry::open(&folder), key, &HostFacts::detect().conditions())? {
            Dispatched::Kernel(record, artifact) => {
                let schedule = record.kernel.subject().schedule.to_string();
                return Ok((
                    Rival { kernel: "registered", record: Some(record.id.to_string()), schedule },
                    artifact,
                ));
            }
            Dispatched::Unverified { record, reasons } if arguments.against == Some(Against::Registry) => {
                let text = format!(
                    "the registered kernel {record} must be verified again before it is compared with: {} \
                     (`tilewright registry verify`)",
                    reasons.join(", ")
                );
                return Err(UsageError(text).into());
            }
            Dispatched::Unverified { .. } | Dispatched::Nothing => {}
        }
        if arguments.against == Some(Against::Registry) {
            let text = format!(
                "no kernel of {} with {} is registered for this machine in {}: tune it first, or compare with \
                 --against default",
                arguments.workload,
                output::threads(arguments.threads as usize),
                folder.display()
            );
            return Err(UsageError(text).into());
        }
    }
    let (schedule, artifact) = default_kernel(&arguments.workload, target, arguments.threads)?;
    Ok((Rival { kernel: "default", record: None, schedule }, artifact))
}

fn default_kernel(workload: &Workload, target: &Target, threads: u32) -> Result<(String, Artifact)> {
    let limits = target.limits(threads);
    let schedule = default_schedule(workload, &limits);
    let program = legalise(&lower(workload, &schedule, &limits)?, &limits)?;
    Ok((schedule.to_string(), target.isa.compile(&program)?))
}

/// A seed from the system's randomness, by way of the standard library's keys for hashing; as large as those that
/// can be given.
fn unpredictable() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish() >> 1
}
