//! Ways to change a genome a little: one file each, one line in [`mutations`].
//!
//! A changed gene can take others along: those after it keep their meaning where it is still open, and move
//! to the nearest open value where it is not ([`SearchSpace::complete`]). The result is always legal.

mod copy_default;
mod jump;
mod resample_group;
mod resample_several;
mod scale;
mod step;
mod swap_order;
mod trade;

use std::fmt::Debug;

use rand::{Rng, RngExt};
use tilewright_ir::ScheduleValue;

use crate::genome::Genome;
use crate::space::{SearchSpace, Wish};

pub use copy_default::CopyDefault;
pub use jump::Jump;
pub use resample_group::ResampleGroup;
pub use resample_several::ResampleSeveral;
pub use scale::Scale;
pub use step::Step;
pub use swap_order::SwapOrder;
pub use trade::Trade;

/// A mutation operator.
pub trait Mutation: Debug + Sync {
    /// Its name in records.
    fn id(&self) -> &'static str;

    /// A legal genome that differs from this one; `None` when there is nothing to do, or the genome is not
    /// legal in this space.
    fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome>;
}

/// All operators.
pub fn mutations() -> &'static [&'static dyn Mutation] {
    &[&Step, &Scale, &Trade, &Jump, &SwapOrder, &ResampleGroup, &ResampleSeveral, &CopyDefault]
}

/// The operator of that name.
pub fn mutation(id: &str) -> Option<&'static dyn Mutation> {
    mutations().iter().copied().find(|mutation| mutation.id() == id)
}

/// Wishes that keep everything as it is; `None` when the genome is not legal.
pub(crate) fn keep(space: &SearchSpace, genome: &Genome) -> Option<Vec<Wish>> {
    let meanings = space.meanings(genome).ok()?;
    Some(meanings.into_iter().map(|meaning| meaning.map_or(Wish::Free, Wish::Near)).collect())
}

/// The genome with one gene set, the others as near as possible to what they mean; `None` at a dead end, or when
/// that is the genome itself.
pub fn with(
    space: &SearchSpace,
    genome: &Genome,
    gene: usize,
    index: u16,
    rng: &mut dyn Rng,
) -> Option<Genome> {
    let mut wishes = keep(space, genome)?;
    wishes[gene] = Wish::Exactly(index);
    space.complete(&wishes, rng).filter(|changed| changed != genome)
}

/// Puts items into a random order (Fisher and Yates); its draws stay the same whatever the version of `rand`.
pub fn shuffle<T>(items: &mut [T], rng: &mut dyn Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.random_range(0..=last));
    }
}

/// Positions in a random order.
fn shuffled(mut positions: Vec<usize>, rng: &mut dyn Rng) -> Vec<usize> {
    shuffle(&mut positions, rng);
    positions
}

/// Active genes of which `wanted` holds, in a random order.
fn active_genes(
    space: &SearchSpace,
    meanings: &[Option<ScheduleValue>],
    rng: &mut dyn Rng,
    wanted: impl Fn(usize) -> bool,
) -> Vec<usize> {
    shuffled((0..space.genes().len()).filter(|&gene| meanings[gene].is_some() && wanted(gene)).collect(), rng)
}

/// The number that an ordered gene stands for.
fn number(meaning: Option<&ScheduleValue>) -> Option<u64> {
    match meaning? {
        ScheduleValue::Number(number) => Some(*number),
        ScheduleValue::Name(_) => None,
    }
}

#[cfg(test)]
mod tests;
