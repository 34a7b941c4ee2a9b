//! What a search asks of whoever evaluates its candidates.

use std::sync::Arc;

use tilewright_ir::Program;
use tilewright_journal::{
    Candidate, Ceilings, ClaimBasis, EvalError, Fidelity, KernelListing, Measurement, Outcome, Verification,
};
use tilewright_stats::{ConfirmedClaim, Evidence};

/// Evaluates candidates: on a device, by simulation, or from recorded measurements.
pub trait Runner {
    /// Evaluates a batch, each candidate beside the incumbent (each by itself where there is none yet).
    ///
    /// Evaluations come back in the order of the batch, one each; fewer only when the runner was told to
    /// stop, and then those of the first tasks.
    fn run(&mut self, incumbent: Option<&Task>, batch: &[Task]) -> BatchReport;

    /// How its evaluations come about.
    fn fidelity(&self) -> Fidelity;

    /// Compares the winner with the default pair by pair until a gain is certain, then once more in a fresh
    /// process on fresh data; `None` where evaluations are not measurements, so that there is nothing to confirm.
    ///
    /// # Errors
    /// When one of the two fails.
    fn confirm(&mut self, winner: &Task, default: &Task) -> Result<Option<ConfirmationReport>, EvalError> {
        let _ = (winner, default);
        Ok(None)
    }

    /// Compares finalists with the incumbent once more, with the effort that the end of a search is worth: the
    /// median of each one's time over the incumbent's, in order. A race is lenient, so among many near-equal
    /// candidates some of those that won one are slower than those that they replaced. `None` for what failed,
    /// and where evaluations are not measurements.
    fn rematch(&mut self, incumbent: &Task, finalists: &[Task]) -> Vec<Option<f64>> {
        let _ = incumbent;
        vec![None; finalists.len()]
    }

    /// Measures again what the device can do at most, to be called between batches since ceilings move with
    /// the machine's other load; `None` where there is nothing to measure.
    fn measure_ceilings(&mut self) -> Option<Ceilings> {
        None
    }
}

/// A candidate with what its evaluation needs.
#[derive(Debug, Clone)]
pub struct Task {
    /// What is evaluated.
    pub candidate: Candidate,
    /// Its legalised program; `None` for a candidate of a recorded space.
    pub program: Option<Arc<Program>>,
    /// Seed of all random draws of this evaluation: inputs, sampled elements, which side goes first.
    pub seed: u64,
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Its measurement, or how it failed.
    pub outcome: Outcome,
    /// Raw numbers that a gate judges: candidate beside incumbent, or a failure and whether it was reproduced.
    pub evidence: Evidence,
    /// Time that it took, from code generation to its last launch, ns.
    pub elapsed_ns: u64,
}

/// Evaluations of a batch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BatchReport {
    /// In the order of the tasks.
    pub evaluations: Vec<Evaluation>,
    /// Time since the last report (since the runner was made, for the first) that no evaluation accounts
    /// for, ns: what the search itself took, starting workers, measuring ceilings. With the evaluations'
    /// times it adds up to the time that has passed.
    pub overhead_ns: u64,
}

/// One side of a confirmation.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfirmedSide {
    /// Times on fresh data.
    pub measurement: Measurement,
    /// Program and machine code as text.
    pub listing: KernelListing,
}

/// The winner beside the default.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfirmationReport {
    /// The winner.
    pub winner: ConfirmedSide,
    /// The default.
    pub default: ConfirmedSide,
    /// Raw pairs of both halves of the claim: incumbent is the default, candidate the winner.
    pub evidence: Evidence,
    /// What judges them, fixed before the comparison began.
    pub gate: ConfirmedClaim,
    /// What the claim was made under.
    pub claim: ClaimBasis,
    /// How the winner's answer was checked on the fresh data.
    pub verification: Verification,
    /// Ceilings measured around the confirmation.
    pub ceilings: Ceilings,
    /// Time since the last report, ns.
    pub elapsed_ns: u64,
}
