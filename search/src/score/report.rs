use std::fmt;

use rand::Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};
use tilewright_stats::interval::grouped_mean;
use tilewright_stats::samples::quantile;

use super::replay::{Improvement, Replay, performance, replay};
use super::space::ScoredSpace;
use crate::strategy::{Strategy, StrategyEntry};
use crate::streams;

/// Points of a course: as many as a chart can show.
const COURSE_POINTS: usize = 200;

/// How often and with which seed each strategy runs on each space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreSettings {
    /// Runs of each strategy on each space, at least 1.
    pub runs: u32,
    /// Seed of every random draw. Runs of one number have the same seed for all strategies.
    pub seed: u64,
}

/// A strategy that is scored.
pub struct Contestant {
    /// Its name in the report.
    pub name: String,
    /// A new one that has seen nothing, for the run of this number on this space.
    pub create: Create,
}

/// Makes a strategy for a run.
pub type Create = Box<dyn Fn(&ScoredSpace, u32) -> Box<dyn Strategy> + Send + Sync>;

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contestant").field("name", &self.name).finish_non_exhaustive()
    }
}

impl From<StrategyEntry> for Contestant {
    fn from(entry: StrategyEntry) -> Self {
        Self { name: entry.id.to_owned(), create: Box::new(move |_, _| (entry.create)()) }
    }
}

/// A mean with its bootstrap interval over runs, 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean score: 0 as random search, 1 at the optimum from the first moment.
    pub score: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Performance over time of all runs on a space.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// Times of the window, s of recorded cost.
    pub seconds: Vec<f64>,
    /// Mean performance at each.
    pub mean: Vec<f64>,
    /// First quartile of the runs.
    pub low: Vec<f64>,
    /// Third quartile of the runs.
    pub high: Vec<f64>,
}

/// How a strategy did on a space.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceScore {
    /// Name of the space.
    pub space: String,
    /// Mean over the runs.
    pub estimate: Estimate,
    /// Score of each run.
    pub scores: Vec<f64>,
    /// Mean number of configurations that a run evaluated.
    pub evaluations: f64,
    /// Performance over time.
    pub course: Course,
}

/// How a strategy did.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyScore {
    /// Its name.
    pub strategy: String,
    /// Mean over the spaces, each counting alike.
    pub aggregate: Estimate,
    /// By space, in the order given.
    pub spaces: Vec<SpaceScore>,
}

/// How all strategies did, in the order given.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreReport {
    /// What was asked.
    pub settings: ScoreSettings,
    /// By strategy.
    pub strategies: Vec<StrategyScore>,
}

/// A strategy that failed in a run: its score would say nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("strategy `{strategy}`, run {run} on {space}: {reason}")]
pub struct StrategyFailure {
    /// The strategy.
    pub strategy: String,
    /// Name of the space.
    pub space: String,
    /// Number of the run, from 0.
    pub run: u32,
    /// What happened.
    pub reason: String,
}

/// Runs every contestant on every space, on all cores; `done` is called after each run. The result does not
/// depend on the number of threads.
///
/// # Errors
/// When a strategy fails, which only a program outside can.
pub fn score(
    spaces: &[ScoredSpace],
    contestants: &[Contestant],
    settings: ScoreSettings,
    done: &(dyn Fn() + Sync),
) -> Result<ScoreReport, StrategyFailure> {
    let runs = settings.runs.max(1);
    let jobs: Vec<_> = (0..contestants.len())
        .flat_map(|contestant| (0..spaces.len()).map(move |space| (contestant, space)))
        .flat_map(|(contestant, space)| (0..runs).map(move |run| (contestant, space, run)))
        .collect();
    let replays: Vec<Replay> = jobs
        .into_par_iter()
        .map(|(contestant, space, run)| {
            let space = &spaces[space];
            let seed = streams::of_run(settings.seed, space.name(), run);
            let replay = replay(space, (contestants[contestant].create)(space, run).as_mut(), seed);
            done();
            match &replay.failure {
                None => Ok(replay),
                Some(reason) => Err(StrategyFailure {
                    strategy: contestants[contestant].name.clone(),
                    space: space.name().to_owned(),
                    run,
                    reason: reason.clone(),
                }),
            }
        })
        .collect::<Result<_, _>>()?;
    let mut replays = replays.into_iter();
    let strategies = contestants.iter().map(|contestant| {
        let of_space = |space: &ScoredSpace| {
            let (mut scores, mut courses, mut evaluations) = (Vec::new(), Vec::new(), 0);
            for replay in replays.by_ref().take(runs as usize) {
                scores.push(replay.score);
                evaluations += replay.evaluations;
                courses.push(replay.improvements);
            }
            let mut rng = streams::of_intervals(settings.seed);
            SpaceScore {
                space: space.name().to_owned(),
                estimate: estimate(std::slice::from_ref(&scores), &mut rng),
                evaluations: evaluations as f64 / f64::from(runs),
                course: course(space, &courses),
                scores,
            }
        };
        let spaces: Vec<SpaceScore> = spaces.iter().map(of_space).collect();
        let all: Vec<Vec<f64>> = spaces.iter().map(|space| space.scores.clone()).collect();
        let aggregate = estimate(&all, &mut streams::of_intervals(settings.seed));
        StrategyScore { strategy: contestant.name.clone(), aggregate, spaces }
    });
    Ok(ScoreReport { settings, strategies: strategies.collect() })
}

/// Mean of the spaces' mean scores with its interval.
fn estimate(scores: &[Vec<f64>], rng: &mut dyn Rng) -> Estimate {
    // Without any run there is nothing to be said.
    let nothing = Estimate { score: f64::NAN, low: f64::NAN, high: f64::NAN };
    grouped_mean(scores, rng).map_or(nothing, |found| Estimate {
        score: found.mean,
        low: found.interval.low,
        high: found.interval.high,
    })
}

fn course(space: &ScoredSpace, runs: &[Vec<Improvement>]) -> Course {
    let all: Vec<Vec<f64>> = runs.iter().map(|improvements| performance(space, improvements)).collect();
    let seconds = &space.window().seconds;
    let points = COURSE_POINTS.min(seconds.len());
    let mut course = Course { seconds: Vec::new(), mean: Vec::new(), low: Vec::new(), high: Vec::new() };
    for point in 0..points {
        let at = point * (seconds.len() - 1) / (points - 1).max(1);
        let values: Vec<f64> = all.iter().map(|run| run[at]).collect();
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        course.seconds.push(seconds[at]);
        course.mean.push(mean);
        course.low.push(quantile(&values, 0.25).unwrap_or(mean));
        course.high.push(quantile(&values, 0.75).unwrap_or(mean));
    }
    course
}
