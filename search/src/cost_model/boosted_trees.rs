//! Boosted trees that learn an order: several small ensembles, each boosted on a bootstrap sample of the
//! trials with a ranking loss; what they say in the mean is the prediction, and how far they are apart is how
//! uncertain it is. Failures are learned apart, as a probability.
//!
//! Outputs of a ranking loss have no unit. They get one from the trials that an ensemble was not fitted to:
//! the line that best leads from the outputs of such ensembles to the scores.
//!
//! Burges 2010 (LambdaMART); Breiman 1996, "Bagging predictors".

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::history::{History, Sample};
use super::ranking::Pairs;
use super::table::Table;
use super::trees::{Binned, Derivatives, Growth, Tree};
use super::{CostModel, CostModelEntry, Prediction, Scored};
use crate::state::{self, StateError};

pub(super) const ENTRY: CostModelEntry = CostModelEntry {
    id: "boosted-trees",
    create: |seed| Box::new(BoostedTrees::new(seed)),
    restore: |bytes| {
        let model: BoostedTrees = state::read(bytes)?;
        let mut trees =
            model.fitted.iter().flat_map(|fitted| fitted.bags.iter().flatten().chain(&fitted.failing));
        if trees.all(Tree::is_sound) {
            Ok(Box::new(model))
        } else {
            Err(StateError::Unreadable("a tree with a wrong number of values".to_owned()))
        }
    },
};

/// Ensembles.
const BAGS: usize = 8;
/// Trees of an ensemble.
const ROUNDS: usize = 14;
/// Trees that tell what fails.
const FAILURE_ROUNDS: usize = 12;
/// Share of features that a tree may ask about: makes ensembles differ, and saves time.
const ASKED: f64 = 0.6;
const RANKING: Growth = Growth { depth: 4, penalty: 0.3, rate: 0.4 };
const FAILING: Growth = Growth { depth: 3, penalty: 1.0, rate: 0.4 };
/// Fewest valid trials to learn from.
const FEWEST: usize = 4;
/// Fewest failures, and fewest valid trials beside them, to learn what fails.
const FEWEST_FAILURES: usize = 3;

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoostedTrees {
    seed: u64,
    history: History,
    fitted: Option<Fitted>,
}

/// What was fitted last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fitted {
    names: Vec<String>,
    bags: Vec<Vec<Tree>>,
    /// From outputs to scores.
    line: Line,
    /// Trees whose sum with `odds` is the logarithm of the odds of failing.
    failing: Vec<Tree>,
    odds: f64,
}

impl BoostedTrees {
    /// A model that has seen nothing.
    pub fn new(seed: u64) -> Self {
        Self { seed, history: History::default(), fitted: None }
    }
}

impl CostModel for BoostedTrees {
    fn id(&self) -> &'static str {
        ENTRY.id
    }

    fn predict(&self, features: &Table) -> Option<Vec<Prediction>> {
        let fitted = self.fitted.as_ref()?;
        let columns = features.find(&fitted.names);
        let rows = features.rows();
        let (mut sums, mut squares) = (vec![0.0_f32; rows], vec![0.0_f32; rows]);
        let mut outputs = vec![0.0_f32; rows];
        for bag in &fitted.bags {
            outputs.fill(0.0);
            for tree in bag {
                tree.add_to(&columns, &mut outputs);
            }
            for ((sum, square), output) in sums.iter_mut().zip(&mut squares).zip(&outputs) {
                *sum += output;
                *square += output * output;
            }
        }
        outputs.fill(0.0);
        for tree in &fitted.failing {
            tree.add_to(&columns, &mut outputs);
        }
        let count = fitted.bags.len().max(1) as f64;
        let Line { intercept, slope, residual } = fitted.line;
        let predictions = sums.iter().zip(&squares).zip(&outputs).map(|((&sum, &square), &odds)| {
            let mean = f64::from(sum) / count;
            let variance = (f64::from(square) / count - mean * mean).max(0.0);
            Prediction {
                score: intercept + slope * mean,
                uncertainty: (slope * slope * variance + residual).sqrt(),
                failure: 1.0 / (1.0 + (-fitted.odds - f64::from(odds)).exp()),
            }
        });
        Some(predictions.collect())
    }

    fn update(&mut self, features: &Table, judged: &[Scored<'_>]) {
        self.history.take(features, judged);
        if self.history.is_due() {
            let sample = self.history.sample();
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(self.history.taken());
            self.fitted = fit(&sample, &mut rng);
        }
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        state::write(self)
    }
}

/// What the ensembles together say of a trial they may have been fitted to.
#[derive(Debug, Clone, Copy, Default)]
struct Said {
    /// Sum of outputs of those that were not fitted to it, and their number.
    unseen: f64,
    strangers: f64,
    sum: f64,
    square: f64,
}

fn fit(sample: &Sample, rng: &mut ChaCha8Rng) -> Option<Fitted> {
    let valid = sample.valid();
    if valid < FEWEST {
        return None;
    }
    let binned = Binned::of(&sample.columns);
    let columns: Vec<Option<&[f32]>> = sample.columns.iter().map(|column| Some(column.as_slice())).collect();
    let mut bags = Vec::with_capacity(BAGS);
    let mut said = vec![Said::default(); valid];
    for _ in 0..BAGS {
        let mut drawn = vec![false; valid];
        for _ in 0..valid {
            drawn[rng.random_range(0..valid)] = true;
        }
        let rows: Vec<u32> = (0..valid as u32).filter(|&row| drawn[row as usize]).collect();
        let (bag, outputs) = boost(&binned, &columns, sample, &rows, rng);
        for ((said, output), drawn) in said.iter_mut().zip(outputs).zip(drawn) {
            let output = f64::from(output);
            said.sum += output;
            said.square += output * output;
            if !drawn {
                said.unseen += output;
                said.strangers += 1.0;
            }
        }
        bags.push(bag);
    }
    let line = Line::through(&said, &sample.scores);
    let (failing, odds) = failing(&binned, &columns, sample, rng);
    Some(Fitted {
        names: sample.names.to_vec(),
        bags,
        line: Line { intercept: line.intercept + sample.centre, ..line },
        failing,
        odds,
    })
}

/// One ensemble on these rows, and its outputs on all valid ones.
fn boost(
    binned: &Binned,
    columns: &[Option<&[f32]>],
    sample: &Sample,
    rows: &[u32],
    rng: &mut ChaCha8Rng,
) -> (Vec<Tree>, Vec<f32>) {
    let mut outputs = vec![0.0; sample.rows];
    let mut worth = vec![0.0; sample.rows];
    let mut derivatives = Derivatives::zero(sample.rows);
    let mut pairs = Pairs::among(rows, &sample.scores, &sample.groups);
    let mut trees = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        if pairs.is_empty() {
            break;
        }
        pairs.derive(&outputs, &mut worth, &mut derivatives);
        let asked = asked(binned.features(), rng);
        if let Some(tree) = binned.grow(rows, &derivatives, &asked, RANKING) {
            tree.add_to(columns, &mut outputs);
            trees.push(tree);
        }
    }
    (trees, outputs)
}

/// Trees that tell failed trials from valid ones, by logistic loss; none where there are too few of either.
fn failing(
    binned: &Binned,
    columns: &[Option<&[f32]>],
    sample: &Sample,
    rng: &mut ChaCha8Rng,
) -> (Vec<Tree>, f64) {
    let rate = sample.failure_rate();
    let odds = (rate / (1.0 - rate)).ln();
    let mut trees = Vec::new();
    if sample.failed().min(sample.valid()) < FEWEST_FAILURES {
        return (trees, odds);
    }
    let rows: Vec<u32> = (0..sample.rows as u32).collect();
    let mut outputs = vec![odds as f32; sample.rows];
    let mut derivatives = Derivatives::zero(sample.rows);
    for _ in 0..FAILURE_ROUNDS {
        for (row, output) in outputs.iter().enumerate() {
            let failure = 1.0 / (1.0 + (-output).exp());
            let failed = f32::from(u8::from(row >= sample.valid()));
            derivatives.first[row] = failure - failed;
            derivatives.second[row] = failure * (1.0 - failure);
        }
        if let Some(tree) = binned.grow(&rows, &derivatives, &asked(binned.features(), rng), FAILING) {
            tree.add_to(columns, &mut outputs);
            trees.push(tree);
        }
    }
    (trees, odds)
}

/// A random choice of features to ask about, in their order.
fn asked(features: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let wanted = ((features as f64 * ASKED).ceil() as usize).max(4).min(features);
    let mut asked: Vec<usize> = (0..features).collect();
    for at in 0..wanted {
        asked.swap(at, rng.random_range(at..features));
    }
    asked.truncate(wanted);
    asked.sort_unstable();
    asked
}

/// A line from outputs to scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Line {
    intercept: f64,
    slope: f64,
    /// Variance about the line that the ensembles' disagreement does not explain.
    residual: f64,
}

impl Line {
    /// The line of least squares for outputs of ensembles on trials that they were not fitted to. The slope is
    /// not negative: a model that is wrong about all of those predicts their mean.
    fn through(said: &[Said], scores: &[f64]) -> Self {
        let points: Vec<(f64, f64)> = said
            .iter()
            .zip(scores)
            .filter(|(said, _)| said.strangers > 0.0)
            .map(|(said, &score)| (said.unseen / said.strangers, score))
            .collect();
        let count = points.len().max(1) as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let xx: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        let xy: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        let slope = if xx > 0.0 { (xy / xx).max(0.0) } else { 0.0 };
        let intercept = y - slope * x;
        let square =
            points.iter().map(|point| (point.1 - intercept - slope * point.0).powi(2)).sum::<f64>() / count;
        let bags = BAGS as f64;
        let spread = said.iter().map(|said| (said.square - said.sum * said.sum / bags) / bags).sum::<f64>()
            / said.len().max(1) as f64;
        Self { intercept, slope, residual: (square - slope * slope * spread).max(0.0) }
    }
}
