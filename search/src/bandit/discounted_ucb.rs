//! Discounted upper confidence bound: as UCB, but each reward makes the older ones count a little less, since
//! what helps early in a search is not what helps late.
//!
//! Garivier & Moulines 2011, "On upper-confidence bound policies for switching bandit problems" (D-UCB).

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::tally::Tally;
use super::{Bandit, BanditEntry, SearchContext};
use crate::credit::credit;
use crate::state::{self, StateError};

pub(super) const ENTRY: BanditEntry = BanditEntry {
    id: "discounted-ucb",
    forgets: true,
    create: || Box::<DiscountedUcb>::default(),
    restore: |bytes| Ok(Box::new(state::read::<DiscountedUcb>(bytes)?)),
};

/// Factor of all counts at each reward: about the last 200 rewards count.
const DISCOUNT: f64 = 0.995;
/// Weight of the confidence term: small, since rates of success are.
const WEIGHT: f64 = 0.2;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiscountedUcb {
    tally: Tally,
}

impl Bandit for DiscountedUcb {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn select(&mut self, arms: &[&str], _context: &SearchContext, rng: &mut dyn Rng) -> usize {
        self.tally.select(arms, WEIGHT, rng)
    }

    fn reward(&mut self, arm: &str, judged: &Judged<Trial>, gain: Option<f64>, _context: &SearchContext) {
        self.tally.reward(arm, credit(judged, gain), DISCOUNT);
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}
