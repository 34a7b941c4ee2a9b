//! What bandits with an upper confidence bound keep of each arm.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Rewards and trials by arm, and the selections that are not judged yet.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Rewards and number of rewards, by arm.
    counts: BTreeMap<String, (f64, f64)>,
    /// Selections since the last reward: several are made before their trials are judged.
    open: BTreeMap<String, f64>,
}

impl Tally {
    /// The arm with the highest mean reward plus `weight · √(ln n / nₐ)`; those never tried first. A selection
    /// whose trial is not judged yet counts as tried, without a reward. 0 when there is no arm.
    pub(super) fn select(&mut self, arms: &[&str], weight: f64, rng: &mut dyn Rng) -> usize {
        let tried = |arm: &str| {
            let (reward, count) = self.counts.get(arm).copied().unwrap_or_default();
            (reward, count, count + self.open.get(arm).copied().unwrap_or_default())
        };
        let total: f64 = arms.iter().map(|arm| tried(arm).2).sum();
        let bounds = arms.iter().map(|arm| {
            let (reward, count, all) = tried(arm);
            if all < 1.0 {
                return f64::INFINITY;
            }
            reward / count.max(1.0) + weight * (total.max(1.0).ln() / all).sqrt()
        });
        let choice = highest(&bounds.collect::<Vec<_>>(), rng);
        self.note_selection(arms, choice);
        choice
    }

    /// Counts a selection as not judged yet.
    pub(super) fn note_selection(&mut self, arms: &[&str], choice: usize) {
        if let Some(arm) = arms.get(choice) {
            *self.open.entry((*arm).to_owned()).or_default() += 1.0;
        }
    }

    /// Selections of an arm that are not judged yet.
    pub(super) fn open(&self, arm: &str) -> f64 {
        self.open.get(arm).copied().unwrap_or_default()
    }

    /// Counts a reward, after multiplying all counts by `discount`. All open selections count as answered:
    /// those of one round are judged together, and a ranker may have left some of them out.
    pub(super) fn reward(&mut self, arm: &str, earned: f64, discount: f64) {
        for (reward, count) in self.counts.values_mut() {
            *reward *= discount;
            *count *= discount;
        }
        self.answered();
        let (reward, count) = self.counts.entry(arm.to_owned()).or_default();
        *reward += earned;
        *count += 1.0;
    }

    /// Forgets the open selections.
    pub(super) fn answered(&mut self) {
        self.open.clear();
    }
}

/// Place of the highest value, one of several at random; 0 when there is none.
pub(super) fn highest(values: &[f64], rng: &mut dyn Rng) -> usize {
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ties: Vec<usize> =
        values.iter().enumerate().filter(|(_, value)| **value >= best).map(|(at, _)| at).collect();
    if ties.is_empty() { 0 } else { ties[rng.random_range(0..ties.len())] }
}
