//! A kernel beside itself: what the judging of claims must not tell apart, and what it finds when one side is
//! delayed on purpose. The way of each launch is that of a candidate: worker, stand, plan, random side first.

use std::time::Duration;

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use tilewright_codegen::Artifact;
use tilewright_ir::WorkloadKey;
use tilewright_journal::{Conditions, EvalError};
use tilewright_stats::PairedTimes;

use crate::EvaluatorError;
use crate::device::{Gathered, PairPlan, quiet_sample_ns};
use crate::protocol::{TimePlan, WarmUp};
use crate::stand::{StandSettings, TestStand};

/// Longest time of an examination.
const LIMIT: Duration = Duration::from_secs(30);
/// Time that may be spent on measuring the disturbed pairs of one comparison again, ns.
const PATIENCE_NS: f64 = 5e8;

/// A kernel that is loaded on both sides.
pub struct Twins {
    stand: TestStand,
    launch_ns: f64,
}

impl Twins {
    /// Starts a worker, verifies the kernel, and loads it as incumbent and as candidate.
    ///
    /// # Errors
    /// When the worker does not start or the kernel fails.
    pub fn start(
        key: &WorkloadKey,
        artifact: &Artifact,
        settings: StandSettings,
    ) -> Result<Self, EvaluatorError> {
        let failed = |error: EvalError| EvaluatorError::Mute(error.to_string());
        let mut stand = TestStand::new(key, settings)?;
        stand.examine(artifact, LIMIT).map_err(failed)?;
        stand.set_incumbent(artifact).map_err(failed)?;
        let mut twins = Self { stand, launch_ns: 1.0 };
        // The launch that verifies finds cold caches.
        let times = twins.pairs(8, 16, 0).map_err(failed)?;
        twins.launch_ns = tilewright_stats::samples::median(&times.incumbent).unwrap_or(1.0).max(1.0);
        Ok(twins)
    }

    /// About how long a launch takes, ns.
    pub fn launch_ns(&self) -> f64 {
        self.launch_ns
    }

    /// Launches of a sample of this length.
    pub fn launches(&self, sample_ns: f64) -> u32 {
        (sample_ns / self.launch_ns).ceil().clamp(1.0, 1e6) as u32
    }

    /// Up to 64 pairs in one question, whatever the machine does meanwhile; bit i of `order` is set where the
    /// candidate goes first in pair i.
    ///
    /// # Errors
    /// When the worker is lost.
    pub fn pairs(&mut self, pairs: u32, launches: u32, order: u64) -> Result<PairedTimes, EvalError> {
        let plan = TimePlan {
            pairs: pairs.clamp(1, 64),
            launches: [launches; 2],
            candidate_first: order,
            checked_pair: u32::MAX,
            warm_up: WarmUp::Both,
            cold: false,
        };
        let samples = self.stand.compare(&plan, LIMIT)?;
        Ok(PairedTimes { incumbent: samples.incumbent, candidate: samples.candidate })
    }

    /// The length of samples, ns, that a claim would choose for this kernel now.
    ///
    /// # Errors
    /// When the worker is lost.
    pub fn quiet_sample_ns(&mut self, rng: &mut ChaCha8Rng) -> Result<f64, EvalError> {
        quiet_sample_ns(&mut self.stand, self.launch_ns, rng)
    }

    /// Pairs as a claim takes them, disturbed ones again, with further launches in each sample of the incumbent:
    /// a share `delay` of those of the candidate, rounded to whole launches. What it is exactly comes back too.
    ///
    /// # Errors
    /// When the worker is lost.
    pub fn delayed(
        &mut self,
        pairs: u32,
        (sample_ns, delay): (f64, f64),
        rng: &mut ChaCha8Rng,
    ) -> Result<Delayed, EvalError> {
        let launches = self.launches(sample_ns);
        let plan = PairPlan::delayed([self.launch_ns; 2], launches, delay);
        let mut patience_ns = PATIENCE_NS;
        let mut gathered = Gathered::default();
        gathered.gather(&mut self.stand, &plan, pairs, (&mut patience_ns, rng), &|_| false)?;
        let exact = f64::from(plan.launches[0]) / f64::from(plan.launches[1]);
        let conditions = gathered.conditions();
        let PairedTimes { incumbent, candidate } = gathered.times;
        // Each sample's time counts whole, as if its further launches were part of the kernel.
        let incumbent = incumbent.into_iter().map(|launch_ns| launch_ns * exact).collect();
        Ok(Delayed { times: PairedTimes { incumbent, candidate }, delay: exact - 1.0, conditions })
    }

    /// An order of pairs, each a fair coin.
    pub fn draw_order(rng: &mut dyn Rng) -> u64 {
        rng.random()
    }
}

/// Pairs with a planted delay.
#[derive(Debug, Clone, PartialEq)]
pub struct Delayed {
    /// The pairs; the incumbent is the delayed side.
    pub times: PairedTimes,
    /// The delay, as a share of the candidate's time.
    pub delay: f64,
    /// What the machine did meanwhile.
    pub conditions: Conditions,
}
