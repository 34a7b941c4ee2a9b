//! Why a program cannot be compiled.

/// Why a code generator refused a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// A form that this code generator has no instructions for.
    #[error("not supported by this code generator: {what}")]
    Unsupported {
        /// The form.
        what: String,
    },
    /// An instruction needs more vector registers than are left.
    #[error("needs {needed} free vector registers, {available} are left")]
    Registers {
        /// How many it needs at the least.
        needed: u32,
        /// How many are free.
        available: u32,
    },
    /// A distance between two addresses does not fit 32 bits.
    #[error("an address offset of {bytes} bytes does not fit 32 bits")]
    Displacement {
        /// The offset.
        bytes: i64,
    },
    /// The assembler refused an instruction: a defect of the code generator.
    #[error("instruction cannot be encoded: {message}")]
    Encoding {
        /// What the assembler says.
        message: String,
    },
}

/// A form without instructions.
pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T, CompileError> {
    Err(CompileError::Unsupported { what: what.into() })
}
