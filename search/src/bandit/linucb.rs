//! Discounted LinUCB: each arm's reward is a linear function of where the search stands, known by ridge
//! regression; the arm with the best estimate plus its uncertainty in this context is taken.
//!
//! So an operator may be right early and wrong late, or right for bad parents only, without being learned
//! anew each time.
//!
//! Li, Chu, Langford & Schapire 2010, "A contextual-bandit approach to personalized news article
//! recommendation" (algorithm 1); Russac, Vernade & Cappé 2019, "Weighted linear bandits for non-stationary
//! environments", for the discount.

use std::collections::BTreeMap;

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::tally::{Tally, highest};
use super::{Bandit, BanditEntry, SearchContext};
use crate::credit::credit;
use crate::linear::Cholesky;
use crate::state::{self, StateError};

pub(super) const ENTRY: BanditEntry = BanditEntry {
    id: "linucb",
    forgets: true,
    create: || Box::<LinUcb>::default(),
    restore: |bytes| Ok(Box::new(state::read::<LinUcb>(bytes)?)),
};

/// Weight of the uncertainty: the tenth of what the theory asks for, since rates of success are small.
const WEIGHT: f64 = 0.15;
/// Factor of what is known at each reward: about the last 200 rewards count.
const DISCOUNT: f64 = 0.995;
/// Ridge penalty: low enough that an arm that was forgotten looks better than one that succeeds in a third of its
/// trials.
const RIDGE: f64 = 0.1;

const SIZE: usize = SearchContext::FEATURES;

/// What is known of one arm: Σ x·xᵀ (rows one after another) and Σ reward·x over contexts x.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Known {
    products: Vec<f64>,
    rewards: Vec<f64>,
}

impl Default for Known {
    fn default() -> Self {
        Self { products: vec![0.0; SIZE * SIZE], rewards: vec![0.0; SIZE] }
    }
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LinUcb {
    known: BTreeMap<String, Known>,
    /// Only for the selections of a round.
    tally: Tally,
}

impl Known {
    /// Highest reward that is plausible in a context, with `open` selections in this same context unanswered.
    fn bound(&self, context: &[f64; SIZE], open: f64) -> f64 {
        let mut matrix = self.products.clone();
        for row in 0..SIZE {
            for column in 0..SIZE {
                matrix[row * SIZE + column] += open * context[row] * context[column];
            }
            matrix[row * SIZE + row] += RIDGE;
        }
        let Some(factor) = Cholesky::of(&matrix, SIZE) else { return f64::INFINITY };
        let weights = factor.solve(&self.rewards);
        let mean: f64 = weights.iter().zip(context).map(|(weight, value)| weight * value).sum();
        mean + WEIGHT * factor.quadratic(context).sqrt()
    }
}

impl Bandit for LinUcb {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn select(&mut self, arms: &[&str], context: &SearchContext, rng: &mut dyn Rng) -> usize {
        let context = context.features();
        let unknown = Known::default();
        let bounds: Vec<f64> = arms
            .iter()
            .map(|arm| self.known.get(*arm).unwrap_or(&unknown).bound(&context, self.tally.open(arm)))
            .collect();
        let choice = highest(&bounds, rng);
        self.tally.note_selection(arms, choice);
        choice
    }

    fn reward(&mut self, arm: &str, judged: &Judged<Trial>, gain: Option<f64>, context: &SearchContext) {
        for known in self.known.values_mut() {
            for value in known.products.iter_mut().chain(&mut known.rewards) {
                *value *= DISCOUNT;
            }
        }
        self.tally.answered();
        let context = context.features();
        let earned = credit(judged, gain);
        let known = self.known.entry(arm.to_owned()).or_default();
        for row in 0..SIZE {
            for column in 0..SIZE {
                known.products[row * SIZE + column] += context[row] * context[column];
            }
            known.rewards[row] += earned * context[row];
        }
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}
