//! Judges a gain pair by pair, valid at whatever pair one stops.
//!
//! Each pair is a bet on the candidate winning by more than the margin, and one
//! on it losing by more; see [`crate::e_process`]. The gate replays the pairs in
//! order and decides at the first one that makes a wealth of 1/`level`, which is
//! where a measurement would have stopped. Only signs are used, so a heavy tail
//! or a second mode costs nothing; and where the side that goes first is drawn at
//! random, signs of identical kernels are fair coins whatever the machine does.
//!
//! ```
//! use tilewright_stats::{Decision, Evidence, Gate, SignEProcess};
//! let pairs = |n| Evidence::Pairs { incumbent: vec![100.0; n], candidate: vec![95.0; n] };
//! assert_eq!(SignEProcess::DEFAULT.judge(&pairs(12)).kind, Decision::Inconclusive);
//! assert_eq!(SignEProcess::DEFAULT.judge(&pairs(13)).kind, Decision::Faster);
//! ```
//!
//! Ramdas et al. 2023; Howard & Ramdas 2022 for the interval of the median.

use super::finding::{Effect, Finding};
use super::{Gate, sealed::Sealed};
use crate::e_process::{Betting, median_sequence};
use crate::samples::median;
use crate::{Evidence, Level, Margin, SampleError, Settings, SettingsError, log_ratios};

/// Sequential gate with a margin. See `docs/statistics.md`.
///
/// The interval of its verdict holds at any stopping time too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignEProcess {
    /// Relative effect that must be exceeded.
    pub margin: Margin,
    /// Probability of ever deciding wrongly on one side; the wealth must reach its inverse.
    pub level: Level,
}

impl SignEProcess {
    /// 1 % at e ≥ 1000.
    pub const DEFAULT: Self = Self { margin: Margin::ONE_PERCENT, level: Level::ONE_IN_A_THOUSAND };

    /// A comparison to feed with pairs as they are measured; it decides where this gate will.
    pub fn start(&self) -> Betting {
        Betting::new(self.margin, self.level)
    }
}

impl Gate for SignEProcess {
    fn id(&self) -> &'static str {
        "sign_e_process"
    }

    fn settings(&self) -> Settings {
        Settings::of([("margin", self.margin.get()), ("level", self.level.get())])
    }

    fn with(&self, settings: &Settings) -> Result<Box<dyn Gate>, SettingsError> {
        let settings = settings.only(&["margin", "level"])?;
        Ok(Box::new(Self { margin: settings.margin()?, level: settings.level()? }))
    }
}

impl Sealed for SignEProcess {
    fn decide(&self, evidence: &Evidence) -> Result<Finding, SampleError> {
        let Evidence::Pairs { incumbent, candidate } = evidence else {
            return Ok(Finding::unsuitable(evidence));
        };
        let ratios = log_ratios(incumbent, candidate)?;
        let mut betting = self.start();
        for &ratio in &ratios {
            betting.observe(ratio);
        }
        let interval = median_sequence(&ratios, Level::FIVE_PERCENT);
        Ok(Finding::new(betting.decision(), &Effect { log: median(&ratios)?, interval }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;

    #[test]
    fn the_gate_decides_where_the_running_comparison_did() {
        let gate = SignEProcess { level: Level::ONE_PERCENT, ..SignEProcess::DEFAULT };
        let candidate: Vec<f64> = (0..40).map(|i| if i % 8 == 3 { 101.0 } else { 95.0 }).collect();
        let mut betting = gate.start();
        let stop = candidate
            .iter()
            .position(|time: &f64| betting.observe(time.ln() - 100.0_f64.ln()) != Decision::Inconclusive);
        let stop = stop.unwrap();
        let judge = |pairs: usize| {
            let candidate = candidate[..pairs].to_vec();
            gate.judge(&Evidence::Pairs { incumbent: vec![100.0; pairs], candidate }).kind
        };
        assert_eq!((judge(stop), judge(stop + 1)), (Decision::Inconclusive, Decision::Faster));
    }

    #[test]
    fn a_margin_of_ten_percent_ignores_five() {
        let gate = SignEProcess { margin: Margin::new(0.1).unwrap(), ..SignEProcess::DEFAULT };
        let pairs = Evidence::Pairs { incumbent: vec![100.0; 500], candidate: vec![95.0; 500] };
        assert_eq!(gate.judge(&pairs).kind, Decision::Inconclusive);
    }
}
