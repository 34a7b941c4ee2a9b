//! What the interpreter finds wrong with a program or a call.

use crate::data_type::DataType;

/// Why a program was not run to its end. Indices are those of the named tensor or buffer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InterpretError {
    /// The program is malformed; nothing was run.
    #[error("malformed program: {what}")]
    Invalid {
        /// What is wrong.
        what: String,
    },
    /// The call does not fit the program; nothing was run.
    #[error("{name}: found {found}, wanted {wanted}")]
    Call {
        /// Operand, run-time extent, entry or persistent buffer.
        name: String,
        /// What was passed.
        found: String,
        /// What the program takes.
        wanted: String,
    },
    /// An access outside a tensor or a buffer.
    #[error("{action} outside: {target}{indices:?} of shape {shape:?}")]
    OutOfRange {
        /// What was attempted.
        action: Action,
        /// Name of the tensor or buffer.
        target: String,
        /// Where.
        indices: Vec<i64>,
        /// Its extents.
        shape: Vec<u64>,
    },
    /// A read of what nothing has written since it was declared (an output: since the call began).
    #[error("read of {target}{indices:?}, which was never written")]
    Uninitialised {
        /// Name of the tensor or buffer.
        target: String,
        /// Where.
        indices: Vec<i64>,
    },
    /// Two instances touched an element, one of them writing, and no barrier joined them in between.
    #[error("race on {target}{indices:?}: {first_action} by {first}, then {second_action} by {second}")]
    Race {
        /// Name of the tensor or buffer.
        target: String,
        /// Where.
        indices: Vec<i64>,
        /// What came first in this run.
        first_action: Action,
        /// Who did it.
        first: String,
        /// What came second.
        second_action: Action,
        /// Who did it.
        second: String,
    },
    /// Some instances wait at a barrier that others never reach.
    #[error("{arrived} of {of} instances arrived at a barrier of {scope}")]
    UnequalBarrier {
        /// Scope of the barrier.
        scope: String,
        /// How many wait.
        arrived: usize,
        /// How many would have to.
        of: usize,
    },
    /// An index tensor holds a value outside the range that the program declares.
    #[error("{table}{indices:?} holds {value}, declared {}..{}", range.0, range.1)]
    Lookup {
        /// Name of the index tensor.
        table: String,
        /// Where.
        indices: Vec<i64>,
        /// What it holds.
        value: f64,
        /// Least and greatest value allowed.
        range: (i64, i64),
    },
    /// All instances together read a buffer of which each has its own, and the contents differ.
    #[error("instances disagree on {target}{indices:?}, which they read together")]
    Disagreement {
        /// Name of the buffer.
        target: String,
        /// Where.
        indices: Vec<i64>,
    },
    /// An instruction wrote part of a block of a block type, which has one scale for all of it.
    #[error(
        "{target}: {written} of the {elements} elements of a {data_type} block were written, at {indices:?}"
    )]
    PartialBlock {
        /// Name of the tensor or buffer.
        target: String,
        /// Its type.
        data_type: DataType,
        /// First element of the block.
        indices: Vec<i64>,
        /// How many elements the instruction wrote.
        written: usize,
        /// How many the block has.
        elements: usize,
    },
    /// A scatter wrote one place twice.
    #[error("two points of one scatter write {target}{indices:?}")]
    Overlap {
        /// Name of the tensor or buffer.
        target: String,
        /// Where.
        indices: Vec<i64>,
    },
    /// The entry writes an output, but not all of it.
    #[error("output {target}{indices:?} was never written")]
    Incomplete {
        /// Name of the output.
        target: String,
        /// First element that is missing.
        indices: Vec<u64>,
    },
}

/// A kind of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The value was used.
    Read,
    /// The value was replaced.
    Write,
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}
