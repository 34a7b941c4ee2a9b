use std::fmt::Debug;

use rand::Rng;
use tilewright_ir::ScheduleValue;

use crate::gene::Gene;
use crate::refusal::Refusal;

/// What is legal in a space, gene by gene in the order of the list.
///
/// Each gene is judged by [`Facts`](Rules::Facts) gathered from the genes before it. Facts hold only what
/// later genes ask for: two beginnings with equal facts have the same continuations, which is what makes
/// counting a large space exact and quick (dynamic programming over facts).
pub trait Rules: Debug + Send + Sync + 'static {
    /// What later genes need to know of earlier ones.
    type Facts: Clone + Ord + Send + Sync;

    /// Facts before the first gene.
    fn start(&self) -> Self::Facts;

    /// Whether the gene has an effect; one without must be 0, and its parameter is absent from the schedule.
    fn active(&self, gene: usize, facts: &Self::Facts) -> bool;

    /// Whether an active gene may have the value at this index.
    ///
    /// # Errors
    /// Why it may not.
    fn check(&self, gene: usize, index: u16, facts: &Self::Facts) -> Result<(), Refusal<'_>>;

    /// Notes the gene's value (0 when it is inactive) and forgets what no later gene asks for.
    fn note(&self, gene: usize, index: u16, facts: &mut Self::Facts);

    /// Value of the schedule parameter at an index inside the gene's list. For an ordered gene it must be a
    /// number that does not fall as the index rises.
    fn parameter(&self, genes: &[Gene], gene: usize, index: u16, facts: &Self::Facts) -> ScheduleValue {
        let _ = facts;
        genes[gene].value(index).expect("invariant: the index is inside the list")
    }

    /// Whether every parameter has the value of its gene's list, whatever the other genes are.
    fn is_literal(&self) -> bool {
        false
    }

    /// What an absent parameter means for an active gene; `None`: it may not be absent.
    fn default(&self, gene: usize, facts: &Self::Facts) -> Option<ScheduleValue>;

    /// A random point, where the rules know how to draw one at once; `None`, the default, to have it drawn
    /// gene by gene.
    fn draw(&self, rng: &mut dyn Rng) -> Option<Vec<u16>> {
        let _ = rng;
        None
    }

    /// Number of points, where it is known without counting.
    fn total(&self) -> Option<u128> {
        None
    }
}
