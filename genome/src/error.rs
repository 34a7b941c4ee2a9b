use tilewright_ir::{Illegal, WorkloadError};

use crate::genome::Genome;

/// Why a space cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    /// A gene without a value, or with more than 65,536.
    #[error("gene `{gene}` has {count} values; from 1 to 65536 are possible")]
    Values {
        /// Its name.
        gene: String,
        /// Number of its values.
        count: usize,
    },
    /// Two genes of one name.
    #[error("gene `{0}` stands twice")]
    Twice(String),
    /// A constraint names no gene.
    #[error("constraint `{constraint}` names `{gene}`, which is no gene")]
    UnknownGene {
        /// Text of the constraint.
        constraint: String,
        /// What it names.
        gene: String,
    },
    /// A listed point that does not fit the genes.
    #[error("point {0} does not fit the genes")]
    Point(Genome),
    /// No legal point exists.
    #[error("no point of the space is legal")]
    Nothing,
    /// No legal point was found within a bounded search.
    #[error("no legal point of the space was found in {steps} steps")]
    NotFound {
        /// Values tried.
        steps: usize,
    },
    /// The workload's own description is impossible.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The target cannot run this workload at all.
    #[error(transparent)]
    Illegal(#[from] Illegal),
}
