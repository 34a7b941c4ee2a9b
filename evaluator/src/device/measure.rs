//! One candidate: verified, then timed in turns with the incumbent.

use std::sync::Arc;
use std::time::Duration;

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_ir::Program;
use tilewright_journal::{EvalError, Measurement};
use tilewright_stats::Level;
use tilewright_stats::interval::median_interval;
use tilewright_stats::samples::median;

use super::{Compiled, DeviceRunner, Known, Pacing};
use crate::protocol::TimePlan;
use crate::runner::Task;
use crate::stand::{Effort, Samples};

/// Candidates that passed and are remembered, so that becoming the incumbent needs no new examination.
const REMEMBERED: usize = 256;

/// Attempts at a comparison that the coordinator's clock contradicts.
const ATTEMPTS: u32 = 3;

/// Slowest kernel that is waited for when nothing is known, GFLOP/s.
pub(super) const SLOWEST_GFLOPS: f64 = 0.1;

impl DeviceRunner {
    pub(super) fn measure(
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
        let effort = Effort { pairs_follow: true, ..self.effort(incumbent_ns) };
        let first_ns = self.stand.examine_within(&compiled.artifact, &effort)?;
        if incumbent.is_none() {
            // By itself means beside itself: its own noise, and samples like any other's.
            self.stand.set_incumbent(&compiled.artifact)?;
            self.incumbent = Some(Known { program: Arc::clone(program), launch_ns: first_ns });
        }
        let incumbent_ns = incumbent_ns.unwrap_or(first_ns);
        let mut pacing = self.settings.pacing;
        if incumbent.is_none() {
            // Nothing is to be decided.
            pacing.most_pairs = pacing.first_pairs;
        }
        let (samples, launches) = self.compare(&pacing, first_ns, incumbent_ns, &mut rng)?;
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
            verification: Some(self.stand.verification()),
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
            let effort = self.effort(None);
            self.stand.examine_within(&artifact, &effort).map_err(blame)?
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
        pacing: &Pacing,
        first_ns: f64,
        incumbent_ns: f64,
        rng: &mut dyn Rng,
    ) -> Result<(Samples, u64), EvalError> {
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
        Err(EvalError::TimerTampered(format!(
            "launches account for all but {unexplained} ns of {bracket} ns of the coordinator's clock"
        )))
    }

    fn effort(&self, incumbent_ns: Option<f64>) -> Effort {
        let pacing = &self.settings.pacing;
        let (limit, launch_ns, screen_above_ns) = match incumbent_ns {
            Some(launch_ns) => (Duration::from_millis(50), 4.0 * launch_ns, pacing.screen_ratio * launch_ns),
            None => (Duration::from_secs(2), self.slowest_ns(), f64::INFINITY),
        };
        let limit = limit + Duration::from_nanos(launch_ns as u64);
        let repeat_below_ns = pacing.repeat_below_ns(incumbent_ns);
        Effort { repeat_below_ns, screen_above_ns, pairs_follow: false, limit }
    }

    /// Longest launch that is waited for when nothing is known, ns.
    fn slowest_ns(&self) -> f64 {
        self.stand.computation().operations() / SLOWEST_GFLOPS
    }

    /// Longest time for each set of inputs when nothing is known.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs(2) + Duration::from_nanos(self.slowest_ns() as u64)
    }
}
