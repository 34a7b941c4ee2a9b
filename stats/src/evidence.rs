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
    /// Measured in turns twice: once to find out, once more in a fresh process on fresh data to confirm. The
    /// effect is that of the confirmation, since what was looked for is overstated by what found it.
    Claim {
        /// The pairs that were looked at one by one.
        sequential: PairedTimes,
        /// The pairs of the confirmation, none of which was looked at before the last.
        confirmation: PairedTimes,
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

/// Times of two sides measured in turns, the side that went first drawn at random; of the same length.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PairedTimes {
    /// Times of the incumbent, in order of measuring.
    pub incumbent: Vec<f64>,
    /// Times of the candidate, in order of measuring.
    pub candidate: Vec<f64>,
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
    /// Measured beside the incumbent, and confirmed in a fresh process.
    Claim,
    /// Recorded data.
    Samples,
    /// Simulated.
    Exact,
    /// No time at all.
    Failure,
}

impl EvidenceKind {
    /// Whether the times were measured here, beside the incumbent: the only ones that are ever served.
    pub fn is_measured(self) -> bool {
        matches!(self, Self::Pairs | Self::Claim)
    }
}

impl Evidence {
    /// Times of incumbent and candidate, in order: of a claim those of its confirmation. `None` where there
    /// are no series of times.
    pub fn sides(&self) -> Option<(&[f64], &[f64])> {
        match self {
            Self::Pairs { incumbent, candidate }
            | Self::Samples { incumbent, candidate }
            | Self::Claim { confirmation: PairedTimes { incumbent, candidate }, .. } => {
                Some((incumbent, candidate))
            }
            Self::Exact { .. } | Self::Failure { .. } => None,
        }
    }

    /// Where the numbers come from.
    pub fn kind(&self) -> EvidenceKind {
        match self {
            Self::Pairs { .. } => EvidenceKind::Pairs,
            Self::Claim { .. } => EvidenceKind::Claim,
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
            Self::Claim { sequential, confirmation } => {
                Self::Claim { sequential: sequential.swapped(), confirmation: confirmation.swapped() }
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

impl PairedTimes {
    /// The two sides exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { incumbent: self.candidate, candidate: self.incumbent }
    }
}

impl From<PairedTimes> for Evidence {
    fn from(PairedTimes { incumbent, candidate }: PairedTimes) -> Self {
        Self::Pairs { incumbent, candidate }
    }
}
