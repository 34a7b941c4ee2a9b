//! The model: a program becomes a nest with trip counts, its accesses get traffic, its instructions work.

mod combine;
mod constants;
mod contract;
mod counter;
mod expression;
mod machine;
mod movement;
mod nest;
mod place;
mod region;
mod shape;
mod statements;
mod traffic;
mod work;

use tilewright_ir::{CacheState, Program};

use crate::chip::Chip;
use crate::error::SimulateError;
use crate::prediction::Prediction;

/// Predicts one launch of a legalised program that follows others on the same operands.
///
/// # Errors
/// When the program refers to what it does not have, or uses a form without a model.
pub fn simulate(program: &Program, chip: &Chip) -> Result<Prediction, SimulateError> {
    simulate_from(program, chip, CacheState::Warm)
}

/// Predicts one launch from the given state of the caches.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_from(program: &Program, chip: &Chip, cache: CacheState) -> Result<Prediction, SimulateError> {
    let machine = machine::Machine::new(chip, program.workers().max(1) as f64);
    let nest = nest::read(program, &machine)?;
    let traffic = traffic::analyse(&nest, &machine, cache);
    Ok(combine::combine(&nest, &traffic, &machine, chip))
}
