use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

/// How fast each trial was, on one scale: the natural logarithm of its time over the first valid trial's.
///
/// A trial measured beside an incumbent is placed by the gate's ratio, so that a machine that slows down
/// during the search moves nobody; one measured alone is placed by its median time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Scoreboard {
    scores: BTreeMap<u64, f64>,
    reference_ns: Option<f64>,
}

impl Scoreboard {
    /// Places a trial and gives its score; `None` for one that failed.
    pub fn place(&mut self, judged: &Judged<Trial>) -> Option<f64> {
        let trial = judged.subject();
        let measurement = trial.outcome.as_ref().ok()?;
        let beside = trial.incumbent.and_then(|incumbent| self.scores.get(&incumbent));
        let score = match (beside, judged.verdict().ratio) {
            (Some(incumbent), Some(ratio)) if ratio > 0.0 => incumbent + ratio.ln(),
            _ => {
                let reference = *self.reference_ns.get_or_insert(measurement.median_ns);
                (measurement.median_ns / reference).ln()
            }
        };
        if !score.is_finite() {
            return None;
        }
        self.scores.insert(trial.index, score);
        Some(score)
    }

    /// Time that has the score 0, ns; `None` before the first valid trial.
    pub fn reference_ns(&self) -> Option<f64> {
        self.reference_ns
    }

    /// The score of a trial; lower is faster.
    pub fn score(&self, trial: u64) -> Option<f64> {
        self.scores.get(&trial).copied()
    }
}
