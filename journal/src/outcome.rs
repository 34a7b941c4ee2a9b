use serde::{Deserialize, Serialize};

use crate::{Measurement, extended_float};

/// What became of a candidate; a failure is data like any other.
pub type Outcome = Result<Measurement, EvalError>;

/// How a candidate failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum EvalError {
    /// The schedule is not legal for the workload on this target.
    #[error("illegal: {0}")]
    Illegal(String),
    /// The code generator or compiler refused the program.
    #[error("does not compile: {0}")]
    Compile(String),
    /// The kernel ran and computed something else.
    #[error(
        "wrong answer in `{tensor}` at {at:?}: {found} instead of {wanted}, error {max_error} above {tolerance}"
    )]
    WrongAnswer {
        /// Output that is wrong.
        tensor: String,
        /// Index of the worst element; empty where a product of the whole output is wrong.
        at: Vec<u64>,
        /// Value found there.
        #[serde(with = "extended_float")]
        found: f64,
        /// Value of the reference.
        #[serde(with = "extended_float")]
        wanted: f64,
        /// Largest error seen, in the unit of `tolerance`.
        #[serde(with = "extended_float")]
        max_error: f64,
        /// Largest error allowed.
        #[serde(with = "extended_float")]
        tolerance: f64,
    },
    /// The kernel touched memory outside its operands.
    #[error("out of bounds: {0}")]
    OutOfBounds(String),
    /// The worker process was ended by a signal.
    #[error("crashed with signal {signal}")]
    Crashed {
        /// Number of the signal.
        signal: i32,
    },
    /// The kernel did not end in time.
    #[error("no answer within {limit_ms} ms")]
    Timeout {
        /// Time allowed, milliseconds.
        limit_ms: u64,
    },
    /// More memory was needed than the candidate may use.
    #[error("out of memory")]
    OutOfMemory,
    /// The times cannot be true: below what the hardware allows, or at odds with the coordinator's clock.
    #[error("implausible: {0}")]
    Implausible(String),
    /// The program was tried before in this campaign.
    #[error("same program as trial {of}")]
    Duplicate {
        /// Index of the earlier trial.
        of: u64,
    },
    /// The worker went away without an answer, through no known fault of the candidate.
    #[error("worker lost: {0}")]
    Lost(String),
}

impl EvalError {
    /// Every name that [`EvalError::kind`] gives.
    pub const KINDS: [&str; 10] = [
        "illegal",
        "compile",
        "wrong_answer",
        "out_of_bounds",
        "crashed",
        "timeout",
        "out_of_memory",
        "implausible",
        "duplicate",
        "lost",
    ];

    /// Name of the kind of failure, as counted in reports.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Illegal(_) => "illegal",
            Self::Compile(_) => "compile",
            Self::WrongAnswer { .. } => "wrong_answer",
            Self::OutOfBounds(_) => "out_of_bounds",
            Self::Crashed { .. } => "crashed",
            Self::Timeout { .. } => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::Implausible(_) => "implausible",
            Self::Duplicate { .. } => "duplicate",
            Self::Lost(_) => "lost",
        }
    }

    /// Whether the same candidate would fail the same way anywhere: nothing ran that could have had bad luck.
    pub fn is_certain(&self) -> bool {
        matches!(self, Self::Illegal(_) | Self::Compile(_) | Self::Duplicate { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each() -> Vec<EvalError> {
        vec![
            EvalError::Illegal("needs 20 registers of 16".to_owned()),
            EvalError::Compile("displacement too far".to_owned()),
            EvalError::WrongAnswer {
                tensor: "c".to_owned(),
                at: vec![1, 2],
                found: f64::INFINITY,
                wanted: 1.0,
                max_error: f64::INFINITY,
                tolerance: 1e-6,
            },
            EvalError::OutOfBounds("guard page behind `a`".to_owned()),
            EvalError::Crashed { signal: 11 },
            EvalError::Timeout { limit_ms: 500 },
            EvalError::OutOfMemory,
            EvalError::Implausible("faster than the ceiling".to_owned()),
            EvalError::Duplicate { of: 3 },
            EvalError::Lost("pipe closed".to_owned()),
        ]
    }

    // U047, U061
    #[test]
    fn every_kind_is_listed_and_written_under_its_name() {
        assert_eq!(each().iter().map(EvalError::kind).collect::<Vec<_>>(), EvalError::KINDS);
        for error in each() {
            let text = serde_json::to_string(&error).unwrap();
            assert!(text.contains(error.kind()), "{text}");
            assert_eq!(serde_json::from_str::<EvalError>(&text).unwrap(), error);
        }
    }

    #[test]
    fn an_answer_that_is_no_number_survives() {
        let EvalError::WrongAnswer { tensor, at, wanted, max_error, tolerance, .. } = each().remove(2) else {
            panic!("the third is a wrong answer")
        };
        let error = EvalError::WrongAnswer { tensor, at, found: f64::NAN, wanted, max_error, tolerance };
        let text = serde_json::to_string(&error).unwrap();
        let again: EvalError = serde_json::from_str(&text).unwrap();
        assert!(matches!(again, EvalError::WrongAnswer { found, .. } if found.is_nan()), "{text}");
    }
}
