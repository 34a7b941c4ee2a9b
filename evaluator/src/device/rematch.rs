//! Finalists beside the incumbent: many pairs, no screening, no looking before the last pair.

use tilewright_stats::log_ratios;
use tilewright_stats::samples::median;

use super::{DeviceRunner, Pacing};
use crate::runner::Task;

/// Time that the pairs of one finalist may take, ns.
const PAIRS_NS: f64 = 1.5e9;
/// Least and most pairs.
const PAIRS: std::ops::RangeInclusive<f64> = 7.0..=41.0;
/// Least length of a sample, ns.
const SAMPLE_NS: f64 = 200e3;

impl DeviceRunner {
    pub(super) fn rematch_all(&mut self, incumbent: &Task, finalists: &[Task]) -> Vec<Option<f64>> {
        let usual = self.settings.pacing;
        let launch_ns = self.incumbent.as_ref().map_or(SAMPLE_NS, |known| known.launch_ns);
        let pair_ns = 2.0 * launch_ns.max(SAMPLE_NS);
        let pairs = (PAIRS_NS / pair_ns).clamp(*PAIRS.start(), *PAIRS.end()) as u32;
        self.settings.pacing = Pacing {
            screen_ratio: f64::INFINITY,
            long_screen_ratio: f64::INFINITY,
            first_pairs: pairs,
            most_pairs: pairs,
            sample_ns: SAMPLE_NS,
            ..usual
        };
        let ratios = finalists.iter().map(|finalist| self.rematch_one(incumbent, finalist)).collect();
        self.settings.pacing = usual;
        ratios
    }

    fn rematch_one(&mut self, incumbent: &Task, finalist: &Task) -> Option<f64> {
        let program = finalist.program.as_ref()?;
        let compiled = self.compile(program).ok()?;
        let (_, samples) = self.measure(Some(incumbent), finalist, program, &compiled).ok()?;
        Some(median(&log_ratios(&samples.incumbent, &samples.candidate).ok()?).ok()?.exp())
    }
}
