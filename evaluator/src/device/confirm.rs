//! The winner beside the default once more, after the first half of the claim: fresh process, fresh buffers,
//! fresh data, new pairs.

use hdrhistogram::Histogram;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::time::Duration;

use tilewright_codegen::{Artifact, disassemble};
use tilewright_ir::computation::Computation;
use tilewright_journal::{Bandwidth, Ceilings, ClaimBasis, EvalError, KernelListing, Measurement};
use tilewright_runtime::HostFacts;
use tilewright_stats::interval::median_interval;
use tilewright_stats::samples::median;
use tilewright_stats::{Evidence, Level, PairedTimes};

use super::claim::{MOST_PAIRS, PATIENCE_NS, SequentialHalf};
use super::undisturbed::{Gathered, PairPlan};
use super::{Compiled, DeviceRunner};
use crate::protocol::Slot;
use crate::runner::{ConfirmationReport, ConfirmedSide, Task};
use crate::stand::{Examined, StandCeiling, StandSettings, TestStand};

/// Pairs of a confirmation: what the claim gate needs to decide, and what gives a narrow interval.
const PAIRS: std::ops::RangeInclusive<u32> = 12..=MOST_PAIRS;
/// Time that pairs may take, ns, unless that makes them too few.
const PAIRS_NS: f64 = 5e9;
/// Most launches that are timed one by one, and the time they may take, ns.
const LATENCIES: f64 = 2000.0;
const LATENCIES_NS: f64 = 5e8;
/// Mixed into the seed: other data than the search has seen.
const OTHER_DATA: u64 = 0x9E37_79B9_7F4A_7C15;

impl DeviceRunner {
    pub(super) fn confirm_in_fresh_process(
        &mut self,
        winner: &Task,
        default: &Task,
    ) -> Result<ConfirmationReport, EvalError> {
        let lost = |error: crate::EvaluatorError| EvalError::Lost(error.to_string());
        let winner_code = self.compile_task(winner)?;
        let default_code = self.compile_task(default)?;
        let seed = self.settings.seed.wrapping_add(OTHER_DATA) ^ winner.seed.rotate_left(17);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let half = self.sequential_half(&winner_code, &default_code, &mut rng)?;
        let SequentialHalf { gate, sample_ns, times: sequential, basis } = half;
        let executable = self.settings.executable.clone();
        let settings = StandSettings { executable, seed, thorough: true };
        let mut stand = TestStand::new(&self.key, settings).map_err(lost)?;
        let limit = self.patience();
        let blame = |error: EvalError| EvalError::Lost(format!("the default failed: {error}"));
        let default_seen = stand.examine(&default_code.artifact, limit).map_err(blame)?;
        stand.set_incumbent(&default_code.artifact)?;
        let winner_seen = stand.examine(&winner_code.artifact, limit)?;
        let times = [default_seen.first_ns, winner_seen.first_ns];
        let plan = PairPlan::new(times, sample_ns);
        let launches = plan.launches;
        let (gathered, seen) = pairs(&mut stand, &plan, &mut rng)?;
        let claim = ClaimBasis { confirmation: gathered.conditions(), ..basis };
        let confirmation = gathered.times;
        let winner_p99 = latency_p99(&mut stand, Slot::Candidate, times[1])?;
        let default_p99 = latency_p99(&mut stand, Slot::Incumbent, times[0])?;
        let figure = |of: fn(&StandCeiling) -> f64| seen.iter().map(of).collect::<Vec<f64>>();
        let (arithmetic, reading) = (figure(|at| at.fma_gflops), figure(|at| at.read_gbps));
        // What disturbs the machine lowers the kernels' medians and the ceiling's alike, so that their ratio
        // stands; the highest of all would meet the kernels' medians on a busy machine only.
        self.fma_gflops = figure(|at| at.undisturbed_fma_gflops).into_iter().fold(self.fma_gflops, f64::max);
        let measured = StandCeiling {
            fma_gflops: median(&arithmetic).unwrap_or(self.fma_gflops),
            undisturbed_fma_gflops: self.fma_gflops,
            read_gbps: median(&reading).unwrap_or(0.0),
        };
        let winner_median = median(&confirmation.candidate).unwrap_or(0.0);
        self.plausible(winner_median)?;
        let side = |task: &Task, code: &Compiled, seen: &Examined, times: &[f64], launches, p99_ns| {
            let measurement = Measurement {
                median_ns: median(times).unwrap_or(0.0),
                interval_ns: median_interval(times, Level::FIVE_PERCENT).ok().flatten(),
                p99_ns,
                launches: u64::from(launches) * times.len() as u64,
                kernel_ns: (times.iter().sum::<f64>() * f64::from(launches)) as u64,
                codegen_ns: code.codegen_ns,
                code_bytes: code.artifact.code.len() as u64,
                workspace_bytes: code.artifact.workspace_bytes,
                artifact_sha256: Some(code.artifact.sha256()),
                verification: Some(seen.verification.clone()),
            };
            ConfirmedSide { measurement, listing: listing(task, &code.artifact) }
        };
        let PairedTimes { incumbent, candidate } = &confirmation;
        Ok(ConfirmationReport {
            winner: side(winner, &winner_code, &winner_seen, candidate, launches[1], winner_p99),
            default: side(default, &default_code, &default_seen, incumbent, launches[0], default_p99),
            evidence: Evidence::Claim { sequential, confirmation },
            gate,
            claim,
            verification: winner_seen.verification,
            ceilings: ceilings(stand.computation(), &self.host, self.key.threads, measured),
            elapsed_ns: 0,
        })
    }

    fn compile_task(&mut self, task: &Task) -> Result<Compiled, EvalError> {
        let program = task.program.as_ref();
        let program = program.ok_or_else(|| EvalError::Illegal("there is no program to run".to_owned()))?;
        self.compile(program)
    }
}

/// Many pairs, as many as were planned before the first one, a ceiling before, between and after them.
pub(super) fn pairs(
    stand: &mut TestStand,
    plan: &PairPlan,
    rng: &mut ChaCha8Rng,
) -> Result<(Gathered, Vec<StandCeiling>), EvalError> {
    let mut left = plan.pairs_in(PAIRS_NS, PAIRS);
    let mut gathered = Gathered::default();
    let mut ceilings = vec![stand.ceiling(plan.longest_ns())?];
    let mut patience_ns = PATIENCE_NS;
    while left > 0 {
        let pairs = left.min(plan.request_pairs());
        gathered.gather(stand, plan, pairs, (&mut patience_ns, rng), &|_| false)?;
        ceilings.push(stand.ceiling(plan.longest_ns())?);
        left -= pairs.min(left);
    }
    Ok((gathered, ceilings))
}

/// The 99 % quantile of single launches, ns.
fn latency_p99(stand: &mut TestStand, slot: Slot, launch_ns: f64) -> Result<Option<f64>, EvalError> {
    let launches = (LATENCIES_NS / launch_ns).min(LATENCIES) as u32;
    // Fewer do not have a 99 % quantile of their own.
    if launches < 100 {
        return Ok(None);
    }
    let limit = Duration::from_secs(5) + Duration::from_nanos((20.0 * LATENCIES_NS) as u64);
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3)
        .map_err(|error| EvalError::Lost(error.to_string()))?;
    for nanoseconds in stand.latencies(slot, launches, limit)? {
        histogram.saturating_record(nanoseconds);
    }
    Ok(Some(histogram.value_at_quantile(0.99) as f64))
}

fn listing(task: &Task, artifact: &Artifact) -> KernelListing {
    let program = task.program.as_deref();
    KernelListing {
        isa: artifact.isa.clone(),
        program: program.map(ToString::to_string).unwrap_or_default(),
        program_hash: program.map(|program| program.hash().to_string()).unwrap_or_default(),
        disassembly: disassemble(artifact),
    }
}

/// What was measured with the level of memory that the workload's operands fit into.
pub(super) fn ceilings(
    computation: &Computation,
    host: &HostFacts,
    threads: u32,
    StandCeiling { fma_gflops: gflops, read_gbps: gbps, .. }: StandCeiling,
) -> Ceilings {
    let bytes = computation.compulsory_bytes();
    let capacity = |cache: &tilewright_runtime::CacheFacts| {
        (cache.bytes * (threads as usize).div_ceil(cache.shared_by.max(1))) as u64
    };
    let level = host.data_caches().find(|cache| capacity(cache) >= bytes);
    let bandwidth = Bandwidth {
        level: level.map_or_else(|| "memory".to_owned(), |cache| format!("L{}", cache.level)),
        gbps,
        capacity_bytes: level.map(capacity),
    };
    Ceilings { threads, gflops, bandwidths: vec![bandwidth], noise_floor: None }
}
