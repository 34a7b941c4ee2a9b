//! Discounted upper confidence bound: the operator with the best rate of success plus what it could still be
//! better than it looked.
//!
//! Garivier & Moulines 2011, "On upper-confidence bound policies for switching bandit problems" (D-UCB).

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::{Bandit, BanditEntry};
use crate::credit::credit;
use crate::state::{self, StateError};

pub(super) const ENTRY: BanditEntry = BanditEntry {
    id: "ucb",
    create: || Box::<DiscountedUcb>::default(),
    restore: |bytes| Ok(Box::new(state::read::<DiscountedUcb>(bytes)?)),
};

/// Factor of all counts at each reward.
const DISCOUNT: f64 = 0.995;
/// Weight of the confidence term: small, since rates of success are.
const WEIGHT: f64 = 0.2;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiscountedUcb {
    /// Discounted rewards and number of rewards, by operator.
    counts: BTreeMap<String, (f64, f64)>,
    /// Selections since the last reward: several are made before their trials are judged.
    selected: BTreeMap<String, f64>,
}

impl Bandit for DiscountedUcb {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn select(&mut self, arms: &[&'static str], rng: &mut dyn Rng) -> usize {
        if arms.is_empty() {
            return 0;
        }
        let tried = |arm: &str| {
            let (reward, count) = self.counts.get(arm).copied().unwrap_or_default();
            (reward, count, self.selected.get(arm).copied().unwrap_or_default())
        };
        let total: f64 = arms.iter().map(|arm| tried(arm).1 + tried(arm).2).sum();
        let bound = |arm: &str| {
            let (reward, count, open) = tried(arm);
            if count + open < 1.0 {
                return f64::INFINITY;
            }
            // A selection whose trial is not judged yet counts as tried, without a reward.
            reward / count.max(1.0) + WEIGHT * (total.max(1.0).ln() / (count + open)).sqrt()
        };
        let best = arms.iter().map(|arm| bound(arm)).fold(f64::NEG_INFINITY, f64::max);
        let ties: Vec<usize> =
            arms.iter().enumerate().filter(|(_, arm)| bound(arm) >= best).map(|(at, _)| at).collect();
        let choice = ties[rng.random_range(0..ties.len())];
        *self.selected.entry(arms[choice].to_owned()).or_default() += 1.0;
        choice
    }

    fn reward(&mut self, judged: &Judged<Trial>, gain: Option<f64>) {
        let Some(operator) = &judged.subject().provenance.operator else { return };
        for (reward, count) in self.counts.values_mut() {
            *reward *= DISCOUNT;
            *count *= DISCOUNT;
        }
        self.selected.clear();
        let (reward, count) = self.counts.entry(operator.clone()).or_default();
        *reward += credit(judged, gain);
        *count += 1.0;
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}
