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
//! | `twins.rs` | a kernel beside itself, to see what the judging makes of it |
//! | `inputs.rs`, `verify/` | inputs that expose partial work, and checking answers |
//! | `process.rs`, `protocol.rs`, `shared_layout.rs` | how coordinator and worker talk |
//! | `worker/` | the other side |
//! | `adversaries/` | kernels that cheat, stray and attack, and must be rejected |
//!
//! Every binary that evaluates on a device calls [`run_if_worker`] first in `main`.

mod adversaries;
mod device;
mod error;
#[cfg(test)]
mod fuzz;
mod inputs;
mod process;
mod process_state;
mod protocol;
mod replay;
mod runner;
mod shared_layout;
mod simulated;
mod stand;
mod twins;
mod verify;
mod worker;

pub use adversaries::{AdversaryOutcome, isolation, run_adversaries};
pub use device::{
    DeviceRunner, DeviceSettings, DeviceStatistics, JudgeError, JudgeRequest, JudgedSide, Judgement, Pacing,
    device_limits, judge,
};
pub use error::EvaluatorError;
pub use inputs::InputKind;
pub use replay::ReplayRunner;
pub use runner::{BatchReport, ConfirmationReport, ConfirmedSide, Evaluation, Runner, Task};
pub use simulated::SimulatedRunner;
pub use stand::{
    Examined, Isolation, Samples, StandCeiling, StandSettings, StandStatistics, TestStand, UserKernel,
};
pub use twins::{Delayed, Twins};
pub use worker::run_if_worker;

/// Byte of outputs that nobody has written: as a floating-point number of any type it is NaN.
pub(crate) const POISON: u8 = 0xFF;
