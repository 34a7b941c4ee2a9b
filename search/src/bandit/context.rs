use serde::{Deserialize, Serialize};

/// Where a search stands when an arm is chosen; all shares from 0 to 1. The default is its beginning.
///
/// Only what any search on any space can tell: a bandit that has learned on one space is of use on another.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SearchContext {
    /// Trials judged so far.
    pub trials: u64,
    /// Share of the budget that is spent; `None` where the budget is not known.
    pub spent: Option<f64>,
    /// Trials since the best improved, as a share of those after which the search begins anew.
    pub stagnation: f64,
    /// How different the population's members are: the mean share of genes in which two of them differ.
    pub diversity: f64,
    /// Place of the parent in the population, 0 for the fastest.
    pub parent_rank: f64,
    /// Share of trials that failed.
    pub failures: f64,
}

/// Trials after which a search without a known budget counts as half done.
const HALF_DONE: f64 = 100.0;

impl SearchContext {
    /// Number of features.
    pub(crate) const FEATURES: usize = 6;

    /// The features of a linear model, the constant 1 first. What is not a number counts as 0.
    pub(crate) fn features(&self) -> [f64; Self::FEATURES] {
        let share = |value: f64| if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
        let trials = self.trials as f64;
        let spent = self.spent.unwrap_or(trials / (trials + HALF_DONE));
        [
            1.0,
            share(spent),
            share(self.stagnation),
            share(self.diversity),
            share(self.parent_rank),
            share(self.failures),
        ]
    }
}
