use serde::{Deserialize, Serialize};
use tilewright_journal::Plateau;

/// What a campaign may spend; whichever limit is reached first ends the search. The confirmation of the
/// winner comes on top.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Time, ns, as trials and runner report it; `None` for no limit.
    pub time_ns: Option<u64>,
    /// Candidates handed to the runner, the default included; `None` for no limit.
    pub trials: Option<u64>,
    /// When to end for want of progress; `None` for never.
    pub plateau: Option<Plateau>,
}

/// How a campaign goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CampaignSettings {
    /// Seed of every random draw.
    pub seed: u64,
    /// What may be spent.
    pub budget: Budget,
    /// Most candidates of one batch. A batch never depends on the number of workers.
    pub largest_batch: usize,
    /// Time that a batch should take, ns: fewer candidates where each takes long.
    pub batch_ns: u64,
    /// Most proposals for each candidate that is evaluated, when a ranker can tell them apart.
    pub proposals_per_trial: u64,
    /// Time of an evaluation that pays for one more proposal, ns: short evaluations are not worth ranking.
    pub ns_per_proposal: u64,
    /// One candidate in so many is drawn at random among those that the ranker put behind; 0 for none.
    pub random_every: usize,
    /// Time between measurements of the device's ceilings, ns.
    pub ceiling_every_ns: u64,
    /// Rounds of proposals without a new candidate before the space counts as exhausted.
    pub idle_rounds: u32,
}

impl Default for CampaignSettings {
    fn default() -> Self {
        Self {
            seed: 0,
            budget: Budget::default(),
            largest_batch: 16,
            batch_ns: 250_000_000,
            proposals_per_trial: 48,
            ns_per_proposal: 400_000,
            random_every: 5,
            ceiling_every_ns: 5_000_000_000,
            idle_rounds: 16,
        }
    }
}
