use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tilewright_stats::correlation::spearman;

/// Trials that count: what a model is good for changes while it learns.
const WINDOW: usize = 64;
/// Fewest trials that show anything.
const FEWEST: usize = 5;

/// How well something predicted trials before they were evaluated (prequentially; Dawid 1984, "Statistical
/// theory: the prequential approach").
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Skill {
    /// Predicted and found, the last trials.
    trials: VecDeque<(f64, f64)>,
}

impl Skill {
    /// Notes what was predicted for a trial and what was found; numbers that are not finite are left out.
    pub fn note(&mut self, predicted: f64, found: f64) {
        if predicted.is_finite() && found.is_finite() {
            self.trials.push_back((predicted, found));
            if self.trials.len() > WINDOW {
                self.trials.pop_front();
            }
        }
    }

    /// Rank correlation of the last trials, from −1 to 1; 0 for fewer than five.
    pub fn correlation(&self) -> f64 {
        if self.trials.len() < FEWEST {
            return 0.0;
        }
        let (predicted, found): (Vec<f64>, Vec<f64>) = self.trials.iter().copied().unzip();
        spearman(&predicted, &found).unwrap_or(0.0)
    }

    /// Skill that is beyond doubt, 0 or above: the correlation on Fisher's scale, atanh r, less one standard
    /// error, 1.06/√(n − 3) (Fieller, Hartley & Pearson 1957, "Tests for rank correlation coefficients").
    pub fn proven(&self) -> f64 {
        let error = 1.06 / (self.trials.len().max(FEWEST) as f64 - 3.0).sqrt();
        (self.correlation().clamp(-0.999, 0.999).atanh() - error).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skill_needs_enough_trials_and_follows_the_last_ones() {
        let mut skill = Skill::default();
        for at in 0..4 {
            skill.note(f64::from(at), f64::from(at * at));
        }
        assert_eq!((skill.correlation(), skill.proven()), (0.0, 0.0));
        skill.note(f64::NAN, 1.0);
        skill.note(8.0, 64.0);
        // Five trials in perfect order: atanh 0.999 − 1.06/√2.
        assert!(skill.correlation() > 0.99 && (skill.proven() - 3.050).abs() < 1e-3);
        for at in 0..64 {
            skill.note(f64::from(at), f64::from(at * 29 % 64));
        }
        assert!(skill.correlation().abs() < 0.3, "{}", skill.correlation());
        assert!(skill.proven() < 0.2);
    }
}
