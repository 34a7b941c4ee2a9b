//! What was learned elsewhere, and how far it may be believed here.
//!
//! | file | holds |
//! |---|---|
//! | `heuristic.rs` | what a search leaves behind: where it was, and how fast the points it judged were |
//! | `advisor.rs` | a heuristic mapped, by name and meaning, into the space of another search |
//! | `advised.rs` | a strategy that is told of advice, and lets it earn its weight |

mod advised;
mod advisor;
mod heuristic;

pub use advised::{Advised, advice_of};
pub use advisor::Advisor;
pub use heuristic::{HEURISTIC_VERSION, Heuristic, HeuristicError, OperatorRecord, Remembered};

#[cfg(test)]
mod tests;
