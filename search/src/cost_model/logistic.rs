//! Logistic regression with a ridge penalty: the probability of failing, where failing trials are a linear
//! matter (in logarithms, a limit on a product is one).

use serde::{Deserialize, Serialize};

use super::standard::Design;
use crate::linear::Cholesky;

/// Penalty of the squares of weights, as for standard normal ones.
const PENALTY: f64 = 1.0;
/// Newton steps: it converges quadratically.
const STEPS: usize = 8;

/// Log-odds as a linear function of a design's columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Logistic {
    odds: f64,
    weights: Vec<f64>,
}

impl Logistic {
    /// The same odds for all: `rate` is the probability of failing, above 0 and below 1.
    pub(super) fn constant(rate: f64) -> Self {
        Self { odds: (rate / (1.0 - rate)).ln(), weights: Vec::new() }
    }

    /// Fits weights to which rows `failed`, from the odds of `self`, by Newton's method.
    pub(super) fn fitted(mut self, design: &Design, failed: impl Fn(usize) -> bool) -> Self {
        let size = design.width() + 1;
        let mut solution = vec![0.0; size];
        solution[0] = self.odds;
        for _ in 0..STEPS {
            let mut matrix = vec![0.0; size * size];
            // Derivatives of the penalised log-likelihood; the constant is penalised towards the rate.
            let mut slope: Vec<f64> = solution.iter().map(|weight| -PENALTY * weight).collect();
            slope[0] = -PENALTY * (solution[0] - self.odds);
            for row in 0..design.rows() {
                let values = design.row(row);
                let odds = solution[0] + values.iter().zip(&solution[1..]).map(|(x, w)| x * w).sum::<f64>();
                let failure = 1.0 / (1.0 + (-odds).exp());
                let rest = f64::from(u8::from(failed(row))) - failure;
                let spread = failure * (1.0 - failure);
                slope[0] += rest;
                matrix[0] += spread;
                for (at, &value) in values.iter().enumerate() {
                    slope[at + 1] += rest * value;
                    let line = &mut matrix[(at + 1) * size..][..at + 2];
                    line[0] += spread * value;
                    for (cell, other) in line[1..].iter_mut().zip(values) {
                        *cell += spread * value * other;
                    }
                }
            }
            for at in 0..size {
                matrix[at * size + at] += PENALTY;
            }
            let Some(factor) = Cholesky::of(&matrix, size) else { break };
            for (weight, step) in solution.iter_mut().zip(factor.solve(&slope)) {
                *weight += step.clamp(-4.0, 4.0);
            }
        }
        self.odds = solution[0];
        self.weights = solution.split_off(1);
        self
    }

    /// Log-odds without any column.
    pub(super) fn odds(&self) -> f64 {
        self.odds
    }

    /// Weight of each column of the design it was fitted to; none for one with constant odds.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }
}
