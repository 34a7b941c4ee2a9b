//! Choosing among mutation operators by what they have earned: one file each, one line in [`bandits`].

mod thompson;
mod ucb;
mod uniform;

use std::fmt::Debug;

use rand::Rng;
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use crate::state::StateError;

pub use thompson::Thompson;
pub use ucb::DiscountedUcb;
pub use uniform::Uniform;

/// A multi-armed bandit over operators that are known by name.
pub trait Bandit: Debug + Send {
    /// Its name.
    fn id(&self) -> &'static str;

    /// One of the arms; 0 when there is none.
    fn select(&mut self, arms: &[&'static str], rng: &mut dyn Rng) -> usize;

    /// Learns what the operator that made a trial has earned. `gain` is the logarithm of the parent's time
    /// over the trial's, where both are known.
    fn reward(&mut self, judged: &Judged<Trial>, gain: Option<f64>);

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
    /// A new one that has seen nothing.
    pub create: fn() -> Box<dyn Bandit>,
    /// One with a saved state.
    pub restore: Restore,
}

/// All bandits.
pub fn bandits() -> &'static [BanditEntry] {
    &[thompson::ENTRY, ucb::ENTRY, uniform::ENTRY]
}

/// The bandit of that name.
pub fn bandit(id: &str) -> Option<BanditEntry> {
    bandits().iter().copied().find(|bandit| bandit.id == id)
}

#[cfg(test)]
mod tests;
