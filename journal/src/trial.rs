use serde::{Deserialize, Serialize};
use tilewright_stats::{Evidence, Judged, RereadError, Settings, Stored, Verdict};

use crate::outcome::read_outcome;
use crate::{Candidate, Outcome};

/// One candidate and what became of it; never changed once recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Number in the campaign, from 0, in order of proposal.
    pub index: u64,
    /// What was tried.
    pub candidate: Candidate,
    /// Digest of its program; `None` where lowering refused it.
    pub program_hash: Option<String>,
    /// What became of it.
    #[serde(deserialize_with = "read_outcome")]
    pub outcome: Outcome,
    /// Raw numbers that a gate judges.
    pub evidence: Evidence,
    /// Trial that was the incumbent side of `evidence`; `None` where there was none.
    pub incumbent: Option<u64>,
    /// Where it comes from.
    pub provenance: Provenance,
    /// Time from the campaign's start to the end of this trial, resumptions joined up, ns.
    pub at_ns: u64,
    /// Time that this trial took, from lowering to its last launch, ns.
    pub elapsed_ns: u64,
}

/// Who proposed a trial, and how much was spent on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Strategy that proposed it.
    pub strategy: String,
    /// Mutation operator (the bandit's arm) that made it; `None` for a random or given one.
    pub operator: Option<String>,
    /// Trial it was made from.
    pub parent: Option<u64>,
    /// How it was evaluated.
    pub fidelity: Fidelity,
    /// Number of the random stream that this trial drew from.
    pub stream: u64,
    /// Time that the simulator or the cost model predicted beforehand, ns.
    pub predicted_ns: Option<f64>,
}

/// How a candidate was evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// Predicted by the simulator; never served as measured.
    Simulated,
    /// Measured on a slice of the outer loops.
    Screened,
    /// Measured whole.
    Measured,
    /// Looked up in recorded measurements.
    Replayed,
}

/// What a gate said of a trial, with the settings to have it say so again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// What the gate was set to.
    pub settings: Settings,
    /// What it decided; names the gate.
    pub verdict: Verdict,
}

impl Judgement {
    /// The part of `judged` that a record keeps beside subject and evidence.
    pub fn of<T>(judged: &Judged<T>) -> Self {
        Self { settings: judged.settings().clone(), verdict: judged.verdict().clone() }
    }

    /// Runs the gate again on `evidence`; the verdict stored only names the gate.
    ///
    /// # Errors
    /// When this version has no such gate, or the gate refuses the settings.
    pub fn repeat<T>(&self, evidence: Evidence, subject: T) -> Result<Judged<T>, RereadError> {
        Judged::reread(Stored {
            subject,
            evidence,
            settings: self.settings.clone(),
            verdict: self.verdict.clone(),
        })
    }
}

impl Trial {
    /// Whether it counts as an evaluation: verified and timed.
    pub fn is_evaluation(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|measurement| {
            measurement.is_measured() || self.provenance.fidelity == Fidelity::Replayed
        })
    }

    /// Kind of the outcome as counted in reports: `ok`, `simulated`, or the kind of failure.
    pub fn outcome_kind(&self) -> &'static str {
        match (&self.outcome, self.provenance.fidelity) {
            (Err(error), _) => error.kind(),
            (Ok(_), Fidelity::Simulated) => "simulated",
            (Ok(_), _) => "ok",
        }
    }
}
