//! A test stand: one workload, its inputs and expected results, and a worker process that runs kernels.

mod apart;
mod blame;
mod examine;
mod fresh;
mod memory;
mod seat;

use std::path::PathBuf;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_codegen::Artifact;
use tilewright_ir::computation::Computation;
use tilewright_ir::{CacheState, Tolerance, Workload, WorkloadKey};
use tilewright_journal::EvalError;
use tilewright_runtime::{Clock, HostFacts, RuntimeError, SharedBuffer};

use crate::EvaluatorError;
use crate::process::{Ended, Exchange, WorkerProcess};
use crate::process_state::Change;
use crate::protocol::{Refusal, Reply, Request, Slot};
use crate::shared_layout::{CODE_CAPACITY, ResultArea, code_spec};
use crate::verify::Seen;
use crate::worker::WorkerArguments;
pub(crate) use examine::Effort;
pub use examine::{Examined, Samples, StandCeiling};
pub(crate) use fresh::Fresh;
use memory::StandSet;
use seat::Seat;
pub(crate) use seat::Subject;
pub use seat::{Isolation, UserKernel};

/// Longest time that a worker may take to start.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Address space that a library may use beyond operands and workspaces, bytes.
const LIBRARY_MEMORY: u64 = 2 << 30;

/// Address space that the allocator reserves for each thread, bytes.
const ARENA: u64 = 192 << 20;

/// Address space that a kernel may take without being asked for it until it counts as one that allocates without
/// end, bytes.
const UNASKED_MEMORY: u64 = 256 << 20;

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
    workload: Workload,
    computation: Computation,
    names: Vec<String>,
    tolerance: Tolerance,
    threads: u32,
    cold: bool,
    settings: StandSettings,
    sets: Vec<StandSet>,
    /// What was seen of the candidate on each set, since it was loaded.
    seen: Vec<Option<Seen>>,
    code: SharedBuffer,
    /// The worker of generated kernels; and, where the candidate is a user's, a second one that runs nothing else:
    /// what it does to its process concerns nobody but itself.
    seats: Vec<Seat>,
    /// What the worker holds as incumbent; loaded again after a restart.
    incumbent: Option<Artifact>,
    incumbent_loaded: bool,
    /// Largest workspace that was asked for, bytes.
    workspace_bytes: u64,
    isolation: Isolation,
    clock: Clock,
    statistics: StandStatistics,
}

impl TestStand {
    /// Generates inputs and expected results, and starts a worker.
    ///
    /// # Errors
    /// When memory or the process is refused.
    pub fn new(key: &WorkloadKey, settings: StandSettings) -> Result<Self, EvaluatorError> {
        Self::of_candidates(key, settings, None)
    }

    /// The same with a second worker, in which the library of a user is the candidate.
    ///
    /// # Errors
    /// As [`TestStand::new`].
    pub fn for_library(
        key: &WorkloadKey,
        settings: StandSettings,
        kernel: UserKernel,
    ) -> Result<Self, EvaluatorError> {
        Self::of_candidates(key, settings, Some(kernel))
    }

    fn of_candidates(
        key: &WorkloadKey,
        settings: StandSettings,
        library: Option<UserKernel>,
    ) -> Result<Self, EvaluatorError> {
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
        let mut seats = Vec::new();
        for library in [None].into_iter().chain(library.map(Some)) {
            let area = ResultArea::create()?;
            area.buffer().set_inheritable(false)?;
            seats.push(Seat::new(area, library));
        }
        let code = SharedBuffer::create(&code_spec())?;
        code.set_inheritable(false)?;
        let mut stand = Self {
            names: computation.operands().iter().map(|operand| operand.name.clone()).collect(),
            tolerance: workload.operator().tolerance(workload.parameters()),
            workload: workload.clone(),
            computation,
            threads: key.threads,
            cold: key.cache == CacheState::Cold,
            settings,
            seen: vec![None; sets.len()],
            sets,
            code,
            seats,
            incumbent: None,
            incumbent_loaded: false,
            workspace_bytes: 0,
            isolation: Isolation::default(),
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

    /// How the workers are confined: what all of them have in force.
    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// Replaces the workers by fresh ones.
    ///
    /// # Errors
    /// When a process cannot be started or does not answer.
    pub fn restart(&mut self) -> Result<(), EvaluatorError> {
        self.incumbent_loaded = false;
        self.sets.iter_mut().for_each(StandSet::reset);
        (0..self.seats.len()).try_for_each(|seat| self.restart_seat(seat))
    }

    fn restart_seat(&mut self, seat: usize) -> Result<(), EvaluatorError> {
        self.seats[seat].worker = None;
        self.seats[seat].area.clear();
        let operands: u64 = self.sets.iter().map(|set| memory::footprint(set.arguments())).sum();
        let further = match &self.seats[seat].library {
            Some(kernel) => LIBRARY_MEMORY + 2 * kernel.workspace_bytes + u64::from(self.threads) * ARENA,
            // Two workspaces of the greatest size, code, stacks, the binary.
            None => 8 << 30,
        };
        let arguments = WorkerArguments {
            parent: std::process::id(),
            threads: self.threads as usize,
            // Operands shared and private.
            address_space: 4 * operands + further,
            results: self.seats[seat].area.buffer().descriptor(),
            code: self.code.descriptor(),
            sets: self.sets.iter().map(|set| set.arguments().to_vec()).collect(),
        };
        self.set_inheritable(seat, true)?;
        let source = self.seats[seat].source();
        let started = WorkerProcess::spawn(&self.settings.executable, &arguments.format(), source.as_ref());
        self.set_inheritable(seat, false)?;
        let mut worker = started?;
        worker
            .exchange(&[Request::Ping], START_LIMIT)
            .map_err(|ended| EvaluatorError::Mute(format!("{ended:?}")))?;
        self.statistics.workers += 1;
        let seat = &mut self.seats[seat];
        (seat.fresh, seat.fresh_memory_bytes) = (worker.state(), worker.memory_bytes());
        self.isolation = seat.isolation();
        seat.worker = Some(worker);
        Ok(())
    }

    fn set_inheritable(&self, seat: usize, inheritable: bool) -> Result<(), RuntimeError> {
        let shared = self.sets.iter().flat_map(StandSet::buffers);
        let mut all = shared.chain([self.seats[seat].area.buffer(), &self.code]);
        all.try_for_each(|buffer| buffer.set_inheritable(inheritable))
    }

    /// The seat whose worker holds this slot.
    fn seat_of(&self, slot: Slot) -> usize {
        if slot == Slot::Candidate { self.seats.len() - 1 } else { 0 }
    }

    fn prepare(&mut self, slot: Slot, subject: Subject<'_>) -> Result<Request, EvalError> {
        match subject {
            Subject::Generated(artifact) => self.prepare_load(slot, artifact),
            Subject::Library { workers } => {
                let kernel = self.seats[self.seat_of(slot)].library.as_ref();
                let workspace_bytes = kernel.map_or(0, |kernel| kernel.workspace_bytes);
                self.workspace_bytes = self.workspace_bytes.max(workspace_bytes);
                Ok(Request::LoadLibrary { slot, workers: workers.into(), workspace_bytes })
            }
        }
    }

    fn prepare_load(&mut self, slot: Slot, artifact: &Artifact) -> Result<Request, EvalError> {
        let code_bytes = artifact.code.len();
        self.workspace_bytes = self.workspace_bytes.max(artifact.workspace_bytes);
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

    /// Asks the worker that holds this slot.
    fn ask(&mut self, slot: Slot, requests: &[Request], limit: Duration) -> Result<Asked, EvalError> {
        let at = self.seat_of(slot);
        if self.seats[at].worker.is_none() {
            self.restart_seat(at).map_err(|error| EvalError::Lost(error.to_string()))?;
        }
        let seat = &mut self.seats[at];
        let Some(worker) = seat.worker.as_mut() else {
            return Err(EvalError::Lost("no worker".to_owned()));
        };
        let start = self.clock.nanoseconds();
        let exchanged = worker.exchange(requests, limit);
        self.statistics.waiting_ns += self.clock.nanoseconds() - start;
        let Exchange { answers, bracket_ns, processor_ns } = exchanged.map_err(|ended| {
            if matches!(ended, Ended::Timeout { .. }) {
                // It was inside the kernel all the time.
                self.statistics.kernel_ns += self.clock.nanoseconds() - start;
            }
            seat.worker = None;
            if at == 0 {
                self.incumbent_loaded = false;
            }
            let circumstances = blame::Circumstances {
                limit_ms: limit.as_millis() as u64,
                most_memory_bytes: seat.fresh_memory_bytes + 2 * self.workspace_bytes + UNASKED_MEMORY,
                area: &seat.area,
                sets: &self.sets,
                names: &self.names,
            };
            blame::failure(ended, &circumstances)
        })?;
        let mut replies = Vec::with_capacity(answers.len());
        for answer in answers {
            let reply = answer.map_err(|refusal| match refusal {
                Refusal::OutOfMemory => EvalError::OutOfMemory,
                Refusal::WorkspaceOverrun => {
                    EvalError::OutOfBounds("store behind the workspace or beside an operand".to_owned())
                }
                Refusal::StateChanged => EvalError::StateChanged(seat.area.message()),
                Refusal::Other => EvalError::Compile(seat.area.message()),
            })?;
            self.statistics.kernel_ns += reply.kernel_ns;
            self.statistics.launches += reply.launches;
            replies.push(reply);
        }
        Ok(Asked { replies, bracket_ns, processor_ns })
    }

    /// Compares inputs and the candidate's process with what they were before.
    ///
    /// # Errors
    /// When something has changed that is not the candidate's.
    pub(crate) fn unchanged(&self) -> Result<(), EvalError> {
        self.sets.iter().try_for_each(StandSet::inputs_intact)?;
        self.state_unchanged()
    }

    /// Compares the candidate's process with what it was when it was fresh, as the system tells it.
    fn state_unchanged(&self) -> Result<(), EvalError> {
        let seat = &self.seats[self.seat_of(Slot::Candidate)];
        let Some(worker) = &seat.worker else { return Ok(()) };
        match seat.fresh.change(&worker.state()) {
            None => Ok(()),
            Some(Change::Threads(text)) => Err(EvalError::ThreadLeft(text)),
            Some(Change::Children(text)) => Err(EvalError::Forked(text)),
            Some(Change::State(text)) => Err(EvalError::StateChanged(text)),
        }
    }
}
