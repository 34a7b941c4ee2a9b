//! The course of a series of times: did the machine change while it was taken?

use crate::Level;
use crate::SampleError;
use crate::error::check_positive;
use crate::samples::median;
use crate::significance::mann_whitney;
use serde::{Deserialize, Serialize};

/// By how much a series moved from its first half to its second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Median of the second half over that of the first: above 1 the machine became slower.
    pub ratio: f64,
    /// Two-sided p-value of the halves being alike (Mann–Whitney). Neighbours that resemble each other make it
    /// smaller than it should be, so it is a sign of change and not a proof of one.
    pub p: f64,
}

impl Drift {
    /// Compares the halves of a series of times; the middle one of an odd number is left out.
    ///
    /// # Errors
    /// When there are fewer than four times, or one is not positive and finite.
    pub fn of(times: &[f64]) -> Result<Self, SampleError> {
        check_positive(times, 4)?;
        let half = times.len() / 2;
        let (first, second) = (&times[..half], &times[times.len() - half..]);
        let p = mann_whitney(first, second)?.two_sided();
        Ok(Self { ratio: median(second)? / median(first)?, p })
    }

    /// Whether the halves differ at `level` and by the factor 1 + `relative` or more, either way.
    pub fn exceeds(&self, relative: f64, level: Level) -> bool {
        self.p < level.get() && self.ratio.ln().abs() >= relative.ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_seen_and_a_steady_series_is_not() {
        let steady: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i * 7 % 5)).collect();
        let stepped: Vec<f64> =
            steady.iter().enumerate().map(|(i, time)| if i < 20 { *time } else { 1.1 * time }).collect();
        let found = Drift::of(&stepped).unwrap();
        assert!((found.ratio - 1.1).abs() < 0.02 && found.exceeds(0.05, Level::ONE_IN_A_THOUSAND));
        assert!(!found.exceeds(0.2, Level::ONE_IN_A_THOUSAND));
        assert!(!Drift::of(&steady).unwrap().exceeds(0.0, Level::ONE_PERCENT));
        assert!(Drift::of(&[1.0, 2.0, 3.0]).is_err() && Drift::of(&[1.0, 2.0, 0.0, 1.0]).is_err());
    }
}
