//! What a target can hold and do, as far as lowering and legalisation must know; and why a schedule is illegal.

use serde::{Deserialize, Serialize};

/// A memory level of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLevel {
    /// `L1`, `L2`, `L3`, `memory`, `shared`, …
    pub name: String,
    /// Bytes that one instance holds.
    pub bytes: u64,
    /// Resource that has one instance each; `None`: the device.
    pub owner: Option<String>,
    /// Whether exceeding the capacity is illegal (a scratchpad) or merely slow (a hardware cache).
    pub strict: bool,
}

/// Limits of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Instruction set or chip these limits belong to.
    pub target: String,
    /// Bytes of a vector register.
    pub vector_bytes: u64,
    /// Vector registers that a program may name.
    pub vector_registers: u32,
    /// Resource for parallel loops and its number of instances (`thread` on a CPU).
    pub workers: u32,
    /// Memory levels, nearest first.
    pub levels: Vec<MemoryLevel>,
    /// Whether a multiply-add can read one element from memory for all of its lanes.
    #[serde(default)]
    pub memory_broadcast: bool,
    /// Most bytes of workspace that a program may ask for.
    pub workspace_bytes: u64,
    /// Most vector instructions that an unrolled innermost body may have.
    pub body_instructions: u32,
}

impl Limits {
    /// A level by name.
    pub fn level(&self, name: &str) -> Option<&MemoryLevel> {
        self.levels.iter().find(|level| level.name == name)
    }

    /// Lanes of a vector register for elements of `bytes` bytes.
    pub fn lanes(&self, bytes: u64) -> u64 {
        self.vector_bytes / bytes
    }
}

/// Why a schedule is not legal for a workload on a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Illegal {
    /// A parameter has a value outside its meaning.
    #[error("parameter `{parameter}` is {found}, allowed: {allowed}")]
    Parameter {
        /// Its name.
        parameter: String,
        /// Its value.
        found: String,
        /// What would do.
        allowed: String,
    },
    /// Two parameters contradict each other.
    #[error("{parameters}: {conflict}")]
    Conflict {
        /// Their names.
        parameters: String,
        /// What is wrong with the pair.
        conflict: String,
    },
    /// More registers than there are.
    #[error("needs {needed} vector registers of {available}")]
    Registers {
        /// How many the program needs.
        needed: u32,
        /// How many there are.
        available: u32,
    },
    /// A memory level overflows.
    #[error("needs {needed} bytes of {available} in {level}")]
    Capacity {
        /// Name of the level.
        level: String,
        /// Sum of live buffers.
        needed: u64,
        /// Capacity.
        available: u64,
    },
    /// The program uses what this target has no form for.
    #[error("not supported on {target}: {what}")]
    Unsupported {
        /// The target.
        target: String,
        /// What it lacks.
        what: String,
    },
    /// The generated body would be too long.
    #[error("an unrolled body of {needed} instructions, at most {available}")]
    Body {
        /// Its length.
        needed: u32,
        /// The limit.
        available: u32,
    },
}
