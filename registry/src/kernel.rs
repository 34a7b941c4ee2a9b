use serde::{Deserialize, Serialize};
use tilewright_ir::{Schedule, WorkloadKey};

use crate::{Conditions, Digest};

/// A kernel as it is proposed to a registry: what it is, how fast, and why to believe that it is right.
///
/// The raw samples and the verdict come with the [`tilewright_stats::Judged`] around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// What it computes, on what, with how many threads, from which cache state.
    pub key: WorkloadKey,
    /// How.
    pub schedule: Schedule,
    /// Digest of the program, as the journal has it.
    pub program_hash: String,
    /// The machine code.
    pub artifact: ArtifactFacts,
    /// What the candidate side of the evidence was measured beside.
    pub incumbent: Incumbent,
    /// Summary of its times.
    pub timing: Timing,
    /// How its answer was checked.
    pub verification: VerificationFacts,
    /// What the device could do at most when it was measured.
    pub ceilings: CeilingFacts,
    /// Where it comes from.
    pub origin: Origin,
    /// What it was verified and measured with; `None` in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
}

/// All that a launch needs to know besides the code itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactFacts {
    /// Digest of the code bytes, which is the artifact's name.
    pub sha256: Digest,
    /// Number of code bytes.
    pub bytes: u64,
    /// Identifier of the instruction set.
    pub isa: String,
    /// Where to enter.
    pub entries: Vec<EntryOffset>,
    /// Workers that every launch must have.
    pub workers: u32,
    /// Bytes of scratch memory that a launch needs.
    pub workspace_bytes: u64,
}

/// A named place where a launch enters the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryOffset {
    /// Its name, `run` for the main one.
    pub name: String,
    /// Offset from the first byte of the code.
    pub offset: u64,
}

/// What a kernel was measured beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Incumbent {
    /// The kernel of the default schedule.
    Default,
    /// A record of this registry.
    Record(Digest),
}

/// Times of one launch, ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Median.
    pub median_ns: f64,
    /// Lower end of the median's 95 % interval; `None` where samples are too few for one.
    pub low_ns: Option<f64>,
    /// Upper end of the median's 95 % interval; `None` where samples are too few for one.
    pub high_ns: Option<f64>,
    /// 99 % quantile of single launches; `None` where they were not timed one by one.
    pub p99_ns: Option<f64>,
}

/// Evidence that a kernel computes what its workload says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerificationFacts {
    /// How: `full`, `freivalds+sampled`, ….
    pub method: String,
    /// Input sets that were run.
    pub inputs: Vec<String>,
    /// Output elements compared one by one.
    pub elements: u64,
    /// Largest error seen, in the unit of `tolerance`.
    pub max_error: f64,
    /// Largest error allowed.
    pub tolerance: f64,
    /// Bound on the probability that a wrong kernel passed.
    pub miss_probability: f64,
    /// How far the answers as a whole were from the reference; `None` in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftFacts>,
}

/// Distance of a kernel's answers from the reference, and how much of it is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DriftFacts {
    /// Largest error of an element in units in the last place of its right value.
    pub max_ulps: f64,
    /// Error of the whole in the 2-norm, as a share of the reference's norm.
    pub relative_error: f64,
    /// Largest relative error accepted.
    pub limit: f64,
}

/// What the device could do at most, with the record's number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CeilingFacts {
    /// 10⁹ operations a second.
    pub gflops: f64,
    /// Read bandwidth of the level where the operands lie, 10⁹ bytes a second.
    pub gbps: f64,
}

/// Where a kernel comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Name, version and commit of the tool.
    pub tool: String,
    /// Folder of the campaign that found it.
    pub campaign: String,
    /// Seed of that campaign.
    pub seed: u64,
    /// Its trial there.
    pub trial: Option<u64>,
}
