use serde::{Deserialize, Serialize};

/// What is known about a candidate beside its incumbent, before anybody judges.
///
/// Times are in nanoseconds per launch. Values are kept as they came: a gate
/// answers times that are not positive and finite with an inconclusive verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Measured in turns: sample *i* of both sides was taken side by side, the
    /// side that went first drawn at random. Both sides have the same length.
    Pairs {
        /// Times of the incumbent, in order of measuring.
        incumbent: Vec<f64>,
        /// Times of the candidate, in order of measuring.
        candidate: Vec<f64>,
    },
    /// Recorded elsewhere, each side by itself; lengths may differ.
    Samples {
        /// Times of the incumbent, in order of recording.
        incumbent: Vec<f64>,
        /// Times of the candidate, in order of recording.
        candidate: Vec<f64>,
    },
    /// Simulated: one exact time a side.
    Exact {
        /// Predicted time of the incumbent.
        incumbent: f64,
        /// Predicted time of the candidate.
        candidate: f64,
    },
    /// The candidate gave no time at all.
    Failure {
        /// Name of what went wrong, such as `timeout`.
        kind: String,
        /// Whether a second attempt failed the same way.
        reproduced: bool,
    },
}

/// Where the numbers of an [`Evidence`] come from.
///
/// It stays visible on everything judged, so that a simulated or recorded
/// result is never served as a measured one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// Measured beside the incumbent.
    Pairs,
    /// Recorded data.
    Samples,
    /// Simulated.
    Exact,
    /// No time at all.
    Failure,
}

impl Evidence {
    /// Where the numbers come from.
    pub fn kind(&self) -> EvidenceKind {
        match self {
            Self::Pairs { .. } => EvidenceKind::Pairs,
            Self::Samples { .. } => EvidenceKind::Samples,
            Self::Exact { .. } => EvidenceKind::Exact,
            Self::Failure { .. } => EvidenceKind::Failure,
        }
    }

    /// The same evidence with the two sides exchanged; a failure stays as it is.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Pairs { incumbent, candidate } => {
                Self::Pairs { incumbent: candidate, candidate: incumbent }
            }
            Self::Samples { incumbent, candidate } => {
                Self::Samples { incumbent: candidate, candidate: incumbent }
            }
            Self::Exact { incumbent, candidate } => {
                Self::Exact { incumbent: candidate, candidate: incumbent }
            }
            failure @ Self::Failure { .. } => failure,
        }
    }
}
