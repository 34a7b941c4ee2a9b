//! Makes a program explicit for a target.

mod capacity;
mod simplify;
mod substitute;

use crate::limits::{Illegal, Limits};
use crate::program::Program;

/// Makes explicit what the target needs, still in the same form: rests are peeled, loops of one iteration
/// disappear, bounds and conditions that always hold are dropped, and capacities are checked.
///
/// # Errors
/// When the program does not fit the target.
pub fn legalise(program: &Program, limits: &Limits) -> Result<Program, Illegal> {
    let program = simplify::simplify(program, limits)?;
    capacity::check(&program, limits)?;
    Ok(program)
}
