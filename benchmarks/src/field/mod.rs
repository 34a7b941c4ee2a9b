//! Search strategies of other tuners beside Tilewright's, on the same recorded answers, scored by one method.
//!
//! Each tuner runs as a program of its own, through its own interface (`benchmarks/field/`): it reads a [`Plan`]
//! and answers with a [`Trace`], the configurations that each run visited. The runs are then scored like those of
//! any strategy: `tilewright_search::score` pays for every configuration from the recording.

mod plan;
mod tools;
mod trace;

pub use plan::{Plan, seed};
pub use tools::{TOOLS, Tool, ToolError};
pub use trace::{Trace, contestant};
