use tilewright_stats::samples::median;

use super::baseline::Baseline;
use super::space::ScoreError;

/// Where between median and optimum the window begins and ends.
const FROM: f64 = 0.01;
const TO: f64 = 0.95;
/// Times at which a strategy is looked at.
const TIMES: usize = 1000;
/// Budget over the end of the window.
const BUDGET: f64 = 1.1;

/// The times at which a strategy is looked at, with what random search is expected to have found by then.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Equidistant times since the start, s of recorded cost.
    pub seconds: Vec<f64>,
    /// Expected best value of random search at each, in the values' unit.
    pub baseline: Vec<f64>,
    /// Least value.
    pub optimum: f64,
    /// Median value.
    pub median: f64,
    /// What a run may spend, s of recorded cost.
    pub budget_seconds: f64,
}

impl Window {
    /// The window of a space with these valid values, and the costs, s, of all its configurations.
    ///
    /// It goes from the time at which random search is expected to have come 1 % of the way from the median
    /// to the optimum to that of 95 %, each counted in evaluations of median cost.
    ///
    /// # Errors
    /// When there is no valid value, all are equal, or evaluations cost nothing.
    pub fn new(baseline: &Baseline, costs: &[f64]) -> Result<Self, ScoreError> {
        let values = baseline.values();
        let &optimum = values.first().ok_or(ScoreError::NothingValid)?;
        let median_value = median(values).map_err(|_| ScoreError::NothingValid)?;
        if median_value <= optimum {
            return Err(ScoreError::Flat);
        }
        let median_cost = median(costs).map_err(|_| ScoreError::Free)?;
        let mean_cost = costs.iter().sum::<f64>() / costs.len() as f64;
        if median_cost <= 0.0 || mean_cost <= 0.0 {
            return Err(ScoreError::Free);
        }
        let until = |share: f64| {
            let cutoff = optimum + (median_value - optimum) * (1.0 - share);
            evaluations_to(values, cutoff) * median_cost
        };
        let (from, to) = (until(FROM), until(TO));
        let step = (to - from) / (TIMES - 1) as f64;
        let seconds: Vec<f64> = (0..TIMES).map(|at| from + step * at as f64).collect();
        let expected = seconds.iter().map(|time| baseline.expected_best(time / mean_cost)).collect();
        Ok(Self { seconds, baseline: expected, optimum, median: median_value, budget_seconds: BUDGET * to })
    }

    /// Performance at the time with this number, of a run whose best value is `best` then: 0 as random
    /// search, 1 at the optimum.
    pub fn performance(&self, at: usize, best: f64) -> f64 {
        let room = self.baseline[at] - self.optimum;
        // Random search that has seen everything leaves nothing to be better at.
        if room > 0.0 { (self.baseline[at] - best) / room } else { 0.0 }
    }
}

/// Evaluations that random search needs to reach a value, of `values` in ascending order.
fn evaluations_to(values: &[f64], cutoff: f64) -> f64 {
    let count = values.len();
    // Position of the first value at the cut-off or below it, from the worst on.
    let mut position = count - values.partition_point(|&value| value <= cutoff);
    if position < count && values[count - 1 - position] == values[0] {
        position = position.saturating_sub(1);
    }
    (position as f64 / (count + 1 - position) as f64).ceil()
}
