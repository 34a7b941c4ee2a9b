//! A known landscape to search in tests: times from a formula, noise from each trial's own seed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::AtomicBool;
use tilewright_evaluator::{BatchReport, ConfirmationReport, ConfirmedSide, Evaluation, Runner, Task};
use tilewright_genome::{Constraint, Gene, SearchSpace};
use tilewright_ir::{Schedule, ScheduleValue};
use tilewright_journal::{
    Candidate, Ceilings, ClaimBasis, Conditions, EvalError, Event, Fidelity, KernelListing, Measurement,
    Provenance, RecordedSpace, Subject, Trial, Verification,
};
use tilewright_stats::samples::median;
use tilewright_stats::{ConfirmedClaim, Evidence, Exact, Judged, PairedTimes};

use crate::campaign::{Budget, Campaign, CampaignParts, CampaignSettings, SinkError};
use crate::{ByValues, ProposalOrder, Strategy};

pub(crate) trait TimeOf {
    /// True time of a launch, ns.
    fn time_of(&self, schedule: &Schedule) -> f64;
}

/// A valley that bends: the best size of one gene depends on another, and one choice is much better than
/// the rest, but only with small blocks.
pub(crate) struct Landscape;

impl TimeOf for Landscape {
    fn time_of(&self, schedule: &Schedule) -> f64 {
        let number = |name: &str| schedule.number(name).unwrap_or(1) as f64;
        let (rows, columns, steps) = (number("rows"), number("columns"), number("steps"));
        let off = |value: f64, best: f64| (value / best).log2().abs();
        let mut time = 10_000.0;
        time *= 1.0 + 0.25 * off(rows * columns, 192.0) + 0.1 * off(rows, 12.0);
        time *= 1.0 + 0.15 * off(steps * columns, 4096.0);
        time *= match schedule.name("pack") {
            Some("tile") if rows < 32.0 => 0.7,
            Some("whole") => 0.95,
            _ => 1.0,
        };
        time *= 1.0 + 0.05 * off(number("unroll"), 4.0);
        time * if schedule.name("order") == Some("mkn") { 0.9 } else { 1.0 }
    }
}

pub(crate) fn space() -> SearchSpace {
    let most = Constraint::new(
        "rows * columns <= 1024",
        &["rows", "columns"],
        |values| matches!(values, [ScheduleValue::Number(rows), ScheduleValue::Number(columns)] if rows * columns <= 1024),
    );
    let genes = vec![
        Gene::ordered("rows", "tile", (1..=64).collect()).logarithmic(0.0),
        Gene::ordered("columns", "tile", (1..=64).collect()).logarithmic(0.0),
        Gene::ordered("steps", "steps", (1..=1024).collect()).logarithmic(0.1),
        Gene::categorical("pack", "pack", &["none", "tile", "whole"]),
        Gene::categorical("order", "order", &["mnk", "mkn", "nmk", "nkm", "kmn", "knm"]),
        Gene::ordered("unroll", "unroll", vec![1, 2, 4, 8, 16]),
    ];
    SearchSpace::plain(genes, vec![most]).unwrap().with_default(&default_schedule())
}

pub(crate) fn tiny_space() -> SearchSpace {
    let genes = vec![
        Gene::ordered("rows", "tile", vec![1, 2, 3, 4]),
        Gene::categorical("pack", "pack", &["none", "tile", "whole"]),
    ];
    SearchSpace::plain(genes, Vec::new()).unwrap()
}

pub(crate) fn default_schedule() -> Schedule {
    Schedule::default()
        .with_number("rows", 4)
        .with_number("columns", 8)
        .with_number("steps", 64)
        .with_number("unroll", 1)
        .with_name("pack", "none")
        .with_name("order", "mnk")
}

pub(crate) fn parts(strategy: Box<dyn Strategy>) -> CampaignParts {
    CampaignParts {
        subject: Subject::Recorded(RecordedSpace {
            space: "valley".to_owned(),
            device: "formula".to_owned(),
            digest: String::new(),
            parameters: space().genes().iter().map(|gene| gene.name.clone()).collect(),
        }),
        space: space(),
        default: default_schedule(),
        strategy,
        ranker: Box::new(ProposalOrder),
        prepare: Box::new(ByValues),
        fidelity: Fidelity::Replayed,
    }
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent ways to behave")]
pub(crate) struct SyntheticRunner {
    /// A schedule that crashes.
    pub(crate) fails: Option<Schedule>,
    /// Evaluations before it counts as told to stop.
    pub(crate) stop_after: Option<usize>,
    pub(crate) done: usize,
    /// Whether it can confirm, and candidates whose confirmation fails.
    pub(crate) confirms: bool,
    pub(crate) unconfirmed: Vec<Schedule>,
    /// Reported for each batch.
    pub(crate) overhead_ns: u64,
    /// Whether it calls its evaluations measured.
    pub(crate) measures: bool,
    /// Whether the confirmation finds the default faster than itself, or the machine disturbed.
    pub(crate) beats_itself: bool,
    pub(crate) disturbed: bool,
    /// Whether every candidate is reported as much faster than the incumbent, whatever it is.
    pub(crate) favours: bool,
}

impl Runner for SyntheticRunner {
    fn run(&mut self, incumbent: Option<&Task>, batch: &[Task]) -> BatchReport {
        let mut report = BatchReport { evaluations: Vec::new(), overhead_ns: self.overhead_ns };
        for task in batch {
            if self.stop_after.is_some_and(|most| self.done >= most) {
                break;
            }
            self.done += 1;
            report.evaluations.push(self.evaluate(incumbent.unwrap_or(task), task));
        }
        report
    }

    fn fidelity(&self) -> Fidelity {
        if self.measures { Fidelity::Measured } else { Fidelity::Replayed }
    }

    fn confirm(&mut self, winner: &Task, default: &Task) -> Result<Option<ConfirmationReport>, EvalError> {
        if !self.confirms {
            return Ok(None);
        }
        if self.unconfirmed.contains(&winner.candidate.schedule) {
            return Err(EvalError::Crashed { signal: 11 });
        }
        let side = |task: &Task| ConfirmedSide {
            measurement: Measurement::predicted(Landscape.time_of(&task.candidate.schedule)),
            listing: KernelListing {
                isa: String::new(),
                program: task.candidate.schedule.to_string(),
                program_hash: String::new(),
                disassembly: String::new(),
            },
        };
        let times = |task: &Task| -> Vec<f64> {
            (0..20).map(|at| Landscape.time_of(&task.candidate.schedule) + f64::from(at)).collect()
        };
        let pairs =
            |first: &Task, second: &Task| PairedTimes { incumbent: times(first), candidate: times(second) };
        Ok(Some(ConfirmationReport {
            winner: side(winner),
            default: side(default),
            evidence: Evidence::Claim {
                sequential: pairs(default, winner),
                confirmation: pairs(default, winner),
            },
            gate: ConfirmedClaim::DEFAULT,
            claim: ClaimBasis {
                self_comparison: if self.beats_itself {
                    PairedTimes { incumbent: vec![3.0; 60], candidate: vec![2.0; 60] }
                } else {
                    pairs(default, default)
                },
                spread: 0.0,
                margin: 0.01,
                threshold: 1e4,
                e_value: 1.0,
                pairs: 20,
                launches: [1, 1],
                sequential: Conditions::default(),
                confirmation: Conditions { tainted: self.disturbed, ..Conditions::default() },
            },
            verification: Verification {
                method: "full".to_owned(),
                inputs: Vec::new(),
                elements: 0,
                max_error: 0.0,
                tolerance: 0.0,
                miss_probability: 0.0,
                drift: None,
            },
            ceilings: Ceilings { threads: 1, gflops: 1.0, bandwidths: Vec::new(), noise_floor: None },
            elapsed_ns: 7,
        }))
    }
}

impl SyntheticRunner {
    fn evaluate(&self, incumbent: &Task, task: &Task) -> Evaluation {
        let mut rng = ChaCha8Rng::seed_from_u64(task.seed);
        if self.fails.as_ref() == Some(&task.candidate.schedule) {
            let error = EvalError::Crashed { signal: 11 };
            let evidence = Evidence::Failure { kind: error.kind().to_owned(), reproduced: true };
            return Evaluation { outcome: Err(error), evidence, elapsed_ns: 50_000 };
        }
        let mut side = |schedule: &Schedule, factor: f64| -> Vec<f64> {
            let time = factor * Landscape.time_of(schedule);
            (0..7).map(|_| time * (1.0 + 0.01 * (rng.random::<f64>() - 0.5))).collect()
        };
        let evidence = Evidence::Pairs {
            incumbent: side(&incumbent.candidate.schedule, 1.0),
            candidate: side(&task.candidate.schedule, if self.favours { 0.8 } else { 1.0 }),
        };
        let Evidence::Pairs { candidate, .. } = &evidence else { unreachable!("made above") };
        let measurement = Measurement { launches: 7, ..Measurement::predicted(median(candidate).unwrap()) };
        let elapsed_ns = 14 * measurement.median_ns as u64;
        Evaluation { outcome: Ok(measurement), evidence, elapsed_ns }
    }
}

/// Judged trials of a random campaign.
pub(crate) fn judged_trials(count: u64) -> Vec<Judged<Trial>> {
    let budget = Budget { trials: Some(count), time_ns: None, plateau: None };
    let settings = CampaignSettings { budget, ..CampaignSettings::default() };
    let mut judged = Vec::new();
    let mut sink = |event: &Event| -> Result<(), SinkError> {
        if let Event::TrialFinished(finished) = event
            && let Some(judgement) = &finished.judgement
        {
            judged.push(judgement.repeat(finished.trial.evidence.clone(), finished.trial.clone())?);
        }
        Ok(())
    };
    Campaign::new(settings, parts((crate::strategy("random").unwrap().create)()))
        .run(&mut SyntheticRunner::default(), &mut sink, &AtomicBool::new(false))
        .unwrap();
    judged
}

/// A judged trial of any point of any space; `None`: it failed.
pub(crate) fn judged(schedule: Schedule, index: u64, time_ns: Option<f64>) -> Judged<Trial> {
    let (outcome, evidence) = if let Some(time) = time_ns {
        (Ok(Measurement::predicted(time)), Evidence::Exact { incumbent: 10_000.0, candidate: time })
    } else {
        let error = EvalError::OutOfMemory;
        let evidence = Evidence::Failure { kind: error.kind().to_owned(), reproduced: true };
        (Err(error), evidence)
    };
    let subject = parts((crate::strategy("random").unwrap().create)()).subject;
    let trial = Trial {
        index,
        candidate: Candidate { subject: subject.into(), schedule },
        program_hash: None,
        outcome,
        evidence: evidence.clone(),
        incumbent: None,
        provenance: Provenance {
            strategy: "test".to_owned(),
            operator: None,
            parent: None,
            fidelity: Fidelity::Simulated,
            stream: index,
            predicted_ns: None,
        },
        at_ns: 0,
        elapsed_ns: 0,
    };
    Judged::by(&Exact, evidence, trial)
}
