use serde::{Deserialize, Serialize};
use tilewright_stats::interval::Interval;

/// What a candidate that works is worth. The raw samples lie in the trial's evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Median time of a launch, ns; a simulated one's only time.
    pub median_ns: f64,
    /// 95 % interval of `median_ns`; `None` where samples are too few, and for a simulated time.
    pub interval_ns: Option<Interval>,
    /// 99 % quantile over single launches, ns; `None` where launches were not timed one by one.
    pub p99_ns: Option<f64>,
    /// Timed launches behind these numbers; 0 where nothing ran.
    pub launches: u64,
    /// Time spent inside those launches, ns.
    pub kernel_ns: u64,
    /// Time from program to artifact, ns.
    pub codegen_ns: u64,
    /// Bytes of machine code and constants.
    pub code_bytes: u64,
    /// Bytes of scratch memory that each launch needs.
    pub workspace_bytes: u64,
    /// SHA-256 of the artifact's code, lower-case hexadecimal; `None` where none was made.
    pub artifact_sha256: Option<String>,
    /// How the answer was checked before timing; `None` where nothing ran.
    pub verification: Option<Verification>,
}

/// Evidence that a kernel computes what its workload says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// How: `full`, `freivalds+sampled`, ….
    pub method: String,
    /// Input sets that were run.
    pub inputs: Vec<String>,
    /// Output elements compared one by one.
    pub elements: u64,
    /// Largest error seen, in the unit of `tolerance`.
    pub max_error: f64,
    /// Largest error allowed, derived from types and reduction length.
    pub tolerance: f64,
    /// Bound on the probability that a wrong kernel passed.
    pub miss_probability: f64,
    /// How far the answers as a whole were from the reference; `None` in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

/// How far answers are from the reference, over all elements compared one by one; the worst set of inputs counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Largest error of an element in units in the last place of its right value, in the output's type.
    pub max_ulps: f64,
    /// Error of the whole in the 2-norm, as a share of the reference's norm.
    pub relative_error: f64,
    /// Largest relative error accepted.
    pub limit: f64,
}

/// A kernel in forms that a person can read, and what identifies it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelListing {
    /// Identifier of the instruction set.
    pub isa: String,
    /// The program as text: loops over tile instructions.
    pub program: String,
    /// Digest of the program.
    pub program_hash: String,
    /// The machine code as text; empty where there is none.
    pub disassembly: String,
}

impl Measurement {
    /// A predicted time: nothing was generated or run.
    pub fn predicted(median_ns: f64) -> Self {
        Self {
            median_ns,
            interval_ns: None,
            p99_ns: None,
            launches: 0,
            kernel_ns: 0,
            codegen_ns: 0,
            code_bytes: 0,
            workspace_bytes: 0,
            artifact_sha256: None,
            verification: None,
        }
    }

    /// Whether a kernel ran for it.
    pub fn is_measured(&self) -> bool {
        self.launches > 0
    }
}
