//! EXP3.S: exponential weights that assume nothing about where rewards come from, not even that they have
//! means; every weight gets a share of the sum of all, so that an arm that was bad can come back.
//!
//! A reward counts by the inverse of the probability with which its arm was drawn, which makes the estimate
//! of each arm's reward unbiased whatever was drawn.
//!
//! Auer, Cesa-Bianchi, Freund & Schapire 2002, "The nonstochastic multiarmed bandit problem" (sections 3, 8).

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::{Bandit, BanditEntry, SearchContext};
use crate::credit::credit;
use crate::state::{self, StateError};

pub(super) const ENTRY: BanditEntry = BanditEntry {
    id: "exp3",
    forgets: true,
    create: || Box::<Exp3>::default(),
    restore: |bytes| Ok(Box::new(state::read::<Exp3>(bytes)?)),
};

/// Share of draws that ignores the weights, and the rate of learning (the paper's γ).
const MIXING: f64 = 0.15;
/// Share of the sum of weights that each arm gets at a reward, times the number of arms (the paper's e·α).
const SHARING: f64 = 0.005;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Exp3 {
    /// Weights by arm, the largest 1.
    weights: BTreeMap<String, f64>,
    /// Probability with which each arm was drawn when it last could be. Weights change only with rewards, so
    /// all draws of a round had the same.
    drawn: BTreeMap<String, f64>,
}

impl Bandit for Exp3 {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn select(&mut self, arms: &[&str], _context: &SearchContext, rng: &mut dyn Rng) -> usize {
        if arms.is_empty() {
            return 0;
        }
        let weight = |arm: &str| self.weights.get(arm).copied().unwrap_or(self.newcomer());
        let sum: f64 = arms.iter().map(|arm| weight(arm)).sum();
        let count = arms.len() as f64;
        let probabilities: Vec<f64> =
            arms.iter().map(|arm| (1.0 - MIXING) * weight(arm) / sum + MIXING / count).collect();
        for (arm, probability) in arms.iter().zip(&probabilities) {
            self.drawn.insert((*arm).to_owned(), *probability);
        }
        let mut left = rng.random::<f64>();
        for (at, probability) in probabilities.iter().enumerate() {
            left -= probability;
            if left < 0.0 {
                return at;
            }
        }
        arms.len() - 1
    }

    fn reward(&mut self, arm: &str, judged: &Judged<Trial>, gain: Option<f64>, _context: &SearchContext) {
        let arms = self.drawn.len().max(1) as f64;
        // An arm that was never drawn here (a trial of an earlier campaign) is taken as drawn uniformly.
        let probability = self.drawn.get(arm).copied().unwrap_or(1.0 / arms);
        let newcomer = self.newcomer();
        for known in self.drawn.keys() {
            if !self.weights.contains_key(known) {
                self.weights.insert(known.clone(), newcomer);
            }
        }
        let sum: f64 = self.weights.values().sum();
        let estimate = credit(judged, gain) / probability;
        *self.weights.entry(arm.to_owned()).or_insert(newcomer) *= (MIXING * estimate / arms).exp();
        for weight in self.weights.values_mut() {
            *weight += SHARING / arms * sum;
        }
        let most = self.weights.values().copied().fold(f64::MIN_POSITIVE, f64::max);
        for weight in self.weights.values_mut() {
            *weight /= most;
        }
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}

impl Exp3 {
    /// Weight of an arm that was never seen: the mean of the others, so that it is neither favoured nor lost.
    fn newcomer(&self) -> f64 {
        if self.weights.is_empty() {
            return 1.0;
        }
        self.weights.values().sum::<f64>() / self.weights.len() as f64
    }
}
