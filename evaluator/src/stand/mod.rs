//! A test stand: one workload, its inputs and expected results, and a worker process that runs kernels.

mod blame;
mod memory;

use std::path::PathBuf;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_codegen::Artifact;
use tilewright_ir::computation::Computation;
use tilewright_ir::{CacheState, WorkloadKey};
use tilewright_journal::{EvalError, Verification};
use tilewright_runtime::{Clock, RuntimeError, SharedBuffer};

use crate::EvaluatorError;
use crate::process::{Exchange, WorkerProcess};
use crate::protocol::{Refusal, Reply, Request, Slot, TimePlan};
use crate::shared_layout::{CODE_CAPACITY, ResultArea, code_spec};
use crate::verify::{Seen, evidence};
use crate::worker::WorkerArguments;
use memory::StandSet;

/// Longest time that a worker may take to start.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Most launches after the verifying one for a first impression of a short kernel's time.
const REPEATS: u32 = 2;

/// Waking up worker and coordinator for a question and its answer, ns.
const EXCHANGE_NS: u64 = 100_000;

/// How a stand is set up.
#[derive(Debug, Clone)]
pub struct StandSettings {
    /// The binary to start as a worker; its `main` must call [`crate::run_if_worker`] first.
    pub executable: PathBuf,
    /// Seed of inputs and sampled elements.
    pub seed: u64,
    /// Whether all kinds of inputs are run on large workloads too.
    pub thorough: bool,
}

/// What an examination has shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// How the answers were checked.
    pub verification: Verification,
    /// Shortest launch so far, ns: a first impression.
    pub first_ns: f64,
}

/// Samples of both sides in turns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Samples {
    /// Nanoseconds per launch of the incumbent, pair by pair.
    pub incumbent: Vec<f64>,
    /// Nanoseconds per launch of the candidate, pair by pair.
    pub candidate: Vec<f64>,
    /// Time by the coordinator's clock from question to answer, ns.
    pub(crate) bracket_ns: u64,
    /// Part of it that neither launches nor the usual overhead explain, ns: the machine was busy with
    /// something else, or the worker hides time.
    pub(crate) unexplained_ns: u64,
}

/// What the device can do at most, with as many threads as the stand has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StandCeiling {
    /// Multiply-adds, GFLOP/s: measured on all threads at once, or on one and multiplied, whichever is more,
    /// since a busy machine lets threads wait for each other.
    pub fma_gflops: f64,
    /// Reading as many bytes as the workload moves again and again, GB/s.
    pub read_gbps: f64,
}

/// Answers of the worker.
struct Asked {
    replies: Vec<Reply>,
    bracket_ns: u64,
    processor_ns: u64,
}

/// Sums over everything that a stand did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StandStatistics {
    /// Nanoseconds inside kernels.
    pub kernel_ns: u64,
    /// Launches of kernels.
    pub launches: u64,
    /// Nanoseconds waiting for the worker.
    pub waiting_ns: u64,
    /// Nanoseconds clearing outputs and checking answers.
    pub checking_ns: u64,
    /// Worker processes started.
    pub workers: u64,
}

/// The stand.
pub struct TestStand {
    computation: Computation,
    names: Vec<String>,
    tolerance: f64,
    threads: u32,
    cold: bool,
    settings: StandSettings,
    sets: Vec<StandSet>,
    area: ResultArea,
    code: SharedBuffer,
    worker: Option<WorkerProcess>,
    /// What the worker holds as incumbent; loaded again after a restart.
    incumbent: Option<Artifact>,
    incumbent_loaded: bool,
    clock: Clock,
    statistics: StandStatistics,
}

impl TestStand {
    /// Generates inputs and expected results, and starts a worker.
    ///
    /// # Errors
    /// When memory or the process is refused.
    pub fn new(key: &WorkloadKey, settings: StandSettings) -> Result<Self, EvaluatorError> {
        let workload = &key.workload;
        let refused = |reason: String| EvaluatorError::Workload { workload: workload.to_string(), reason };
        let described = workload.operator().describe(workload.parameters());
        let computation = described.map_err(|error| refused(error.to_string()))?;
        let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
        let sets = memory::plan(&computation, settings.thorough)
            .into_iter()
            .map(|plan| StandSet::new(workload, &computation, plan, &mut rng))
            .collect::<Result<Vec<_>, RuntimeError>>()?;
        let area = ResultArea::create()?;
        area.buffer().set_inheritable(false)?;
        let code = SharedBuffer::create(&code_spec())?;
        code.set_inheritable(false)?;
        let mut stand = Self {
            names: computation.operands().iter().map(|operand| operand.name.clone()).collect(),
            tolerance: workload.operator().tolerance(workload.parameters()).relative,
            computation,
            threads: key.threads,
            cold: key.cache == CacheState::Cold,
            settings,
            sets,
            area,
            code,
            worker: None,
            incumbent: None,
            incumbent_loaded: false,
            clock: Clock::start(),
            statistics: StandStatistics::default(),
        };
        stand.restart()?;
        Ok(stand)
    }

    /// What is computed.
    pub fn computation(&self) -> &Computation {
        &self.computation
    }

    /// What was done so far.
    pub fn statistics(&self) -> StandStatistics {
        self.statistics
    }

    /// Replaces the worker by a fresh one.
    ///
    /// # Errors
    /// When the process cannot be started or does not answer.
    pub fn restart(&mut self) -> Result<(), EvaluatorError> {
        self.worker = None;
        self.incumbent_loaded = false;
        self.area.clear();
        self.sets.iter_mut().for_each(StandSet::reset);
        let operands: u64 = self.sets.iter().map(|set| memory::footprint(set.arguments())).sum();
        let arguments = WorkerArguments {
            parent: std::process::id(),
            threads: self.threads as usize,
            // Operands shared and private, two workspaces of the greatest size, code, stacks, the binary.
            address_space: 4 * operands + (8 << 30),
            results: self.area.buffer().descriptor(),
            code: self.code.descriptor(),
            sets: self.sets.iter().map(|set| set.arguments().to_vec()).collect(),
        };
        self.set_inheritable(true)?;
        let started = WorkerProcess::spawn(&self.settings.executable, &arguments.format());
        self.set_inheritable(false)?;
        let mut worker = started?;
        worker
            .exchange(&[Request::Ping], START_LIMIT)
            .map_err(|ended| EvaluatorError::Mute(format!("{ended:?}")))?;
        self.statistics.workers += 1;
        self.worker = Some(worker);
        Ok(())
    }

    fn set_inheritable(&self, inheritable: bool) -> Result<(), RuntimeError> {
        let shared = self.sets.iter().flat_map(StandSet::buffers);
        let mut all = shared.chain([self.area.buffer(), &self.code]);
        all.try_for_each(|buffer| buffer.set_inheritable(inheritable))
    }

    /// Loads an artifact as the candidate, runs it on every set of inputs, and checks the answers. Launches
    /// shorter than `repeat_below_ns` are repeated once or twice for a better impression of the time.
    ///
    /// # Errors
    /// How the candidate failed. After a crash or a timeout the next call starts a fresh worker.
    pub fn examine(
        &mut self,
        artifact: &Artifact,
        repeat_below_ns: u64,
        limit: Duration,
    ) -> Result<Examined, EvalError> {
        let start = self.clock.nanoseconds();
        self.sets.iter_mut().for_each(StandSet::reset);
        self.statistics.checking_ns += self.clock.nanoseconds() - start;
        let mut requests = vec![self.prepare_load(Slot::Candidate, artifact)?];
        for set in 0..self.sets.len() as u32 {
            let slot = Slot::Candidate;
            requests.push(Request::Verify { slot, set, repeats: REPEATS, repeat_below_ns });
        }
        let replies = self.ask(&requests, limit)?.replies;
        let start = self.clock.nanoseconds();
        let seen = self.sets.iter().map(StandSet::examine).collect::<Result<Vec<Seen>, _>>();
        self.statistics.checking_ns += self.clock.nanoseconds() - start;
        let checks = self.sets.iter().map(StandSet::check);
        let verification = evidence(checks, &seen?, self.tolerance);
        let first_ns = replies.last().map_or(f64::INFINITY, |reply| reply.values[0]).max(1.0);
        Ok(Examined { verification, first_ns })
    }

    /// Makes an artifact the incumbent that candidates are compared with.
    ///
    /// # Errors
    /// When the worker cannot load it.
    pub fn set_incumbent(&mut self, artifact: &Artifact) -> Result<(), EvalError> {
        self.incumbent = Some(artifact.clone());
        self.incumbent_loaded = false;
        self.ensure_incumbent()
    }

    fn ensure_incumbent(&mut self) -> Result<(), EvalError> {
        if let Some(artifact) = self.incumbent.take() {
            let request = self.prepare_load(Slot::Incumbent, &artifact);
            self.incumbent = Some(artifact);
            if !self.incumbent_loaded {
                self.ask(&[request?], START_LIMIT)?;
                self.incumbent_loaded = true;
            }
        }
        Ok(())
    }

    /// Samples incumbent and candidate in turns, and checks the answer of one of the timed launches.
    ///
    /// # Errors
    /// How the candidate failed, with [`EvalError::Implausible`] for times that this side's clock
    /// contradicts.
    pub(crate) fn compare(&mut self, plan: &TimePlan, limit: Duration) -> Result<Samples, EvalError> {
        self.ensure_incumbent()?;
        let last = self.sets.len() - 1;
        self.sets[last].reset();
        let plan = TimePlan { cold: self.cold, ..*plan };
        let Asked { replies, bracket_ns, processor_ns } = self.ask(&[Request::Time(plan)], limit)?;
        let reply = replies.first().copied().unwrap_or_default();
        // One clock read of each side may fall outside.
        if reply.kernel_ns > bracket_ns + 1_000 {
            let (inside, outside) = (reply.kernel_ns, bracket_ns);
            return Err(EvalError::Implausible(format!(
                "launches of {inside} ns in sum fitted into {outside} ns of the coordinator's clock"
            )));
        }
        if plan.checked_pair < plan.pairs {
            let start = self.clock.nanoseconds();
            let seen = self.sets[last].examine();
            self.statistics.checking_ns += self.clock.nanoseconds() - start;
            seen?;
        }
        let mut samples = Samples::default();
        for pair in 0..plan.pairs as usize {
            let [incumbent, candidate] =
                [0, 1].map(|side| self.area.sample(2 * pair + side) as f64 / f64::from(plan.launches[side]));
            samples.incumbent.push(incumbent);
            samples.candidate.push(candidate);
        }
        // On a busy machine the worker waits for a processor, which is nothing to hide: only what it also
        // spent processor time on counts.
        let explained = reply.kernel_ns + self.overhead_ns(&plan);
        let threads = u64::from(self.threads);
        samples.unexplained_ns =
            bracket_ns.saturating_sub(explained).min(processor_ns.saturating_sub(threads * explained));
        samples.bracket_ns = bracket_ns;
        Ok(samples)
    }

    /// What a comparison takes outside kernels at the most on an undisturbed machine, ns.
    fn overhead_ns(&self, plan: &TimePlan) -> u64 {
        let operands = self.sets.last().map_or(0, |set| memory::footprint(set.arguments()));
        // Clearing, keeping and updating outputs at 1 GB/s and more.
        let copies = 4 * operands;
        let launches =
            u64::from(plan.pairs + 2) * (u64::from(plan.launches[0]) + u64::from(plan.launches[1]));
        // A flush takes some hundred cycles a line.
        let flushes = if plan.cold { launches * operands / 64 * 200 } else { 0 };
        EXCHANGE_NS + copies + flushes
    }

    /// Times launches one by one, ns each.
    ///
    /// # Errors
    /// How the kernel failed.
    pub(crate) fn latencies(
        &mut self,
        slot: Slot,
        launches: u32,
        limit: Duration,
    ) -> Result<Vec<u64>, EvalError> {
        let cold = self.cold;
        self.ask(&[Request::Latency { slot, launches, cold }], limit)?;
        Ok((0..launches as usize).map(|at| self.area.sample(at)).collect())
    }

    /// Measures what the device can do at most, in some 50 ms.
    ///
    /// # Errors
    /// When the worker cannot measure.
    pub fn ceiling(&mut self) -> Result<StandCeiling, EvalError> {
        let footprint_bytes = self.computation.compulsory_bytes();
        let replies = self.ask(&[Request::Ceiling { footprint_bytes }], START_LIMIT)?.replies;
        let [all, one, read_gbps] = replies.first().map_or([0.0; 3], |reply| reply.values);
        Ok(StandCeiling { fma_gflops: all.max(one * f64::from(self.threads)), read_gbps })
    }

    fn prepare_load(&mut self, slot: Slot, artifact: &Artifact) -> Result<Request, EvalError> {
        let code_bytes = artifact.code.len();
        if code_bytes > CODE_CAPACITY {
            return Err(EvalError::Compile(format!("{code_bytes} bytes of code, at most {CODE_CAPACITY}")));
        }
        let entry = artifact.entry("run").ok_or_else(|| EvalError::Compile("no entry `run`".to_owned()))?;
        // SAFETY: the worker is idle whenever the coordinator runs.
        let code = unsafe { self.code.bytes_mut() };
        code[..code_bytes].copy_from_slice(&artifact.code);
        Ok(Request::Load {
            slot,
            code_bytes: code_bytes as u64,
            entry,
            workers: artifact.workers.into(),
            workspace_bytes: artifact.workspace_bytes,
        })
    }

    fn ask(&mut self, requests: &[Request], limit: Duration) -> Result<Asked, EvalError> {
        if self.worker.is_none() {
            self.restart().map_err(|error| EvalError::Lost(error.to_string()))?;
        }
        let Some(worker) = self.worker.as_mut() else {
            return Err(EvalError::Lost("no worker".to_owned()));
        };
        let start = self.clock.nanoseconds();
        let exchanged = worker.exchange(requests, limit);
        self.statistics.waiting_ns += self.clock.nanoseconds() - start;
        let Exchange { answers, bracket_ns, processor_ns } = exchanged.map_err(|ended| {
            self.worker = None;
            self.incumbent_loaded = false;
            blame::failure(ended, limit.as_millis() as u64, &self.area, &self.sets, &self.names)
        })?;
        let mut replies = Vec::with_capacity(answers.len());
        for answer in answers {
            let reply = answer.map_err(|refusal| match refusal {
                Refusal::OutOfMemory => EvalError::OutOfMemory,
                Refusal::WorkspaceOverrun => {
                    EvalError::OutOfBounds("store behind the workspace or beside an operand".to_owned())
                }
                Refusal::Other => EvalError::Compile(self.area.message()),
            })?;
            self.statistics.kernel_ns += reply.kernel_ns;
            self.statistics.launches += reply.launches;
            replies.push(reply);
        }
        Ok(Asked { replies, bracket_ns, processor_ns })
    }
}
