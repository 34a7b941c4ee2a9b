//! Learned cost models: from what was judged, how fast other candidates will be, how sure that is, and whether
//! they will fail. One file each, one line in [`cost_models`].

mod boosted_trees;
mod features;
mod history;
mod logistic;
mod ranking;
mod ridge;
mod standard;
mod table;
mod trees;

use std::fmt::Debug;

use tilewright_journal::Trial;
use tilewright_stats::Judged;

use crate::state::StateError;

pub use boosted_trees::BoostedTrees;
pub use features::{ProgramFeatures, SpaceFeatures};
pub use ridge::Ridge;
pub use table::Table;

/// What a model expects of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Logarithm of its time, on the scale of the scores last learned from; lower is faster.
    pub score: f64,
    /// Standard deviation of `score`: what the model does not know of this candidate.
    pub uncertainty: f64,
    /// Probability that it fails, from 0 to 1.
    pub failure: f64,
}

/// A judged trial with its place among the others.
#[derive(Debug, Clone, Copy)]
pub struct Scored<'a> {
    /// The trial.
    pub judged: &'a Judged<Trial>,
    /// Its score by the campaign's [`Scoreboard`](crate::Scoreboard); `None` for one that failed.
    pub score: Option<f64>,
}

/// Learns from judged trials what makes a candidate fast.
///
/// Trials of several subjects may be learned from: only those of one subject are compared with one another.
/// Features are matched by name; one that was never seen is left aside, one that is missing is unknown.
pub trait CostModel: Debug + Send {
    /// Its name.
    fn id(&self) -> &'static str;

    /// Predictions for all rows; `None` while too little is known.
    fn predict(&self, features: &Table) -> Option<Vec<Prediction>>;

    /// Learns from judged trials, with one row of features for each.
    ///
    /// # Panics
    /// When there is not one row for each trial.
    fn update(&mut self, features: &Table, judged: &[Scored<'_>]);

    /// Its state.
    ///
    /// # Errors
    /// When the state has no binary form.
    fn save(&self) -> Result<Vec<u8>, StateError>;
}

/// Makes one with a saved state.
pub(crate) type Restore = fn(&[u8]) -> Result<Box<dyn CostModel>, StateError>;

/// A cost model of the list.
#[derive(Debug, Clone, Copy)]
pub struct CostModelEntry {
    /// Its name.
    pub id: &'static str,
    /// A new one that has seen nothing, with the seed of its random draws.
    pub create: fn(u64) -> Box<dyn CostModel>,
    /// One with a saved state.
    pub restore: Restore,
}

/// All cost models, the usual one first.
pub fn cost_models() -> &'static [CostModelEntry] {
    &[boosted_trees::ENTRY, ridge::ENTRY]
}

/// The cost model of that name.
pub fn cost_model(id: &str) -> Option<CostModelEntry> {
    cost_models().iter().copied().find(|model| model.id == id)
}

#[cfg(test)]
mod tests;
