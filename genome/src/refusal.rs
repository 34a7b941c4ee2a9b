use tilewright_ir::{Illegal, ScheduleValue};

/// Why a gene may not have a value here; cheap to make, since enumerating open values makes many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal<'a> {
    /// The value is outside the parameter's meaning.
    Value {
        /// What would do.
        allowed: &'a str,
    },
    /// The value contradicts other parameters.
    Conflict {
        /// Their names.
        parameters: &'a str,
        /// What is wrong.
        conflict: &'a str,
    },
    /// More vector registers than there are.
    Registers {
        /// How many would be needed.
        needed: u32,
        /// How many there are.
        available: u32,
    },
    /// An unrolled body with too many instructions.
    Body {
        /// Its length.
        needed: u32,
        /// The limit.
        available: u32,
    },
    /// A memory level overflows.
    Capacity {
        /// Its name.
        level: &'a str,
        /// Bytes needed.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
}

impl Refusal<'_> {
    /// The refusal of `value` for the parameter `name`, as the outcome that a candidate records.
    pub fn explain(self, name: &str, value: Option<&ScheduleValue>) -> Illegal {
        match self {
            Self::Value { allowed } => Illegal::Parameter {
                parameter: name.to_owned(),
                found: value.map_or_else(|| "beyond the list of values".to_owned(), ToString::to_string),
                allowed: allowed.to_owned(),
            },
            Self::Conflict { parameters, conflict } => {
                Illegal::Conflict { parameters: parameters.to_owned(), conflict: conflict.to_owned() }
            }
            Self::Registers { needed, available } => Illegal::Registers { needed, available },
            Self::Body { needed, available } => Illegal::Body { needed, available },
            Self::Capacity { level, needed, available } => {
                Illegal::Capacity { level: level.to_owned(), needed, available }
            }
        }
    }
}
