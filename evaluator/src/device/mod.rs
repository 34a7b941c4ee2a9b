//! Evaluates candidates by running them on this machine.
//!
//! For each candidate: generate code; run it in the worker on every set of inputs; check the answers; time
//! it in turns with the incumbent. Whatever fails is tried once more in a fresh worker.

mod confirm;
mod pacing;
mod settings;
mod statistics;

use std::sync::Arc;
use std::time::Duration;

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_codegen::Artifact;
use tilewright_ir::{Program, WorkloadKey};
use tilewright_journal::{Ceilings, EvalError, Fidelity, Measurement, Outcome};
use tilewright_runtime::{Clock, HostFacts};
use tilewright_stats::interval::median_interval;
use tilewright_stats::samples::median;
use tilewright_stats::{Evidence, Level};

pub use pacing::Pacing;
pub use settings::{DeviceSettings, device_limits};
pub use statistics::DeviceStatistics;

use crate::EvaluatorError;
use crate::protocol::TimePlan;
use crate::runner::{BatchReport, ConfirmationReport, Evaluation, Runner, Task};
use crate::stand::{Examined, Samples, StandCeiling, StandSettings, TestStand};

/// A time below the arithmetic ceiling's by more than this share cannot be true: room for a ceiling that
/// was measured while the machine was busy.
const CEILING_MARGIN: f64 = 1.05;

/// Candidates that passed and are remembered, so that becoming the incumbent needs no new examination.
const REMEMBERED: usize = 256;

/// Measurements of the ceiling before a time is called impossible: a busy machine shows too low a one.
const CEILING_ATTEMPTS: u32 = 10;

/// Attempts at a comparison that the coordinator's clock contradicts.
const ATTEMPTS: u32 = 3;

/// The runner.
pub struct DeviceRunner {
    key: WorkloadKey,
    settings: DeviceSettings,
    stand: TestStand,
    host: HostFacts,
    /// Highest multiply-add rate seen, GFLOP/s.
    fma_gflops: f64,
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
        let Some(program) = &task.program else {
            return failed(EvalError::Illegal("a recorded candidate has no program to run".to_owned()), true);
        };
        let compiled = match self.compile(program) {
            Ok(compiled) => compiled,
            Err(error) => return failed(error, true),
        };
        let first = match self.measure(incumbent, task, program, &compiled) {
            Ok((measurement, samples)) => {
                let Samples { incumbent, candidate, .. } = samples;
                return (Ok(measurement), Evidence::Pairs { incumbent, candidate });
            }
            Err(error) => error,
        };
        // Once more in a fresh worker, where nothing that this candidate left behind can matter.
        let again = match self.stand.restart() {
            Ok(()) => self.measure(incumbent, task, program, &compiled).err(),
            Err(error) => Some(EvalError::Lost(error.to_string())),
        };
        let reproduced = again.is_some_and(|again| again.kind() == first.kind());
        failed(first, reproduced)
    }

    fn measure(
        &mut self,
        incumbent: Option<&Task>,
        task: &Task,
        program: &Arc<Program>,
        compiled: &Compiled,
    ) -> Result<(Measurement, Samples), EvalError> {
        let kernel_before = self.stand.statistics().kernel_ns;
        let mut rng = ChaCha8Rng::seed_from_u64(task.seed);
        let incumbent_ns = match incumbent {
            Some(incumbent) => Some(self.install(incumbent)?),
            None => None,
        };
        let limit = self.examination_limit(incumbent_ns);
        let Examined { verification, first_ns } = {
            let repeat_below_ns = self.settings.pacing.repeat_below_ns(incumbent_ns);
            self.stand.examine(&compiled.artifact, repeat_below_ns, limit)?
        };
        if incumbent.is_none() {
            // By itself means beside itself: its own noise, and samples like any other's.
            self.stand.set_incumbent(&compiled.artifact)?;
            self.incumbent = Some(Known { program: Arc::clone(program), launch_ns: first_ns });
        }
        let incumbent_ns = incumbent_ns.unwrap_or(first_ns);
        let (samples, launches) = self.compare(first_ns, incumbent_ns, &mut rng)?;
        let median_ns =
            median(&samples.candidate).map_err(|error| EvalError::Implausible(error.to_string()))?;
        self.plausible(median_ns)?;
        self.remember(program, median_ns);
        if let (Some(known), Ok(now)) = (&mut self.incumbent, median(&samples.incumbent)) {
            known.launch_ns = now;
        }
        let measurement = Measurement {
            median_ns,
            interval_ns: median_interval(&samples.candidate, Level::FIVE_PERCENT).ok().flatten(),
            p99_ns: None,
            launches,
            kernel_ns: self.stand.statistics().kernel_ns - kernel_before,
            codegen_ns: compiled.codegen_ns,
            code_bytes: compiled.artifact.code.len() as u64,
            workspace_bytes: compiled.artifact.workspace_bytes,
            artifact_sha256: Some(compiled.artifact.sha256()),
            verification: Some(verification),
        };
        Ok((measurement, samples))
    }

    /// Makes a task the incumbent of the stand, verified if it was not before; returns its time, ns.
    fn install(&mut self, incumbent: &Task) -> Result<f64, EvalError> {
        let blame = |error: EvalError| EvalError::Lost(format!("the incumbent failed: {error}"));
        let program = incumbent.program.as_ref().ok_or_else(|| EvalError::Lost("no program".to_owned()))?;
        let same = |known: &&Known| Arc::ptr_eq(&known.program, program) || known.program == *program;
        if let Some(known) = self.incumbent.as_ref().filter(same) {
            return Ok(known.launch_ns);
        }
        let Compiled { artifact, .. } = self.compile(program).map_err(blame)?;
        let remembered = self.passed.iter().rev().find(same).map(|known| known.launch_ns);
        let launch_ns = if let Some(launch_ns) = remembered {
            launch_ns
        } else {
            let repeat_below_ns = self.settings.pacing.repeat_below_ns(None);
            let limit = self.examination_limit(None);
            self.stand.examine(&artifact, repeat_below_ns, limit).map_err(blame)?.first_ns
        };
        self.stand.set_incumbent(&artifact).map_err(blame)?;
        self.incumbent = Some(Known { program: Arc::clone(program), launch_ns });
        Ok(launch_ns)
    }

    fn remember(&mut self, program: &Arc<Program>, launch_ns: f64) {
        if self.passed.len() >= REMEMBERED {
            self.passed.drain(..REMEMBERED / 2);
        }
        self.passed.push(Known { program: Arc::clone(program), launch_ns });
    }

    /// Pairs until the pacing is content, and how many launches of the candidate they took.
    fn compare(
        &mut self,
        first_ns: f64,
        incumbent_ns: f64,
        rng: &mut dyn Rng,
    ) -> Result<(Samples, u64), EvalError> {
        let pacing = self.settings.pacing;
        let launches = pacing.launches(first_ns, incumbent_ns);
        let mut samples = Samples::default();
        let mut pairs = pacing.begin(first_ns, incumbent_ns);
        while pairs > 0 {
            let first = samples.candidate.is_empty();
            let candidate_first: u64 = rng.random();
            let warm_up = pacing.warm_up([first_ns, incumbent_ns], first, candidate_first & 1 == 1);
            let checked_pair = if first { rng.random_range(0..pairs) } else { u32::MAX };
            let plan = TimePlan { pairs, launches, candidate_first, checked_pair, warm_up, cold: false };
            let batch = self.timed(&plan, first_ns.max(incumbent_ns))?;
            samples.incumbent.extend(batch.incumbent);
            samples.candidate.extend(batch.candidate);
            pairs = pacing.more(&samples, incumbent_ns);
        }
        let timed = samples.candidate.len() as u64 * u64::from(launches[1]);
        Ok((samples, timed))
    }

    /// One request of pairs, again when the coordinator's clock contradicts a gain.
    fn timed(&mut self, plan: &TimePlan, launch_ns: f64) -> Result<Samples, EvalError> {
        let launches = f64::from(plan.pairs + 3) * f64::from(plan.launches[0] + plan.launches[1]);
        let limit = Duration::from_millis(500) + Duration::from_nanos((10.0 * launches * launch_ns) as u64);
        let mut hidden = (0, 0);
        for _ in 0..ATTEMPTS {
            let batch = self.stand.compare(plan, limit)?;
            hidden = (batch.unexplained_ns, batch.bracket_ns);
            // Time that is hidden from a slower candidate does it no good.
            let gains = batch.candidate.iter().sum::<f64>() < batch.incumbent.iter().sum::<f64>();
            if !gains || hidden.0 <= hidden.1 / 4 {
                return Ok(batch);
            }
        }
        let (unexplained, bracket) = hidden;
        Err(EvalError::Implausible(format!(
            "launches account for all but {unexplained} ns of {bracket} ns of the coordinator's clock"
        )))
    }

    fn examination_limit(&self, incumbent_ns: Option<f64>) -> Duration {
        let sets = f64::from(MOST_SETS);
        let (base, launch_ns) = match incumbent_ns {
            Some(launch_ns) => (Duration::from_millis(100), 8.0 * launch_ns),
            None => (Duration::from_secs(2), self.stand.computation().operations() / SLOWEST_GFLOPS),
        };
        base + Duration::from_nanos((sets * launch_ns) as u64)
    }

    /// Compares a time with the arithmetic ceiling, measured again before anything is called impossible.
    fn plausible(&mut self, launch_ns: f64) -> Result<(), EvalError> {
        let operations = self.stand.computation().operations();
        let possible = |gflops: f64| gflops <= 0.0 || launch_ns >= operations / (gflops * CEILING_MARGIN);
        for _ in 0..CEILING_ATTEMPTS {
            if possible(self.fma_gflops) {
                return Ok(());
            }
            self.raise_ceiling()?;
        }
        let (found, ceiling) = (operations / launch_ns, self.fma_gflops);
        Err(EvalError::Implausible(format!("{found:.1} GFLOP/s, the ceiling is {ceiling:.1}")))
    }

    fn raise_ceiling(&mut self) -> Result<StandCeiling, EvalError> {
        let measured = self.stand.ceiling()?;
        self.fma_gflops = self.fma_gflops.max(measured.fma_gflops);
        Ok(measured)
    }

    fn ceilings(&mut self) -> Result<Ceilings, EvalError> {
        let measured = self.raise_ceiling()?;
        Ok(confirm::ceilings(self.stand.computation(), &self.host, self.key.threads, measured))
    }
}

/// Sets of inputs that an examination runs at the most.
const MOST_SETS: u32 = 3;

/// Slowest kernel that is waited for when nothing is known, GFLOP/s.
const SLOWEST_GFLOPS: f64 = 0.1;

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

    fn measure_ceilings(&mut self) -> Option<Ceilings> {
        self.ceilings().ok()
    }
}
