//! What a comparison found; written as JSON by `--json`.

use serde::{Deserialize, Serialize};

use super::{Interval, Shape};

/// A whole comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The processor's name.
    pub processor: String,
    /// Seed of the operands and of the order of turns.
    pub seed: u64,
    /// One row a shape and number of threads.
    pub rows: Vec<Row>,
}

/// All contenders on one shape with one number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The shape.
    pub shape: Shape,
    /// Its text.
    pub workload: String,
    /// Threads a contender.
    pub threads: usize,
    /// Rounds that were kept; the first is dropped.
    pub rounds: usize,
    /// One cell a contender, in the order of the list.
    pub cells: Vec<Cell>,
    /// The peer with the shortest median among plain calls.
    pub best_peer: Option<String>,
    /// How many times faster Tilewright is than that peer.
    pub subject_over_best: Option<Interval>,
}

/// One contender on one shape.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Its name.
    pub contender: String,
    /// What came out.
    pub outcome: Outcome,
}

/// Times, or why there are none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Right and timed.
    Measured {
        /// The kernel that the library says it chose.
        kernel: String,
        /// Launches in each sample.
        launches: u64,
        /// Seconds a launch, one sample a round; the same index is the same round for all.
        seconds: Vec<f64>,
        /// Median of them.
        median: f64,
        /// Billions of floating-point operations a second at the median.
        gflops: f64,
        /// Percentage of the ceiling measured beside it.
        percent_of_ceiling: Option<f64>,
        /// Speed beside the reference contender.
        versus: Option<Versus>,
    },
    /// The library has no such product.
    Unsupported(String),
    /// Not installed.
    Absent {
        /// What is missing.
        why: String,
        /// How to get it.
        remedy: String,
    },
    /// Its result is not the product.
    Wrong(String),
    /// Its process ended or did not answer.
    Broken(String),
}

/// Speed beside another contender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Versus {
    /// The other.
    pub reference: String,
    /// How many times faster than it.
    pub ratio: Interval,
}

impl Row {
    /// The cell of a contender.
    pub fn cell(&self, contender: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.contender == contender)
    }

    /// Samples of a contender, where it was measured.
    pub fn seconds(&self, contender: &str) -> Option<&[f64]> {
        match &self.cell(contender)?.outcome {
            Outcome::Measured { seconds, .. } => Some(seconds),
            _ => None,
        }
    }
}
