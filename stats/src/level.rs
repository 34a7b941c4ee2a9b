use serde::{Deserialize, Serialize};

/// A setting outside its range.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum RangeError {
    /// See [`Level::new`].
    #[error("a level lies strictly between 0 and 1, not {0}")]
    Level(f64),
    /// See [`Margin::new`].
    #[error("a margin is at least 0 and below 1, not {0}")]
    Margin(f64),
}

/// Accepted probability of being wrong, strictly between 0 and 1.
///
/// An interval at level 0.05 is a 95 % interval; a test at level 0.001 rejects
/// when p < 0.001; an e-process at level 0.001 rejects when e ≥ 1000.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Level(f64);

impl Level {
    /// 0.05, the level of every interval that a verdict reports.
    pub const FIVE_PERCENT: Self = Self(0.05);
    /// 0.01.
    pub const ONE_PERCENT: Self = Self(0.01);
    /// 0.001.
    pub const ONE_IN_A_THOUSAND: Self = Self(0.001);
    /// 0.0001, the level of a claim.
    pub const ONE_IN_TEN_THOUSAND: Self = Self(0.0001);

    /// # Errors
    /// When `level` is not strictly between 0 and 1.
    pub fn new(level: f64) -> Result<Self, RangeError> {
        if level > 0.0 && level < 1.0 { Ok(Self(level)) } else { Err(RangeError::Level(level)) }
    }

    /// The probability itself.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The e-value at which evidence refutes at this level, 1/level (Ville's inequality).
    pub fn e_threshold(self) -> f64 {
        self.0.recip()
    }
}

/// Smallest relative effect worth deciding on, in [0, 1): 0.01 is one percent.
///
/// A margin m is beaten by a ratio below 1/(1+m), and lost by one above 1+m,
/// so that exchanging the two sides exchanges the two outcomes exactly.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Margin(f64);

impl Margin {
    /// No margin: any difference counts.
    pub const NONE: Self = Self(0.0);
    /// 0.01, the margin of a claim.
    pub const ONE_PERCENT: Self = Self(0.01);

    /// # Errors
    /// When `margin` is negative, 1 or more, or not a number.
    pub fn new(margin: f64) -> Result<Self, RangeError> {
        if (0.0..1.0).contains(&margin) { Ok(Self(margin)) } else { Err(RangeError::Margin(margin)) }
    }

    /// The relative effect itself.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The margin of a claim on a machine whose A/A comparisons resolve the relative difference `noise_floor`:
    /// that, but no less than 1 % (and 1 % where the floor is no number).
    pub fn of_claim(noise_floor: f64) -> Self {
        // More than a half would be no margin of anything.
        let floor = if noise_floor.is_nan() { 0.0 } else { noise_floor };
        Self(floor.clamp(Self::ONE_PERCENT.0, 0.5))
    }

    /// ln(1+m): the margin as a distance between logarithms.
    pub fn log(self) -> f64 {
        self.0.ln_1p()
    }
}

impl TryFrom<f64> for Level {
    type Error = RangeError;
    fn try_from(level: f64) -> Result<Self, RangeError> {
        Self::new(level)
    }
}

impl TryFrom<f64> for Margin {
    type Error = RangeError;
    fn try_from(margin: f64) -> Result<Self, RangeError> {
        Self::new(margin)
    }
}

impl From<Level> for f64 {
    fn from(level: Level) -> Self {
        level.0
    }
}

impl From<Margin> for f64 {
    fn from(margin: Margin) -> Self {
        margin.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked() {
        for wrong in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(Level::new(wrong).is_err());
        }
        for wrong in [1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(Margin::new(wrong).is_err());
        }
        assert!((Level::ONE_IN_A_THOUSAND.e_threshold() - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn a_claim_asks_for_one_percent_or_what_the_machine_resolves() {
        for (floor, margin) in [(0.002, 0.01), (0.013, 0.013), (7.0, 0.5), (f64::NAN, 0.01)] {
            assert!((Margin::of_claim(floor).get() - margin).abs() < 1e-12, "{floor}");
        }
    }

    #[test]
    fn a_file_cannot_smuggle_in_a_level_of_one() {
        assert!(serde_json::from_str::<Level>("1.0").is_err());
        assert_eq!(serde_json::from_str::<Margin>("0.01").unwrap(), Margin::ONE_PERCENT);
    }
}
