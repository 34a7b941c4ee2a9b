//! What a device runner spent its time on.

use hdrhistogram::Histogram;

use crate::stand::StandStatistics;

/// Sums over everything that a runner did.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceStatistics {
    /// Candidates.
    pub trials: u64,
    /// Candidates verified and timed.
    pub evaluations: u64,
    /// Time on candidates, ns.
    pub trial_ns: u64,
    /// Time in code generation, ns.
    pub codegen_ns: u64,
    /// What the test stand did.
    pub stand: StandStatistics,
    codegen: Histogram<u64>,
}

/// Longest code generation that is told apart, ns.
const LONGEST_NS: u64 = 60_000_000_000;

impl Default for DeviceStatistics {
    fn default() -> Self {
        Self {
            trials: 0,
            evaluations: 0,
            trial_ns: 0,
            codegen_ns: 0,
            stand: StandStatistics::default(),
            codegen: Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("invariant: bounds are in order"),
        }
    }
}

impl DeviceStatistics {
    /// Median time to generate the code of a candidate, ns; 0 before the first.
    pub fn codegen_median_ns(&self) -> u64 {
        if self.codegen.is_empty() { 0 } else { self.codegen.value_at_quantile(0.5) }
    }

    /// Share of the time on candidates that was spent inside kernels.
    pub fn kernel_fraction(&self) -> f64 {
        self.stand.kernel_ns as f64 / self.trial_ns.max(1) as f64
    }

    /// Candidates verified and timed in a second.
    pub fn evaluations_per_second(&self) -> f64 {
        self.evaluations as f64 * 1e9 / self.trial_ns.max(1) as f64
    }

    pub(super) fn note_codegen(&mut self, nanoseconds: u64) {
        self.codegen_ns += nanoseconds;
        self.codegen.saturating_record(nanoseconds);
    }

    pub(super) fn note_trial(&mut self, evaluated: bool, nanoseconds: u64) {
        self.trials += 1;
        self.evaluations += u64::from(evaluated);
        self.trial_ns += nanoseconds;
    }
}
