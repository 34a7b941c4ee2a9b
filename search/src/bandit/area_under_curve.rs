//! Area-under-curve credit: within a sliding window, an arm is worth the area under the curve that goes up at
//! each of its successes and to the right at each of its other trials, so late successes count more; plus
//! a term for arms that were used seldom.
//!
//! Fialho, Schoenauer & Sebag 2010, "Toward comparison-based adaptive operator selection"; the use in a tuner
//! follows Ansel et al. 2014, "OpenTuner: an extensible framework for program autotuning" (section 3.3).

use std::collections::{BTreeMap, VecDeque};

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::tally::{Tally, highest};
use super::{Bandit, BanditEntry, SearchContext};
use crate::credit::credit;
use crate::state::{self, StateError};

pub(super) const ENTRY: BanditEntry = BanditEntry {
    id: "area-under-curve",
    forgets: true,
    create: || Box::<AreaUnderCurve>::default(),
    restore: |bytes| Ok(Box::new(state::read::<AreaUnderCurve>(bytes)?)),
};

/// Rewards that count (OpenTuner's window).
const WINDOW: usize = 500;
/// Weight of the term for arms that were used seldom (OpenTuner's C).
const WEIGHT: f64 = 0.05;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AreaUnderCurve {
    /// The last rewards, oldest first.
    window: VecDeque<(String, f64)>,
    /// Only for the selections of a round.
    tally: Tally,
}

/// What the window says of one arm.
#[derive(Debug, Clone, Copy, Default)]
struct Curve {
    uses: f64,
    /// Σ of place · reward: each success lifts the curve, and the later it does the more.
    area: f64,
}

impl Curve {
    /// The area as a share of the largest possible one, n·(n+1)/2.
    fn share(self) -> f64 {
        if self.uses > 0.0 { 2.0 * self.area / (self.uses * (self.uses + 1.0)) } else { 0.0 }
    }
}

impl Bandit for AreaUnderCurve {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn select(&mut self, arms: &[&str], _context: &SearchContext, rng: &mut dyn Rng) -> usize {
        let mut curves: BTreeMap<&str, Curve> = BTreeMap::new();
        for (arm, earned) in &self.window {
            let curve = curves.entry(arm).or_default();
            curve.uses += 1.0;
            curve.area += curve.uses * earned;
        }
        let seen = self.window.len() as f64;
        let bounds: Vec<f64> = arms
            .iter()
            .map(|arm| {
                let curve = curves.get(arm).copied().unwrap_or_default();
                let uses = curve.uses + self.tally.open(arm);
                if uses < 1.0 {
                    return f64::INFINITY;
                }
                curve.share() + WEIGHT * (2.0 * seen.max(1.0).log2() / uses).sqrt()
            })
            .collect();
        let choice = highest(&bounds, rng);
        self.tally.note_selection(arms, choice);
        choice
    }

    fn reward(&mut self, arm: &str, judged: &Judged<Trial>, gain: Option<f64>, _context: &SearchContext) {
        self.tally.answered();
        self.window.push_back((arm.to_owned(), credit(judged, gain)));
        while self.window.len() > WINDOW {
            self.window.pop_front();
        }
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}
