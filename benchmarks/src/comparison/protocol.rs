//! What the parent asks of a contender's process and what it answers, one JSON line each.

use serde::{Deserialize, Serialize};

use super::Shape;

/// From the parent, on the child's standard input.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Get ready for the shape whose operands lie in the shared buffers, and launch once.
    Prepare(Shape),
    /// Find how many launches fill this many seconds.
    Calibrate(f64),
    /// Launch that many times and report the time of one.
    Run(u64),
}

/// From the child, on the descriptor that was its standard output.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The library is loaded.
    Ready,
    /// The contender does not exist here.
    Absent {
        /// Why.
        why: String,
        /// What to do about it.
        remedy: String,
    },
    /// Prepared, and C written once.
    Prepared {
        /// Which kernel the library chose.
        kernel: String,
        /// Operations of a launch.
        flops: f64,
        /// Whether C holds the product.
        writes_result: bool,
    },
    /// The library has no such product.
    Unsupported(String),
    /// Launches that fill the asked time, and seconds that one took.
    Calibrated {
        /// Launches in a sample.
        launches: u64,
        /// Seconds that one took.
        seconds: f64,
    },
    /// Seconds of one launch.
    Ran(f64),
}
