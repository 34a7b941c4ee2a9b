//! Random search: legal genomes by the space's own distribution, never the same one twice. The yardstick that
//! every other strategy has to beat.
//!
//! Bergstra & Bengio 2012, "Random search for hyper-parameter optimization".

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::Proposal;
use super::memory::Observation;
use super::searcher::{Context, Method};

/// Draws without a new genome before random search gives up.
pub(super) const MOST_REPEATS: u32 = 200;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RandomSearch;

impl Method for RandomSearch {
    const ID: &'static str = "random";
    const SUMMARY: &'static str = "random legal genomes; the yardstick";

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        Some(Proposal::random(context.space.sample(rng)))
    }

    fn learn(&mut self, _context: Context<'_>, _observation: &Observation) {}
}
