//! The kernel of a user beside one of ours: the same verification, measurement and gate as for any candidate, in a
//! process of its own.

use std::path::PathBuf;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_codegen::Artifact;
use tilewright_ir::WorkloadKey;
use tilewright_journal::{EvalError, Verification};
use tilewright_stats::interval::median_interval;
use tilewright_stats::samples::median;
use tilewright_stats::{ConfirmedClaim, Evidence, Gate, Level, Verdict};

use super::claim::{CLAIM_LEVEL, resolution, sequential_pairs};
use super::measure::SLOWEST_GFLOPS;
use super::plausible::CEILING_MARGIN;
use super::undisturbed::PairPlan;
use super::{confirm, is_the_machines};
use crate::EvaluatorError;
use crate::stand::{Effort, Fresh, Isolation, StandCeiling, StandSettings, Subject, TestStand, UserKernel};

/// What is to be judged.
#[derive(Debug, Clone)]
pub struct JudgeRequest {
    /// What the kernel computes, with how many threads.
    pub key: WorkloadKey,
    /// The kernel.
    pub kernel: UserKernel,
    /// What it is compared with.
    pub rival: Artifact,
    /// The binary to start as a worker; its `main` must call [`crate::run_if_worker`] first.
    pub executable: PathBuf,
    /// Seed of inputs, sampled elements and the order of samples: not to be known to the kernel.
    pub seed: u64,
}

/// Times of one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedSide {
    /// Median time of a launch, ns.
    pub median_ns: f64,
    /// Its 95 % interval, ns.
    pub interval_ns: Option<(f64, f64)>,
    /// Least time of a launch on inputs that were never seen before, by the coordinator's clock, ns; of the rival as
    /// its worker says.
    pub fresh_ns: f64,
}

/// A kernel that passed, with what the gate says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What the gate decided on the pairs.
    pub verdict: Verdict,
    /// Raw pairs of both halves of the claim: incumbent is the rival, candidate the kernel.
    pub evidence: Evidence,
    /// The user's kernel.
    pub kernel: JudgedSide,
    /// What it was compared with.
    pub rival: JudgedSide,
    /// How its answers were checked.
    pub verification: Verification,
    /// Launches of each side on inputs of their own, every answer checked.
    pub fresh_launches: u32,
    /// What the device can do at most, measured between the pairs.
    pub ceiling: StandCeiling,
    /// How the worker was confined.
    pub isolation: Isolation,
}

/// Why there is no judgement.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The library cannot be loaded, or has no such function.
    #[error("{0}")]
    Unusable(String),
    /// The kernel was rejected.
    #[error("rejected: {error}")]
    Rejected {
        /// How it failed.
        error: Box<EvalError>,
        /// How the worker was confined.
        isolation: Isolation,
    },
    /// The rival, which passed before, failed now.
    #[error("what it is compared with failed: {0}")]
    Rival(Box<EvalError>),
    /// There is no worker to try it in.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
}

/// Verifies a kernel, measures it beside its rival, and has the gate decide.
///
/// # Errors
/// How the kernel was rejected, or why it could not be tried.
pub fn judge(request: &JudgeRequest) -> Result<Judgement, JudgeError> {
    // A stall of the machine looks like a flaw; a flaw shows again in fresh processes.
    match attempt(request, request.seed) {
        Err(JudgeError::Rejected { error, .. }) if is_the_machines(&error) => {
            attempt(request, request.seed.rotate_left(32) ^ 1)
        }
        other => other,
    }
}

fn attempt(request: &JudgeRequest, seed: u64) -> Result<Judgement, JudgeError> {
    let JudgeRequest { key, kernel, rival, executable, .. } = request;
    let settings = StandSettings { executable: executable.clone(), seed, thorough: true };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let resolved = resolve_rival(key, &settings, rival, &mut rng)?;
    let mut stand = TestStand::for_library(key, settings, kernel.clone())?;
    stand.set_incumbent(rival).map_err(JudgeError::rival)?;
    match measure(&mut stand, key.threads, &resolved, &mut rng) {
        Ok(judged) => Ok(judged),
        // What the system's loader says concerns the file, not what the kernel did.
        Err(EvalError::Compile(text)) => Err(JudgeError::Unusable(text)),
        Err(error) => {
            Err(JudgeError::Rejected { error: Box::new(error), isolation: stand.isolation().clone() })
        }
    }
}

/// What is known before the kernel is tried.
struct Resolved {
    /// First impression of the rival's time, ns.
    rival_ns: f64,
    /// Length of samples, ns.
    sample_ns: f64,
    /// Fixed before the comparison begins.
    gate: ConfirmedClaim,
}

/// The rival by itself, and beside itself: what the machine resolves.
fn resolve_rival(
    key: &WorkloadKey,
    settings: &StandSettings,
    rival: &Artifact,
    rng: &mut ChaCha8Rng,
) -> Result<Resolved, JudgeError> {
    let mut stand = TestStand::new(key, settings.clone())?;
    let limit = patience(&stand);
    let rival_ns = stand.examine(rival, limit).map_err(JudgeError::rival)?.first_ns;
    stand.set_incumbent(rival).map_err(JudgeError::rival)?;
    let resolved = resolution(&mut stand, rival_ns, rng).map_err(JudgeError::rival)?;
    let gate = ConfirmedClaim::at_least(resolved.margin, CLAIM_LEVEL);
    Ok(Resolved { rival_ns, sample_ns: resolved.sample_ns, gate })
}

fn measure(
    stand: &mut TestStand,
    threads: u32,
    resolved: &Resolved,
    rng: &mut ChaCha8Rng,
) -> Result<Judgement, EvalError> {
    let limit = patience(stand);
    let effort = Effort { repeat_below_ns: 0, screen_above_ns: f64::INFINITY, pairs_follow: false, limit };
    // By itself first: a kernel must be right with any number of workers up to its own.
    if threads > 1 {
        stand.examine_subject(Subject::Library { workers: 1 }, &effort)?;
    }
    let seen = stand.examine_subject(Subject::Library { workers: threads }, &effort)?;
    let decided = decide(stand, seen.first_ns, resolved, rng)?;
    let fresh = stand.fresh(limit, rng)?;
    let [rival_ns, kernel_ns] = decided.medians()?;
    fresh.explains(kernel_ns)?;
    let ceiling = decided.ceiling();
    plausible(stand, kernel_ns, ceiling)?;
    stand.unchanged()?;
    let interval = |times: &[f64]| median_interval(times, Level::FIVE_PERCENT).ok().flatten();
    let (Evidence::Claim { confirmation, .. }, Fresh { told_ns, launches, .. }) = (&decided.evidence, fresh)
    else {
        return Err(EvalError::Lost("no pairs were measured".to_owned()));
    };
    Ok(Judgement {
        kernel: JudgedSide {
            median_ns: kernel_ns,
            interval_ns: interval(&confirmation.candidate).map(|interval| (interval.low, interval.high)),
            fresh_ns: fresh.candidate_ns(),
        },
        rival: JudgedSide {
            median_ns: rival_ns,
            interval_ns: interval(&confirmation.incumbent).map(|interval| (interval.low, interval.high)),
            fresh_ns: told_ns[0],
        },
        verdict: decided.verdict,
        verification: seen.verification,
        fresh_launches: launches,
        ceiling,
        isolation: stand.isolation().clone(),
        evidence: decided.evidence,
    })
}

/// Pairs of both sides with what the gate for claims says of them.
struct Decided {
    evidence: Evidence,
    verdict: Verdict,
    ceilings: Vec<StandCeiling>,
}

/// Both halves of a claim, as for a campaign's winner; the second on the same worker, since a library's process
/// runs nothing else.
fn decide(
    stand: &mut TestStand,
    kernel_ns: f64,
    resolved: &Resolved,
    rng: &mut ChaCha8Rng,
) -> Result<Decided, EvalError> {
    let plan = PairPlan::new([resolved.rival_ns, kernel_ns], resolved.sample_ns);
    let sequential = sequential_pairs(stand, &plan, &resolved.gate, rng)?.times;
    let (confirmed, ceilings) = confirm::pairs(stand, &plan, rng)?;
    let evidence = Evidence::Claim { sequential, confirmation: confirmed.times };
    Ok(Decided { verdict: resolved.gate.judge(&evidence), evidence, ceilings })
}

impl JudgeError {
    fn rival(error: EvalError) -> Self {
        Self::Rival(Box::new(error))
    }
}

impl Decided {
    fn medians(&self) -> Result<[f64; 2], EvalError> {
        let Evidence::Claim { confirmation, .. } = &self.evidence else {
            return Err(EvalError::Lost("no pairs were measured".to_owned()));
        };
        let of = |times: &[f64]| median(times).map_err(|error| EvalError::Implausible(error.to_string()));
        Ok([of(&confirmation.incumbent)?, of(&confirmation.candidate)?])
    }

    /// The highest of each figure.
    fn ceiling(&self) -> StandCeiling {
        let highest = |of: fn(&StandCeiling) -> f64| self.ceilings.iter().map(of).fold(0.0, f64::max);
        StandCeiling {
            fma_gflops: highest(|at| at.fma_gflops),
            undisturbed_fma_gflops: highest(|at| at.undisturbed_fma_gflops),
            read_gbps: highest(|at| at.read_gbps),
        }
    }
}

/// Holds a time against the arithmetic ceiling of this device.
fn plausible(stand: &TestStand, launch_ns: f64, ceiling: StandCeiling) -> Result<(), EvalError> {
    let (found, most) = (stand.computation().operations() / launch_ns, ceiling.undisturbed_fma_gflops);
    if most > 0.0 && found > most * CEILING_MARGIN {
        return Err(EvalError::Implausible(format!("{found:.1} GFLOP/s, the ceiling is {most:.1}")));
    }
    Ok(())
}

/// Longest time for each set of inputs.
fn patience(stand: &TestStand) -> Duration {
    Duration::from_secs(2) + Duration::from_nanos((stand.computation().operations() / SLOWEST_GFLOPS) as u64)
}
