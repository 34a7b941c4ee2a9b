//! All operators alike: the bandit switched off, as a yardstick for the others.

use rand::{Rng, RngExt};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::{Bandit, BanditEntry, SearchContext};
use crate::state::StateError;

pub(super) const ENTRY: BanditEntry = BanditEntry {
    id: "uniform",
    forgets: false,
    create: || Box::new(Uniform),
    restore: |bytes| {
        if bytes.is_empty() {
            Ok(Box::new(Uniform))
        } else {
            Err(StateError::Unreadable(format!("{} bytes left over", bytes.len())))
        }
    },
};

/// Draws every arm with the same probability and learns nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uniform;

impl Bandit for Uniform {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn select(&mut self, arms: &[&str], _context: &SearchContext, rng: &mut dyn Rng) -> usize {
        if arms.is_empty() { 0 } else { rng.random_range(0..arms.len()) }
    }

    fn reward(&mut self, _arm: &str, _judged: &Judged<Trial>, _gain: Option<f64>, _at: &SearchContext) {}

    fn save(&self) -> Result<Vec<u8>, StateError> {
        Ok(Vec::new())
    }
}
