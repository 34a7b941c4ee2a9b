//! Evaluates candidates by running them on this machine.
//!
//! For each candidate: generate code; run it in the worker on every set of inputs; check the answers; time
//! it in turns with the incumbent. Whatever fails is tried once more in a fresh worker.

mod claim;
mod confirm;
mod judge;
mod measure;
mod pacing;
mod plausible;
mod rematch;
mod settings;
mod statistics;
mod undisturbed;

use std::sync::Arc;

use tilewright_codegen::Artifact;
use tilewright_ir::{Program, WorkloadKey};
use tilewright_journal::{Ceilings, EvalError, Fidelity, Measurement, Outcome};
use tilewright_runtime::{Clock, HostFacts};
use tilewright_stats::Evidence;

pub(crate) use claim::quiet_sample_ns;
pub use judge::{JudgeError, JudgeRequest, JudgedSide, Judgement, judge};
pub use pacing::Pacing;
pub use settings::{DeviceSettings, device_limits};
pub use statistics::DeviceStatistics;
pub(crate) use undisturbed::{Gathered, PairPlan};

use crate::EvaluatorError;
use crate::runner::{BatchReport, ConfirmationReport, Evaluation, Runner, Task};
use crate::stand::{Samples, StandCeiling, StandSettings, TestStand};

/// The runner.
pub struct DeviceRunner {
    key: WorkloadKey,
    settings: DeviceSettings,
    stand: TestStand,
    host: HostFacts,
    /// Highest multiply-add rate seen, GFLOP/s.
    fma_gflops: f64,
    /// Highest rate seen of reading as many bytes as the workload moves, GB/s.
    read_gbps: f64,
    incumbent: Option<Known>,
    passed: Vec<Known>,
    statistics: DeviceStatistics,
    clock: Clock,
    /// When the last report was made.
    reported_ns: u64,
}

/// A program that was verified, with its time.
#[derive(Clone)]
struct Known {
    program: Arc<Program>,
    launch_ns: f64,
}

/// An artifact with what it took to make it.
struct Compiled {
    artifact: Artifact,
    codegen_ns: u64,
}

impl DeviceRunner {
    /// Generates inputs and expected results, starts a worker and measures the arithmetic ceiling.
    ///
    /// Workers die with the thread that starts them: the runner should live on the thread that made it.
    ///
    /// # Errors
    /// When memory or the process is refused.
    pub fn new(key: WorkloadKey, settings: DeviceSettings) -> Result<Self, EvaluatorError> {
        let executable = settings.executable.clone();
        let stand = StandSettings { executable, seed: settings.seed, thorough: false };
        let mut runner = Self {
            stand: TestStand::new(&key, stand)?,
            key,
            host: HostFacts::detect(),
            fma_gflops: 0.0,
            read_gbps: 0.0,
            settings,
            incumbent: None,
            passed: Vec::new(),
            statistics: DeviceStatistics::default(),
            clock: Clock::start(),
            reported_ns: 0,
        };
        runner.raise_ceiling().map_err(|error| EvaluatorError::Mute(error.to_string()))?;
        Ok(runner)
    }

    /// The same, told a multiply-add rate that this device is known to reach with as many threads, GFLOP/s:
    /// times at that rate are believed without measuring the ceiling again.
    #[must_use]
    pub fn with_known_ceiling(self, fma_gflops: f64) -> Self {
        Self { fma_gflops: self.fma_gflops.max(fma_gflops), ..self }
    }

    /// Sums over everything done so far.
    pub fn statistics(&self) -> DeviceStatistics {
        let mut statistics = self.statistics.clone();
        statistics.stand = self.stand.statistics();
        statistics
    }

    /// Generates code for a program, and times that.
    fn compile(&mut self, program: &Program) -> Result<Compiled, EvalError> {
        let start = self.clock.nanoseconds();
        let artifact = self.settings.isa.compile(program);
        let codegen_ns = self.clock.nanoseconds() - start;
        self.statistics.note_codegen(codegen_ns);
        let artifact = artifact.map_err(|error| EvalError::Compile(error.to_string()))?;
        Ok(Compiled { artifact, codegen_ns })
    }

    fn evaluate(&mut self, incumbent: Option<&Task>, task: &Task) -> (Outcome, Evidence) {
        let failed = |error: EvalError, reproduced: bool| {
            let kind = error.kind().to_owned();
            (Err(error), Evidence::Failure { kind, reproduced })
        };
        let worked = |(measurement, samples): (Measurement, Samples)| {
            let Samples { incumbent, candidate, .. } = samples;
            (Ok(measurement), Evidence::Pairs { incumbent, candidate })
        };
        let Some(program) = &task.program else {
            return failed(EvalError::Illegal("a recorded candidate has no program to run".to_owned()), true);
        };
        let compiled = match self.compile(program) {
            Ok(compiled) => compiled,
            Err(error) => return failed(error, true),
        };
        let first = match self.measure(incumbent, task, program, &compiled) {
            Ok(measured) => return worked(measured),
            Err(error) => error,
        };
        // Once more in a fresh worker, where nothing that this candidate left behind can matter.
        let restarted = self.stand.restart().map_err(|error| EvalError::Lost(error.to_string()));
        match restarted.and_then(|()| self.measure(incumbent, task, program, &compiled)) {
            Ok(measured) if is_the_machines(&first) => worked(measured),
            Ok(_) => failed(passed_again(first), false),
            Err(again) => {
                let reproduced = again.kind() == first.kind();
                failed(first, reproduced)
            }
        }
    }

    fn raise_ceiling(&mut self) -> Result<StandCeiling, EvalError> {
        let measured = self.stand.ceiling(0.0)?;
        self.fma_gflops = self.fma_gflops.max(measured.undisturbed_fma_gflops);
        self.read_gbps = self.read_gbps.max(measured.read_gbps);
        Ok(measured)
    }

    fn ceilings(&mut self) -> Result<Ceilings, EvalError> {
        let measured = self.raise_ceiling()?;
        Ok(confirm::ceilings(self.stand.computation(), &self.host, self.key.threads, measured))
    }
}

/// Whether a failure that does not happen again was the machine's: a stall rather than a flaw. A kernel that
/// is wrong only now and then is not to be trusted.
fn is_the_machines(error: &EvalError) -> bool {
    matches!(
        error,
        EvalError::Timeout { .. }
            | EvalError::Lost(_)
            | EvalError::OutOfMemory
            | EvalError::Implausible(_)
            | EvalError::TimerTampered(_)
    )
}

/// The failure of a kernel that was wrong in one process and right in the next.
fn passed_again(first: EvalError) -> EvalError {
    match first {
        EvalError::WrongAnswer { .. } => {
            EvalError::Nondeterministic(format!("right in another process; in this one a {first}"))
        }
        first => first,
    }
}

impl Runner for DeviceRunner {
    fn run(&mut self, incumbent: Option<&Task>, batch: &[Task]) -> BatchReport {
        let mut report = BatchReport::default();
        let mut accounted = 0;
        for task in batch {
            let start = self.clock.nanoseconds();
            let (outcome, evidence) = self.evaluate(incumbent, task);
            let elapsed_ns = self.clock.nanoseconds() - start;
            accounted += elapsed_ns;
            self.statistics.note_trial(outcome.is_ok(), elapsed_ns);
            report.evaluations.push(Evaluation { outcome, evidence, elapsed_ns });
        }
        let now = self.clock.nanoseconds();
        report.overhead_ns = now - self.reported_ns - accounted;
        self.reported_ns = now;
        report
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Measured
    }

    fn confirm(&mut self, winner: &Task, default: &Task) -> Result<Option<ConfirmationReport>, EvalError> {
        let report = self.confirm_in_fresh_process(winner, default)?;
        let now = self.clock.nanoseconds();
        let elapsed_ns = now - self.reported_ns;
        self.reported_ns = now;
        Ok(Some(ConfirmationReport { elapsed_ns, ..report }))
    }

    fn rematch(&mut self, incumbent: &Task, finalists: &[Task]) -> Vec<Option<f64>> {
        self.rematch_all(incumbent, finalists)
    }

    fn measure_ceilings(&mut self) -> Option<Ceilings> {
        self.ceilings().ok()
    }
}
