//! A test stand: one workload, its inputs and expected results, and a worker process that runs kernels.

mod blame;
mod examine;
mod memory;

use std::path::PathBuf;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_codegen::Artifact;
use tilewright_ir::computation::Computation;
use tilewright_ir::{CacheState, Tolerance, WorkloadKey};
use tilewright_journal::EvalError;
use tilewright_runtime::{Clock, HostFacts, RuntimeError, SharedBuffer};

use crate::EvaluatorError;
use crate::process::{Ended, Exchange, WorkerProcess};
use crate::protocol::{Refusal, Reply, Request, Slot};
use crate::shared_layout::{CODE_CAPACITY, ResultArea, code_spec};
use crate::verify::Seen;
use crate::worker::WorkerArguments;
pub(crate) use examine::Effort;
pub use examine::{Examined, Samples, StandCeiling};
use memory::StandSet;

/// Longest time that a worker may take to start.
const START_LIMIT: Duration = Duration::from_secs(60);

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
    tolerance: Tolerance,
    threads: u32,
    cold: bool,
    settings: StandSettings,
    sets: Vec<StandSet>,
    /// What was seen of the candidate on each set, since it was loaded.
    seen: Vec<Option<Seen>>,
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
        let plan = memory::plan(&computation, settings.thorough);
        let (needed, there) = (memory::needed(&computation, plan.len()), HostFacts::detect().memory_bytes);
        if needed > there / 4 * 3 {
            return Err(refused(format!("it needs {needed} bytes of memory for checked runs, of {there}")));
        }
        let mut sets = Vec::new();
        let last = plan.len() - 1;
        for (at, plan) in plan.into_iter().enumerate() {
            match StandSet::new(workload, &computation, plan, &mut rng)? {
                Some(set) => sets.push(set),
                // The exact integers and the set of the timed launches must be there; others may be refused, and then
                // the evidence does not name them.
                None if at == 0 || at == last => {
                    let kind = plan.0.name();
                    return Err(refused(format!(
                        "its {kind} inputs do not tell a right answer from zeros or a constant"
                    )));
                }
                None => {}
            }
        }
        let area = ResultArea::create()?;
        area.buffer().set_inheritable(false)?;
        let code = SharedBuffer::create(&code_spec())?;
        code.set_inheritable(false)?;
        let mut stand = Self {
            names: computation.operands().iter().map(|operand| operand.name.clone()).collect(),
            tolerance: workload.operator().tolerance(workload.parameters()),
            computation,
            threads: key.threads,
            cold: key.cache == CacheState::Cold,
            settings,
            seen: vec![None; sets.len()],
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

    /// Worker threads of its kernels.
    pub(crate) fn threads(&self) -> u32 {
        self.threads
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
            if ended == Ended::Timeout {
                // It was inside the kernel all the time.
                self.statistics.kernel_ns += self.clock.nanoseconds() - start;
            }
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
