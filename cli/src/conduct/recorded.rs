//! Campaigns that are answered from a recording: nothing is run and no clock is read.

use std::path::PathBuf;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_journal::{CampaignRequest, CampaignStarted, Fidelity, Work};
use tilewright_search::score::{RecordedRunner, ScoredSpace};
use tilewright_search::{ByValues, ProposalOrder};

use super::{Plan, started};

/// The plan of a campaign on this space, and its runner.
pub(crate) fn recorded(
    folder: PathBuf,
    request: CampaignRequest,
    space: &ScoredSpace,
) -> (Plan, RecordedRunner<'_>) {
    let runner = RecordedRunner::new(space);
    let default = runner.first(&mut ChaCha8Rng::seed_from_u64(request.seed));
    // A recording does not say what its kernel computes.
    let work = Work { operations: 0.0, compulsory_bytes: 0 };
    let mut started = CampaignStarted {
        space_points: Some(space.recorded().configurations().len() as f64),
        best_known_ns: Some(space.window().optimum * 1e6),
        ..started(request, (**space.subject()).clone(), work)
    };
    space.recorded().device().clone_into(&mut started.host.processor);
    let plan = Plan {
        folder,
        started,
        space: space.space().clone(),
        default,
        ranker: Box::new(ProposalOrder),
        prepare: Box::new(ByValues),
        fidelity: Fidelity::Replayed,
        proposer: None,
        advice: Vec::new(),
    };
    (plan, runner)
}
