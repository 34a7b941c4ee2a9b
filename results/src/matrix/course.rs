//! What one cell of a matrix found, and when.

use std::collections::BTreeMap;

use tilewright_ir::{Schedule, ScheduleValue};
use tilewright_journal::{EvalError, Fidelity, Measurement, Objective, Trial};
use tilewright_stats::Decision;

use crate::Campaign;

/// Trials of a cell whose parameters are kept, evenly taken: enough to see what matters.
const MOST_KEPT: usize = 400;

/// A better kernel was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Evaluations until then, this one included.
    pub evaluations: u64,
    /// Time until then, s, as trials report it.
    pub seconds: f64,
    /// Median time of a launch from then on, ns.
    pub time_ns: f64,
}

/// A trial as far as comparisons need it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tried {
    /// How much of the search had passed, in [0, 1].
    pub(crate) progress: f64,
    /// Mutation operator that made it.
    pub(crate) operator: Option<String>,
    /// Whether the gate found it faster than the incumbent.
    pub(crate) faster: bool,
}

/// A valid trial with its schedule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sampled {
    pub(crate) parameters: BTreeMap<String, ScheduleValue>,
    pub(crate) time_ns: f64,
}

/// A valid trial that no other of its cell beats in every objective.
#[derive(Debug, Clone, PartialEq)]
pub struct Tradeoff {
    /// Value of each objective, in the matrix's order; lower is better.
    pub values: Vec<f64>,
    /// Strategy that found it.
    pub strategy: String,
    /// Seed of its cell.
    pub seed: u64,
    /// Its number in the cell's journal.
    pub trial: u64,
    /// Its schedule.
    pub schedule: String,
}

/// The course of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// Workload and target in words.
    pub problem: String,
    /// Strategy.
    pub strategy: String,
    /// Seed.
    pub seed: u64,
    /// Improvements, in order; the last is what the cell found.
    pub found: Vec<Found>,
    /// Evaluations in all.
    pub evaluations: u64,
    /// Least time that anybody measured for this problem, ns.
    pub best_known_ns: Option<f64>,
    /// Default time over winner time of the confirmation, and the default's median, ns.
    pub confirmed: Option<(f64, f64)>,
    /// Trade-offs between the objectives that were measured.
    pub tradeoffs: Vec<Tradeoff>,
    pub(crate) tried: Vec<Tried>,
    pub(crate) sampled: Vec<Sampled>,
}

impl Course {
    /// The course of a campaign in a matrix with these objectives.
    pub(crate) fn of(campaign: &Campaign, problem: String, objectives: &[Objective]) -> Self {
        let request = &campaign.started.request;
        let mut course = Self {
            problem,
            strategy: request.strategy.clone(),
            seed: request.seed,
            found: Vec::new(),
            evaluations: 0,
            best_known_ns: campaign.started.best_known_ns,
            confirmed: confirmed(campaign),
            tradeoffs: Vec::new(),
            tried: Vec::new(),
            sampled: Vec::new(),
        };
        let mut moves = campaign.moves.iter().peekable();
        let total = campaign.trials.len().max(1) as f64;
        for (finished, at) in campaign.trials.iter().zip(0_u32..) {
            let trial = &finished.trial;
            course.evaluations += u64::from(is_run(trial));
            let verdict = finished.judgement.as_ref().map(|judgement| judgement.verdict.kind);
            course.tried.push(Tried {
                progress: (f64::from(at) + 0.5) / total,
                operator: trial.provenance.operator.clone(),
                faster: trial.outcome.is_ok() && verdict == Some(Decision::Faster),
            });
            let Some(time_ns) = time(trial) else { continue };
            course.sampled.push(Sampled { parameters: trial.candidate.schedule.parameters.clone(), time_ns });
            // A recording does not say how much memory its kernels need.
            let workspace = trial.provenance.fidelity != Fidelity::Replayed;
            if let Ok(measurement) = &trial.outcome {
                let values = values(measurement, workspace, objectives);
                course.trade(values, trial.index, &trial.candidate.schedule);
            }
            // What noise made look fast is not taken for found: of what is measured only incumbents count.
            let found_ns = if is_exact(trial) {
                Some(time_ns)
            } else {
                moves.next_if(|moved| moved.trial == trial.index).map(|moved| moved.median_ns)
            };
            if let Some(found_ns) = found_ns {
                course.improve(trial.at_ns, found_ns);
            }
        }
        for moved in moves {
            course.improve(moved.at_ns, moved.median_ns);
        }
        // Quantiles of single launches are measured in the confirmation.
        for kernel in campaign.confirmation.iter().flat_map(|found| [&found.winner, &found.default]) {
            if let Some(trial) = kernel.trial {
                course.trade(values(&kernel.measurement, true, objectives), trial, &kernel.schedule);
            }
        }
        course.sampled = crate::charts::thin(&course.sampled, MOST_KEPT);
        course
    }

    fn improve(&mut self, at_ns: u64, time_ns: f64) {
        if self.found.last().is_none_or(|best| time_ns < best.time_ns) {
            let seconds = at_ns as f64 / 1e9;
            self.found.push(Found { evaluations: self.evaluations.max(1), seconds, time_ns });
        }
    }

    /// Keeps a trial that no other beats in every objective. Where an objective was not measured it is no
    /// trade-off.
    fn trade(&mut self, values: Option<Vec<f64>>, trial: u64, schedule: &Schedule) {
        let Some(values) = values else { return };
        let (strategy, schedule) = (self.strategy.clone(), schedule.to_string());
        join(&mut self.tradeoffs, Tradeoff { values, strategy, seed: self.seed, trial, schedule });
    }

    /// Multiplies all times: courses that were measured at different times are brought to one clock by what
    /// they measured of the same kernel.
    pub(crate) fn scale(&mut self, factor: f64) {
        for found in &mut self.found {
            found.time_ns *= factor;
        }
    }

    /// Median time of the best so far, ns; `None` where nothing valid was found yet.
    pub fn best_after(&self, evaluations: f64) -> Option<f64> {
        let known = self.found.partition_point(|found| found.evaluations as f64 <= evaluations);
        known.checked_sub(1).map(|at| self.found[at].time_ns)
    }

    /// Median time of what the cell found, ns.
    pub fn last_ns(&self) -> Option<f64> {
        self.found.last().map(|found| found.time_ns)
    }
}

/// Adds a trade-off unless another one is at least as good in everything, and drops those that it beats.
pub(crate) fn join(front: &mut Vec<Tradeoff>, new: Tradeoff) {
    let beats = |one: &Tradeoff, other: &Tradeoff| {
        one.values.iter().zip(&other.values).all(|(value, beside)| value <= beside)
    };
    if !front.iter().any(|known| beats(known, &new)) {
        front.retain(|known| !beats(&new, known));
        front.push(new);
    }
}

/// What a kernel is worth by each objective; `None` where one was not measured.
fn values(measurement: &Measurement, workspace: bool, objectives: &[Objective]) -> Option<Vec<f64>> {
    let value = |objective: &Objective| match objective {
        Objective::Median => Some(measurement.median_ns),
        Objective::P99 => measurement.p99_ns,
        Objective::Workspace => workspace.then_some(measurement.workspace_bytes as f64),
    };
    objectives.iter().map(value).collect()
}

/// Median time of a valid trial that was answered whole, ns.
fn time(trial: &Trial) -> Option<f64> {
    let measurement = trial.outcome.as_ref().ok()?;
    let whole = trial.provenance.fidelity != Fidelity::Screened;
    (whole && measurement.median_ns > 0.0).then_some(measurement.median_ns)
}

/// Whether a time is the same however often one asks.
fn is_exact(trial: &Trial) -> bool {
    matches!(trial.provenance.fidelity, Fidelity::Simulated | Fidelity::Replayed)
}

/// Whether somebody had to answer for it.
fn is_run(trial: &Trial) -> bool {
    !matches!(trial.outcome, Err(EvalError::Illegal(_) | EvalError::Duplicate { .. }))
}

/// Default time over winner time, median over the confirmation's pairs, and the default's median, ns.
fn confirmed(campaign: &Campaign) -> Option<(f64, f64)> {
    let confirmation = campaign.confirmation.as_ref()?;
    let (incumbent, candidate) = confirmation.evidence.sides()?;
    let ratios: Vec<f64> =
        incumbent.iter().zip(candidate).map(|(default, winner)| default / winner).collect();
    let ratio = tilewright_stats::samples::median(&ratios).ok()?;
    Some((ratio, confirmation.default.measurement.median_ns))
}
