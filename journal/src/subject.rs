use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tilewright_ir::{Schedule, WorkloadKey};

/// What is being made fast, and under which conditions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A workload that is lowered, run and measured.
    Workload(WorkloadKey),
    /// A space that somebody measured elsewhere; its candidates are known only by names and values.
    Recorded(RecordedSpace),
}

/// A recorded space; the values of one of its candidates are that candidate's [`Schedule`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordedSpace {
    /// Name of the kernel or benchmark.
    pub space: String,
    /// Device it was recorded on.
    pub device: String,
    /// BLAKE3 digest of the recording, lower-case hexadecimal.
    pub digest: String,
    /// Names of the tuned parameters, in the recording's order.
    pub parameters: Vec<String>,
}

/// A subject with a schedule: one point of a search space.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// What is being made fast; shared, because all candidates of a campaign have the same.
    pub subject: Arc<Subject>,
    /// How.
    pub schedule: Schedule,
}

impl RecordedSpace {
    /// Whether both are recordings of one kernel on one device, or one recording: what is learned from one says
    /// nothing new of the other.
    pub fn is_same_source(&self, other: &Self) -> bool {
        self.digest == other.digest || (self.space == other.space && self.device == other.device)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workload(key) => key.fmt(f),
            Self::Recorded(recorded) => write!(f, "{} recorded on {}", recorded.space, recorded.device),
        }
    }
}
