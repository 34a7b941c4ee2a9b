//! Discounted Thompson sampling: draws each operator's rate of success from what is believed of it, and takes
//! the highest draw.
//!
//! Beliefs are Beta distributions; each reward discounts all counts first, since what helps early in a search
//! is not what helps late. An operator that was never tried has the prior's rate.
//!
//! Raj & Kalyani 2017, "Taming non-stationary bandits: a Bayesian approach".

use std::collections::BTreeMap;

use rand::Rng;
use rand_distr::{Beta, Distribution};
use serde::{Deserialize, Serialize};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::{Bandit, BanditEntry, SearchContext};
use crate::credit::credit;
use crate::state::{self, StateError};

pub(super) const ENTRY: BanditEntry = BanditEntry {
    id: "thompson",
    forgets: true,
    create: || Box::<Thompson>::default(),
    restore: |bytes| Ok(Box::new(state::read::<Thompson>(bytes)?)),
};

/// Factor of all counts at each reward: about the last 200 rewards count.
const DISCOUNT: f64 = 0.995;
/// Prior of an operator: successes and failures.
const PRIOR: (f64, f64) = (0.5, 1.0);
/// Lowest share of draws that ignores what was learned, so that no operator dies out.
const EXPLORATION: f64 = 0.05;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Thompson {
    /// Discounted successes and failures by operator.
    counts: BTreeMap<String, (f64, f64)>,
}

impl Bandit for Thompson {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn select(&mut self, arms: &[&str], _context: &SearchContext, rng: &mut dyn Rng) -> usize {
        use rand::RngExt;

        if arms.is_empty() {
            return 0;
        }
        if rng.random::<f64>() < EXPLORATION {
            return rng.random_range(0..arms.len());
        }
        let mut best = (0, f64::NEG_INFINITY);
        for (at, arm) in arms.iter().enumerate() {
            let (successes, failures) = self.counts.get(*arm).copied().unwrap_or_default();
            let belief = Beta::new(PRIOR.0 + successes, PRIOR.1 + failures)
                .expect("invariant: counts are finite and not negative");
            let draw = belief.sample(rng);
            if draw > best.1 {
                best = (at, draw);
            }
        }
        best.0
    }

    fn reward(&mut self, arm: &str, judged: &Judged<Trial>, gain: Option<f64>, _context: &SearchContext) {
        for (successes, failures) in self.counts.values_mut() {
            *successes *= DISCOUNT;
            *failures *= DISCOUNT;
        }
        let earned = credit(judged, gain);
        let (successes, failures) = self.counts.entry(arm.to_owned()).or_default();
        *successes += earned;
        *failures += 1.0 - earned;
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}
