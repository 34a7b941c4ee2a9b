use serde::{Deserialize, Serialize};

/// Why a set of samples cannot be worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum SampleError {
    /// Fewer samples than the method needs.
    #[error("{have} samples where at least {need} are needed")]
    TooFew {
        /// Samples given.
        have: usize,
        /// Samples the method needs.
        need: usize,
    },
    /// Two series that belong together differ in length.
    #[error("{first} samples beside {second}")]
    Unequal {
        /// Length of the first series.
        first: usize,
        /// Length of the second series.
        second: usize,
    },
    /// A sample is infinite or not a number.
    #[error("sample {index} is not a finite number")]
    NotFinite {
        /// Position in its series, from 0.
        index: usize,
    },
    /// A time or ratio is zero or negative, so it has no logarithm.
    #[error("sample {index} is not positive")]
    NotPositive {
        /// Position in its series, from 0.
        index: usize,
    },
    /// All values are equal where the method needs them to differ.
    #[error("all values are equal")]
    Constant,
    /// More successes than trials.
    #[error("{successes} successes in {trials} trials")]
    MoreThanTrials {
        /// Successes counted.
        successes: u64,
        /// Trials made.
        trials: u64,
    },
}

/// Refuses series shorter than `need` and values that are not finite.
pub(crate) fn check_finite(values: &[f64], need: usize) -> Result<(), SampleError> {
    if values.len() < need {
        return Err(SampleError::TooFew { have: values.len(), need });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(SampleError::NotFinite { index }),
        None => Ok(()),
    }
}

/// Refuses what [`check_finite`] refuses, and values that have no logarithm.
pub(crate) fn check_positive(values: &[f64], need: usize) -> Result<(), SampleError> {
    check_finite(values, need)?;
    match values.iter().position(|&value| value <= 0.0) {
        Some(index) => Err(SampleError::NotPositive { index }),
        None => Ok(()),
    }
}
