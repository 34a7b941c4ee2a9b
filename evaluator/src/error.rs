//! What can go wrong with the evaluator itself, as opposed to a candidate.

use tilewright_runtime::RuntimeError;

/// Why evaluation cannot start.
#[derive(Debug, thiserror::Error)]
pub enum EvaluatorError {
    /// Memory for operands, code or results was refused.
    #[error("memory of the evaluator: {0}")]
    Memory(#[from] RuntimeError),
    /// The worker process did not start.
    #[error("cannot start a worker process: {0}")]
    Spawn(#[from] std::io::Error),
    /// The worker process started and did not answer.
    #[error("the worker process does not answer ({0}); does `main` call `run_if_worker` first?")]
    Mute(String),
    /// No instruction set of the code generators runs here.
    #[error("this processor has none of the instruction sets {}", .0.join(", "))]
    NoIsa(Vec<&'static str>),
    /// The workload cannot be evaluated on this device.
    #[error("cannot evaluate {workload}: {reason}")]
    Workload {
        /// The workload.
        workload: String,
        /// Why not.
        reason: String,
    },
}
