//! Which proposals are worth evaluating.

mod model;
mod skill;

use tilewright_ir::Program;
use tilewright_journal::{Candidate, Trial};
use tilewright_stats::Judged;

pub use model::{ModelRanker, ModelRankerParts};
pub use skill::Skill;

/// A candidate to be ranked.
#[derive(Debug, Clone, Copy)]
pub struct Ranked<'a> {
    /// What it is.
    pub candidate: &'a Candidate,
    /// Its legalised program; `None` for a recorded space.
    pub program: Option<&'a Program>,
}

/// Predicts which candidates are worth evaluating: a simulator, a learned cost model.
pub trait Ranker {
    /// Predicted time of a launch of each candidate, ns; `None` where it cannot tell. The number of trials
    /// judged so far is the same for all candidates of a call.
    fn rank(&mut self, candidates: &[Ranked<'_>]) -> Vec<Option<f64>>;

    /// Learns from what was judged; nothing else may be learned from.
    fn learn(&mut self, judged: &[Judged<Trial>]) {
        let _ = judged;
    }

    /// Whether predictions differ at all; if not, no more is proposed than will be evaluated.
    fn discriminates(&self) -> bool {
        true
    }
}

/// Keeps the strategy's order.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProposalOrder;

impl Ranker for ProposalOrder {
    fn rank(&mut self, candidates: &[Ranked<'_>]) -> Vec<Option<f64>> {
        vec![None; candidates.len()]
    }

    fn discriminates(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
