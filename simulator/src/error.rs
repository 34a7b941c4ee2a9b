//! Why a program cannot be simulated.

/// Why there is no prediction.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulateError {
    /// The program has no main entry.
    #[error("program `{program}` has no entry `run`")]
    NoEntry {
        /// Its name.
        program: String,
    },
    /// Deeper or wider than the model's fixed tables.
    #[error("{what}: {found}, at most {most}")]
    TooLarge {
        /// What is.
        what: &'static str,
        /// How large.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// A name or number that refers to nothing.
    #[error("the program refers to {what}, which does not exist")]
    Dangling {
        /// What it refers to.
        what: String,
    },
    /// A form that this class of chip has no cost for.
    #[error("no model of {what} on chip {chip}")]
    Unsupported {
        /// The chip.
        chip: String,
        /// The form.
        what: String,
    },
}
