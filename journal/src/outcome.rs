use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

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
    /// The kernel stored to an operand that it may only read.
    #[error("input modified: {0}")]
    InputModified(String),
    /// The kernel left an output as it was, or put an earlier launch's answer there.
    #[error("stale output: {0}")]
    StaleOutput(String),
    /// Two launches on the same inputs gave different results.
    #[error("nondeterministic: {0}")]
    Nondeterministic(String),
    /// The worker's times or answers do not fit the coordinator's clock, or the code that reads the clock was
    /// to be changed.
    #[error("timer tampered with: {0}")]
    TimerTampered(String),
    /// The kernel left state of its thread or process changed that is not its own.
    #[error("state changed: {0}")]
    StateChanged(String),
    /// The kernel started a thread.
    #[error("thread left behind: {0}")]
    ThreadLeft(String),
    /// The kernel started a process or another program.
    #[error("forked: {0}")]
    Forked(String),
    /// The kernel asked the system for something that no computation needs.
    #[error("forbidden system call: {0}")]
    ForbiddenCall(String),
    /// The worker process was ended by a signal.
    #[error("crashed with {}", signal_name(*.signal))]
    Crashed {
        /// Number of the signal; 0 where the process ended itself without one.
        signal: i32,
    },
    /// The processor does not know an instruction.
    #[error("illegal instruction")]
    IllegalInstruction,
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
    /// A kind that a later version has recorded, as text.
    #[error("a failure of another version: {0}")]
    Unknown(String),
}

/// Reads an outcome; in a readable form, a failure of a kind that only a later version knows is kept as text.
pub(crate) fn read_outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
    if !deserializer.is_human_readable() {
        return Outcome::deserialize(deserializer);
    }
    let value = serde_json::Value::deserialize(deserializer)?;
    Outcome::deserialize(&value).or_else(|error| {
        let failure = value.get("Err").ok_or_else(|| D::Error::custom(&error))?;
        let named = failure.as_object().and_then(|object| object.keys().next().map(String::as_str));
        match failure.as_str().or(named) {
            Some(kind) if !EvalError::KINDS.contains(&kind) => {
                Ok(Err(EvalError::Unknown(failure.to_string())))
            }
            _ => Err(D::Error::custom(&error)),
        }
    })
}

fn signal_name(signal: i32) -> String {
    if signal == 0 { "an exit of its own".to_owned() } else { format!("signal {signal}") }
}

impl EvalError {
    /// Every name that [`EvalError::kind`] gives.
    pub const KINDS: [&str; 20] = [
        "illegal",
        "compile",
        "wrong_answer",
        "out_of_bounds",
        "input_modified",
        "stale_output",
        "nondeterministic",
        "timer_tampered",
        "state_changed",
        "thread_left",
        "forked",
        "forbidden_call",
        "crashed",
        "illegal_instruction",
        "timeout",
        "out_of_memory",
        "implausible",
        "duplicate",
        "lost",
        "unknown",
    ];

    /// Name of the kind of failure, as counted in reports.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Illegal(_) => "illegal",
            Self::Compile(_) => "compile",
            Self::WrongAnswer { .. } => "wrong_answer",
            Self::OutOfBounds(_) => "out_of_bounds",
            Self::InputModified(_) => "input_modified",
            Self::StaleOutput(_) => "stale_output",
            Self::Nondeterministic(_) => "nondeterministic",
            Self::TimerTampered(_) => "timer_tampered",
            Self::StateChanged(_) => "state_changed",
            Self::ThreadLeft(_) => "thread_left",
            Self::Forked(_) => "forked",
            Self::ForbiddenCall(_) => "forbidden_call",
            Self::Crashed { .. } => "crashed",
            Self::IllegalInstruction => "illegal_instruction",
            Self::Timeout { .. } => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::Implausible(_) => "implausible",
            Self::Duplicate { .. } => "duplicate",
            Self::Lost(_) => "lost",
            Self::Unknown(_) => "unknown",
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
            EvalError::InputModified("store to input `a`".to_owned()),
            EvalError::StaleOutput("nothing was written".to_owned()),
            EvalError::Nondeterministic("128 bytes differ".to_owned()),
            EvalError::TimerTampered("2 ms in 1 ms".to_owned()),
            EvalError::StateChanged("MXCSR".to_owned()),
            EvalError::ThreadLeft("clone".to_owned()),
            EvalError::Forked("fork".to_owned()),
            EvalError::ForbiddenCall("socket".to_owned()),
            EvalError::Crashed { signal: 11 },
            EvalError::IllegalInstruction,
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
        let (unknown, known) = EvalError::KINDS.split_last().unwrap();
        assert_eq!(*unknown, "unknown");
        assert_eq!(each().iter().map(EvalError::kind).collect::<Vec<_>>(), known);
        for error in each() {
            let text = serde_json::to_string(&error).unwrap();
            assert!(text.contains(error.kind()), "{text}");
            assert_eq!(serde_json::from_str::<EvalError>(&text).unwrap(), error);
        }
    }

    #[test]
    fn a_kind_of_a_later_version_is_kept_as_text_and_damage_is_refused() {
        #[derive(Deserialize)]
        struct Holder(#[serde(deserialize_with = "read_outcome")] Outcome);
        for later in [r#"{"melted":{"degrees":1300}}"#, r#""vanished""#] {
            let Holder(outcome) = serde_json::from_str(&format!(r#"{{"Err":{later}}}"#)).unwrap();
            assert_eq!(outcome, Err(EvalError::Unknown(later.to_owned())));
            let again = serde_json::to_string(&outcome).unwrap();
            assert_eq!(serde_json::from_str::<Holder>(&again).unwrap().0, outcome);
        }
        for damaged in [r#"{"Err":{"timeout":{"limit":3}}}"#, r#"{"Err":7}"#, r#"{"Err":"lost"}"#] {
            assert!(serde_json::from_str::<Holder>(damaged).is_err(), "{damaged}");
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
