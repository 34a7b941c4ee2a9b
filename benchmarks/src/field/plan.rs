use std::path::Path;

use serde::Serialize;
use tilewright_recorded::{RecordedSpace, Value, kernel_tuner_cache};
use tilewright_search::score::ScoredSpace;

/// Questions for each evaluation that the budget pays for at mean cost: many are illegal, or asked again.
const QUESTIONS: f64 = 5.0;
/// Evaluations over what the budget pays for at mean cost: a search that finds fast configurations affords more.
const EVALUATIONS: f64 = 2.0;

/// A recorded space for other tuners, as `benchmarks/field/plan.py` reads it.
#[derive(Debug, Serialize)]
pub struct Plan {
    kernel: String,
    /// The recording as a cache file of Kernel Tuner.
    cache: String,
    parameters: Vec<PlanParameter>,
    /// Value positions of each configuration.
    points: Vec<Vec<u16>>,
    /// Time of each, ms; null for a failure.
    times_ms: Vec<Option<f64>>,
    /// What each costs on its first visit, s.
    costs_s: Vec<f64>,
    budget_s: f64,
    /// Most questions to a tuner that is asked point by point.
    questions: u64,
    /// Most evaluations of a tuner that is given the whole space.
    evaluations: u64,
    /// One for each run.
    seeds: Vec<u64>,
}

#[derive(Debug, Serialize)]
struct PlanParameter {
    name: String,
    values: Vec<Value>,
    ordered: bool,
}

/// Seed of a run, below 2³² as other tuners want it.
pub fn seed(seed: u64, run: u32) -> u64 {
    (seed % 1_000) * 1_000_000 + u64::from(run)
}

impl Plan {
    /// Writes a space's cache file into `folder`, and says what a tuner needs to know.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(space: &ScoredSpace, seeds: Vec<u64>, folder: &Path) -> std::io::Result<Self> {
        let recorded = space.recorded();
        let cache = folder.join(format!("{}.cache.json", space.name()));
        std::fs::write(&cache, kernel_tuner_cache(recorded, "").to_string())?;
        let costs_s: Vec<f64> = recorded.configurations().iter().map(|of| of.cost.seconds()).collect();
        let mean = costs_s.iter().sum::<f64>() / costs_s.len() as f64;
        let budget_s = space.window().budget_seconds;
        let affordable = budget_s / mean;
        Ok(Self {
            kernel: recorded.kernel().to_owned(),
            cache: cache.display().to_string(),
            parameters: parameters(recorded),
            points: recorded.configurations().iter().map(|of| of.values.to_vec()).collect(),
            times_ms: recorded
                .configurations()
                .iter()
                .map(|of| of.result.as_ref().ok().map(|timing| timing.time_ms))
                .collect(),
            budget_s,
            questions: (QUESTIONS * affordable) as u64 + 200,
            evaluations: ((EVALUATIONS * affordable) as u64 + 20).min(costs_s.len() as u64),
            costs_s,
            seeds,
        })
    }
}

fn parameters(recorded: &RecordedSpace) -> Vec<PlanParameter> {
    let parameters = recorded.parameters().iter();
    let plain = parameters.map(|of| PlanParameter {
        name: of.name.clone(),
        values: of.values.clone(),
        ordered: of.ordered,
    });
    plain.collect()
}
