use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tilewright_ir::{Schedule, ScheduleValue};
use tilewright_journal::{Subject, Trial};
use tilewright_stats::{Decision, Judged};

use crate::scoreboard::Scoreboard;

/// Version of a heuristic's form, raised when an older tool would misread one.
pub const HEURISTIC_VERSION: u32 = 1;

/// Points that a heuristic remembers: of more, the fastest and every so many of the others.
const MOST_POINTS: usize = 4_096;
/// Share of them that are the fastest.
const FASTEST: f64 = 0.25;

/// A point that was judged elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// What was tried, by the names of its parameters.
    pub schedule: Schedule,
    /// Logarithm of its time over the fastest point's; `None` for a failure that was reproduced.
    pub score: Option<f64>,
}

/// How often a mutation operator was tried, and with what success: where a bandit can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OperatorRecord {
    /// Judged trials that it proposed.
    pub trials: u64,
    /// Those judged faster than the incumbent.
    pub faster: u64,
}

/// What a search leaves behind: the points that it judged, the fastest first, failures last.
///
/// Points are kept rather than the parameters of a model fitted to them: they say exactly what was found, a
/// later version can fit a better model to them, and they mean the same in every encoding of the space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heuristic {
    /// [`HEURISTIC_VERSION`] when it was written.
    pub version: u32,
    /// What was searched, and where.
    pub subject: Subject,
    /// Judged trials it was learned from, those whose points were thinned out included.
    pub evidence: u64,
    /// Success of the operators that proposed them, by name.
    pub operators: BTreeMap<String, OperatorRecord>,
    points: Vec<Remembered>,
}

/// Why a text is no heuristic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeuristicError {
    /// It is not in the form of one.
    #[error("not a heuristic: {0}")]
    Form(String),
    /// A later version wrote it.
    #[error("form {found}, this version reads up to {HEURISTIC_VERSION}; use a newer tilewright")]
    Newer {
        /// Version that it states.
        found: u32,
    },
    /// It contradicts itself.
    #[error("`{field}`: {problem}")]
    Unsound {
        /// Field of the form.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
}

impl Heuristic {
    /// What these trials teach, in the order they were judged; all are of `subject`. Failures count only when
    /// they were reproduced. `None` when nothing was valid.
    pub fn learn(subject: &Subject, judged: &[Judged<Trial>]) -> Option<Self> {
        let mut scores = Scoreboard::default();
        let mut points: Vec<Remembered> = Vec::new();
        let mut operators: BTreeMap<String, OperatorRecord> = BTreeMap::new();
        for judged in judged {
            let score = scores.place(judged);
            let decision = judged.verdict().kind;
            if score.is_none() && decision != Decision::Failed {
                continue;
            }
            let trial = judged.subject();
            if let Some(operator) = &trial.provenance.operator {
                let record = operators.entry(operator.clone()).or_default();
                record.trials += 1;
                record.faster += u64::from(decision == Decision::Faster);
            }
            points.push(Remembered { schedule: trial.candidate.schedule.clone(), score });
        }
        let evidence = points.len() as u64;
        points.sort_by(|first, second| order(first).total_cmp(&order(second)));
        let best = points.first()?.score?;
        for point in &mut points {
            point.score = point.score.map(|score| score - best);
        }
        let (version, points) = (HEURISTIC_VERSION, thinned(points));
        Some(Self { version, subject: subject.clone(), evidence, operators, points })
    }

    /// Reads what [`Heuristic::to_json`] wrote.
    ///
    /// # Errors
    /// When it is in another form, of a later version, or contradicts itself.
    pub fn from_json(text: &[u8]) -> Result<Self, HeuristicError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let form = |error: serde_json::Error| HeuristicError::Form(error.to_string());
        let Version { version: found } = serde_json::from_slice(text).map_err(form)?;
        if found > HEURISTIC_VERSION {
            return Err(HeuristicError::Newer { found });
        }
        let read: Self = serde_json::from_slice(text).map_err(form)?;
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), HeuristicError> {
        let unsound =
            |field, problem: &str| Err(HeuristicError::Unsound { field, problem: problem.to_owned() });
        if self.points.first().is_none_or(|best| best.score != Some(0.0)) {
            return unsound("points", "the first is not the fastest, with the score 0");
        }
        if self.points.iter().any(|point| point.score.is_some_and(|score| !score.is_finite())) {
            return unsound("points", "a score is not finite");
        }
        if !self.points.is_sorted_by(|first, second| order(first) <= order(second)) {
            return unsound("points", "they are not in the order of their scores");
        }
        if self.evidence < self.points.len() as u64 {
            return unsound("evidence", "fewer trials than points");
        }
        Ok(())
    }

    /// Its text, one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("invariant: keys are text and scores are finite")
    }

    /// The points, the fastest first, failures last.
    pub fn points(&self) -> &[Remembered] {
        &self.points
    }

    /// The names of the parameters of its encoding, in order.
    pub fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .points
            .iter()
            .flat_map(|point| point.schedule.parameters.keys())
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Valid points as values by name, with their scores.
    pub fn timed(&self) -> impl Iterator<Item = (&BTreeMap<String, ScheduleValue>, f64)> {
        self.points.iter().filter_map(|point| Some((&point.schedule.parameters, point.score?)))
    }
}

fn order(point: &Remembered) -> f64 {
    point.score.unwrap_or(f64::INFINITY)
}

/// At most [`MOST_POINTS`] of the points: the first, and of the rest every so many.
fn thinned(points: Vec<Remembered>) -> Vec<Remembered> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let fastest = (MOST_POINTS as f64 * FASTEST) as usize;
    let (rest, wanted) = (points.len() - fastest, MOST_POINTS - fastest);
    let keep = |at: usize| at < fastest || ((at - fastest) * wanted) % rest < wanted;
    points.into_iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, point)| point).collect()
}
