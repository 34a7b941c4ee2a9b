//! Choosing among arms (mutation operators, genes, strategies) by what they have earned: one file each, one
//! line in [`bandits`].

mod area_under_curve;
mod context;
mod discounted_ucb;
mod exp3;
mod linucb;
mod tally;
mod thompson;
mod ucb;
mod uniform;

use std::fmt::Debug;

use rand::Rng;
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use crate::state::StateError;

pub use area_under_curve::AreaUnderCurve;
pub use context::SearchContext;
pub use discounted_ucb::DiscountedUcb;
pub use exp3::Exp3;
pub use linucb::LinUcb;
pub use thompson::Thompson;
pub use ucb::Ucb;
pub use uniform::Uniform;

/// A multi-armed bandit over arms that are known by name: arms may come and go between selections.
pub trait Bandit: Debug + Send {
    /// Its name.
    fn id(&self) -> &'static str;

    /// One of the arms; 0 when there is none. Most bandits ignore the context.
    fn select(&mut self, arms: &[&str], context: &SearchContext, rng: &mut dyn Rng) -> usize;

    /// Learns what the arm that made a trial has earned. `gain` is the logarithm of the parent's time over the
    /// trial's, where both are known; `context` is where the search stood when the arm was selected.
    fn reward(&mut self, arm: &str, judged: &Judged<Trial>, gain: Option<f64>, context: &SearchContext);

    /// Its state.
    ///
    /// # Errors
    /// When the state has no binary form.
    fn save(&self) -> Result<Vec<u8>, StateError>;
}

/// Makes one with a saved state.
pub(crate) type Restore = fn(&[u8]) -> Result<Box<dyn Bandit>, StateError>;

/// A bandit of the list.
#[derive(Debug, Clone, Copy)]
pub struct BanditEntry {
    /// Its name.
    pub id: &'static str,
    /// Whether old rewards lose weight, so that it follows when arms change.
    pub forgets: bool,
    /// A new one that has seen nothing.
    pub create: fn() -> Box<dyn Bandit>,
    /// One with a saved state.
    pub restore: Restore,
}

/// All bandits.
pub fn bandits() -> &'static [BanditEntry] {
    &[
        thompson::ENTRY,
        ucb::ENTRY,
        discounted_ucb::ENTRY,
        exp3::ENTRY,
        linucb::ENTRY,
        area_under_curve::ENTRY,
        uniform::ENTRY,
    ]
}

/// The bandit of that name.
pub fn bandit(id: &str) -> Option<BanditEntry> {
    bandits().iter().copied().find(|bandit| bandit.id == id)
}

#[cfg(test)]
mod tests;
