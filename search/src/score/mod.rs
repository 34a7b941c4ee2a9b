//! How good is a strategy on spaces that others have measured?
//!
//! A replay answers from a [`RecordedSpace`](tilewright_recorded::RecordedSpace) and charges what recording
//! each configuration cost, once. The score compares the best value over time with what random search is
//! expected to have found: 0 is random search, 1 is the optimum from the first moment (Willemsen, Schoonhoven
//! et al. 2024, "A methodology for comparing optimization algorithms for auto-tuning", Future Generation
//! Computer Systems 159, 489–504). The method is told in `docs/scoring.md`.
//!
//! | file | holds |
//! |---|---|
//! | `baseline.rs` | what random search is expected to find, in closed form |
//! | `window.rs` | the times at which a strategy is looked at, and its budget |
//! | `space.rs` | a recorded space ready to be searched and scored |
//! | `replay.rs` | one run of a strategy |
//! | `runner.rs` | answers for whole campaigns |
//! | `report.rs` | all runs of all strategies on all spaces, with intervals |

mod baseline;
mod replay;
mod report;
mod runner;
mod space;
mod window;

pub use baseline::Baseline;
pub use replay::{Improvement, Replay, judged, replay};
pub use report::{
    Contestant, Course, Create, Estimate, ScoreReport, ScoreSettings, SpaceScore, StrategyFailure,
    StrategyScore, score,
};
pub use runner::RecordedRunner;
pub use space::{ScoreError, ScoredSpace};
pub use window::Window;

#[cfg(test)]
mod tests;
