use crate::{EvidenceKind, SampleError};
use serde::{Deserialize, Serialize};

/// What a gate decided about the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The candidate takes less time, beyond the gate's margin.
    Faster,
    /// The candidate takes more time, beyond the gate's margin.
    Slower,
    /// The evidence allows neither; see [`Verdict::reason`].
    Inconclusive,
    /// The candidate fails, and did so again when tried again.
    Failed,
}

/// Why the decision is what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The gate's test and margin were met.
    Met,
    /// The gate's test or margin was not met.
    NotMet,
    /// The gate does not judge evidence of this kind.
    Unsuitable(EvidenceKind),
    /// The samples cannot be worked on.
    Invalid(SampleError),
    /// The failure named happened twice.
    Reproduced(String),
    /// The failure named happened once; it may have been the machine's.
    NotReproduced(String),
}

/// A gate's answer: decision, size of the effect and how well it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The decision.
    pub kind: Decision,
    /// Candidate time over incumbent time: the median log-ratio, exponentiated.
    /// Below 1 the candidate is faster; a decision never contradicts it. `None` where there are no usable times.
    pub ratio: Option<f64>,
    /// Lower end of the 95 % interval of `ratio`; `None` where samples are too few for one.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of `ratio`; `None` where samples are too few for one.
    pub high: Option<f64>,
    /// Relative effect the gate asked for; 0 for a gate without margin.
    pub margin: f64,
    /// Identifier of the gate.
    pub gate: String,
    /// Why the decision is what it is.
    pub reason: Reason,
}
