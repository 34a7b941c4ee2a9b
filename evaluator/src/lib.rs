//! Tilewright's evaluator: from a candidate to what it is worth.
//!
//! A kernel that was just generated may crash, hang, lie or leak. It runs in a worker process under limits,
//! its answers are checked by the coordinator against expected results that the worker never sees, and only
//! then is it timed, in turns with the incumbent, under the coordinator's clock.
//!
//! | file | holds |
//! |---|---|
//! | `runner.rs` | what a search asks for, whoever answers |
//! | `device/` | the runner that measures on this machine |
//! | `replay.rs` | the runner that answers from a journal |
//! | `simulated.rs` | the runner that answers from the simulator |
//! | `stand/` | one workload's inputs, expected results and worker |
//! | `inputs.rs`, `verify/` | inputs that expose partial work, and checking answers |
//! | `process.rs`, `protocol.rs`, `shared_layout.rs` | how coordinator and worker talk |
//! | `worker/` | the other side |
//!
//! Every binary that evaluates on a device calls [`run_if_worker`] first in `main`.

mod device;
mod error;
#[cfg(test)]
mod fuzz;
mod inputs;
mod process;
mod protocol;
mod replay;
mod runner;
mod shared_layout;
mod simulated;
mod stand;
mod verify;
mod worker;

pub use device::{DeviceRunner, DeviceSettings, DeviceStatistics, Pacing, device_limits};
pub use error::EvaluatorError;
pub use inputs::InputKind;
pub use replay::ReplayRunner;
pub use runner::{BatchReport, ConfirmationReport, ConfirmedSide, Evaluation, Runner, Task};
pub use simulated::SimulatedRunner;
pub use stand::{Examined, Samples, StandCeiling, StandSettings, StandStatistics, TestStand};
pub use worker::run_if_worker;

/// Byte of outputs that nobody has written: as a floating-point number of any type it is NaN.
pub(crate) const POISON: u8 = 0xFF;
