//! Upper confidence bound: the arm with the best mean reward plus what it could still be better than it
//! looked. All rewards count alike, however old: for what does not change.
//!
//! Auer, Cesa-Bianchi & Fischer 2002, "Finite-time analysis of the multiarmed bandit problem" (UCB1).

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::tally::Tally;
use super::{Bandit, BanditEntry, SearchContext};
use crate::credit::credit;
use crate::state::{self, StateError};

pub(super) const ENTRY: BanditEntry = BanditEntry {
    id: "ucb",
    forgets: false,
    create: || Box::<Ucb>::default(),
    restore: |bytes| Ok(Box::new(state::read::<Ucb>(bytes)?)),
};

/// Weight of the confidence term: the paper's √2 is for rewards up to 1, and rates of success are far below.
const WEIGHT: f64 = 0.2;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ucb {
    tally: Tally,
}

impl Bandit for Ucb {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn select(&mut self, arms: &[&str], _context: &SearchContext, rng: &mut dyn Rng) -> usize {
        self.tally.select(arms, WEIGHT, rng)
    }

    fn reward(&mut self, arm: &str, judged: &Judged<Trial>, gain: Option<f64>, _context: &SearchContext) {
        self.tally.reward(arm, credit(judged, gain), 1.0);
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}
