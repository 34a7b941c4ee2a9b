//! Ridge regression of scores (logarithms of times) on standardised features and their squares: the plain
//! alternative, with its uncertainty in closed form.
//!
//! The penalty is the one with the least error in leaving one trial out, which needs no second fit (the PRESS
//! statistic). Hoerl & Kennard 1970, "Ridge regression"; Allen 1974, "The relationship between variable
//! selection and data augmentation and a method for prediction"; Bishop 2006, section 3.3, for the predictive
//! variance.

use serde::{Deserialize, Serialize};

use super::history::{History, Sample};
use super::logistic::Logistic;
use super::standard::{Design, Standard};
use super::table::Table;
use super::{CostModel, CostModelEntry, Prediction, Scored};
use crate::linear::Cholesky;
use crate::state::{self, StateError};

pub(super) const ENTRY: CostModelEntry = CostModelEntry {
    id: "ridge",
    create: |_seed| Box::<Ridge>::default(),
    restore: |bytes| {
        let model: Ridge = state::read(bytes)?;
        if model.fitted.as_ref().is_none_or(Fitted::is_sound) {
            Ok(Box::new(model))
        } else {
            Err(StateError::Unreadable("lists of different lengths".to_owned()))
        }
    },
};

/// Penalties to choose from, in the unit of one trial's weight.
const PENALTIES: [f64; 6] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
/// Fewest valid trials to learn from.
const FEWEST: usize = 4;
/// Fewest failures, and fewest valid trials beside them, to learn what fails.
const FEWEST_FAILURES: usize = 3;
/// Rows predicted at a time.
const BLOCK: usize = 256;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ridge {
    history: History,
    fitted: Option<Fitted>,
}

/// What was fitted last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fitted {
    names: Vec<String>,
    standard: Standard,
    intercept: f64,
    weights: Vec<f32>,
    /// Lower triangle of the factor of `XᵀX` + penalty, row by row without zeros; its diagonal inverted.
    lower: Vec<f32>,
    /// Standard deviation of what the model leaves unexplained.
    residual: f64,
    plain: Standard,
    failing: Logistic,
}

impl CostModel for Ridge {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn predict(&self, features: &Table) -> Option<Vec<Prediction>> {
        let fitted = self.fitted.as_ref()?;
        let columns = features.find(&fitted.names);
        let mut predictions = Vec::with_capacity(features.rows());
        for first in (0..features.rows()).step_by(BLOCK) {
            fitted.block(&columns, first, BLOCK.min(features.rows() - first), &mut predictions);
        }
        Some(predictions)
    }

    fn update(&mut self, features: &Table, judged: &[Scored<'_>]) {
        self.history.take(features, judged);
        if self.history.is_due() {
            self.fitted = fit(&self.history.sample());
        }
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}

impl Fitted {
    fn is_sound(&self) -> bool {
        let width = self.standard.width();
        let failing = self.failing.weights().len();
        self.standard.fits(self.names.len())
            && self.plain.fits(self.names.len())
            && self.weights.len() == width
            && self.lower.len() == width * (width + 1) / 2
            && (failing == 0 || failing == self.plain.width())
    }

    /// Predictions for `rows` rows from `first`.
    fn block(
        &self,
        columns: &[Option<&[f32]>],
        first: usize,
        rows: usize,
        predictions: &mut Vec<Prediction>,
    ) {
        let mut means = [0.0_f32; BLOCK];
        let mut odds = [0.0_f32; BLOCK];
        let mut term = [0.0_f32; BLOCK];
        for (at, &weight) in self.failing.weights().iter().enumerate() {
            self.plain.term(at, columns, first, &mut term[..rows]);
            for (odds, value) in odds.iter_mut().zip(&term) {
                *odds += weight as f32 * value;
            }
        }
        // The triangle is solved for all rows at once, column of results by column of results.
        let mut solved = vec![0.0_f32; self.standard.width() * BLOCK];
        let mut squares = [0.0_f32; BLOCK];
        for (at, &weight) in self.weights.iter().enumerate() {
            self.standard.term(at, columns, first, &mut term[..rows]);
            for (mean, value) in means.iter_mut().zip(&term) {
                *mean += weight * value;
            }
            let row = &self.lower[at * (at + 1) / 2..][..=at];
            let (before, here) = solved.split_at_mut(at * BLOCK);
            // Four columns at a time, so that `term` is loaded and stored less often.
            let (fours, rest) = before.as_chunks::<{ 4 * BLOCK }>();
            for (factors, known) in row.chunks_exact(4).zip(fours) {
                for (place, value) in term.iter_mut().enumerate() {
                    *value -= factors[0] * known[place]
                        + factors[1] * known[BLOCK + place]
                        + factors[2] * known[2 * BLOCK + place]
                        + factors[3] * known[3 * BLOCK + place];
                }
            }
            for (&factor, known) in row[4 * fours.len()..].iter().zip(rest.chunks_exact(BLOCK)) {
                for (value, known) in term.iter_mut().zip(known) {
                    *value -= factor * known;
                }
            }
            for ((here, value), square) in here.iter_mut().zip(&term).zip(&mut squares) {
                *here = value * row[at];
                *square += *here * *here;
            }
        }
        predictions.extend((0..rows).map(|row| Prediction {
            score: self.intercept + f64::from(means[row]),
            uncertainty: self.residual * (1.0 + f64::from(squares[row])).sqrt(),
            failure: 1.0 / (1.0 + (-self.failing.odds() - f64::from(odds[row])).exp()),
        }));
    }
}

fn fit(sample: &Sample) -> Option<Fitted> {
    let valid = sample.valid();
    if valid < FEWEST {
        return None;
    }
    let known: Vec<Vec<f32>> = sample.columns.iter().map(|column| column[..valid].to_vec()).collect();
    let standard = Standard::of(&known, true);
    let design = standard.design(&known, valid);
    let mean = sample.scores.iter().sum::<f64>() / valid as f64;
    let rests: Vec<f64> = sample.scores.iter().map(|score| score - mean).collect();
    let width = standard.width();
    let mut products = vec![0.0; width * width];
    let mut targets = vec![0.0; width];
    for (row, rest) in rests.iter().enumerate().filter(|_| width > 0) {
        let values = design.row(row);
        for (at, &value) in values.iter().enumerate() {
            targets[at] += value * rest;
            for (cell, other) in products[at * width..][..=at].iter_mut().zip(values) {
                *cell += value * other;
            }
        }
    }
    let mut best: Option<(f64, Cholesky, Vec<f64>)> = None;
    for penalty in PENALTIES {
        let mut matrix = products.clone();
        for at in 0..width {
            matrix[at * width + at] += penalty;
        }
        let Some(factor) = Cholesky::of(&matrix, width) else { continue };
        let weights = factor.solve(&targets);
        let error = left_out_error(&design, &rests, &factor, &weights);
        if best.as_ref().is_none_or(|best| error < best.0) {
            best = Some((error, factor, weights));
        }
    }
    let (error, factor, weights) = best?;
    let plain = Standard::of(&sample.columns, false);
    let mut failing = Logistic::constant(sample.failure_rate());
    if sample.failed().min(valid) >= FEWEST_FAILURES {
        failing = failing.fitted(&plain.design(&sample.columns, sample.rows), |row| row >= valid);
    }
    let lower = (0..width).flat_map(|row| {
        factor
            .row(row)
            .iter()
            .enumerate()
            .map(move |(column, &value)| if column == row { (1.0 / value) as f32 } else { value as f32 })
    });
    Some(Fitted {
        names: sample.names.to_vec(),
        intercept: mean + sample.centre,
        weights: weights.iter().map(|&weight| weight as f32).collect(),
        lower: lower.collect(),
        residual: error.sqrt(),
        standard,
        plain,
        failing,
    })
}

/// Mean square of the errors made on each trial by the fit to all others: the error of the fit to all, over
/// 1 − h, where h is the trial's leverage xᵀ(XᵀX + penalty)⁻¹x, and 1/n for the mean.
fn left_out_error(design: &Design, rests: &[f64], factor: &Cholesky, weights: &[f64]) -> f64 {
    let count = rests.len() as f64;
    let errors = rests.iter().enumerate().map(|(row, rest)| {
        if design.width() == 0 {
            return rest / (1.0 - 1.0 / count);
        }
        let values = design.row(row);
        let fit: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
        let leverage = factor.quadratic(values) + 1.0 / count;
        (rest - fit) / (1.0 - leverage).max(1e-3)
    });
    errors.map(|error| error * error).sum::<f64>() / count
}
