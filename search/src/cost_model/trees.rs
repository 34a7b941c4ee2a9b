//! Symmetric regression trees over binned features.
//!
//! All nodes of one level ask the same question, so a tree of depth d is d questions and 2ᵈ values: it is hard
//! to overfit with few trials, and fast to evaluate on many rows. Prokhorenkova et al. 2018, "CatBoost:
//! unbiased boosting with categorical features"; Chen & Guestrin 2016, "XGBoost", for gains and values from
//! first and second derivatives; Ke et al. 2017, "LightGBM", for histograms.

use serde::{Deserialize, Serialize};

/// Most bins of a feature; its values are cut into groups of equal size where there are more.
const MOST_BINS: usize = 32;
/// Most levels of a tree.
const MOST_DEPTH: usize = 6;
/// Rows evaluated at a time, so that their intermediate values stay in the nearest cache.
const BLOCK: usize = 512;

/// Features cut into bins.
#[derive(Debug)]
pub(super) struct Binned {
    features: Vec<Feature>,
}

#[derive(Debug)]
struct Feature {
    column: usize,
    /// Between bins, ascending: bin b holds the values above `thresholds[b - 1]`, and not above `thresholds[b]`.
    thresholds: Vec<f32>,
    /// Bin of each row.
    bins: Vec<u8>,
}

/// How trees are grown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// Levels, at most 6.
    pub(super) depth: usize,
    /// Added to the sum of second derivatives of a leaf.
    pub(super) penalty: f32,
    /// Factor of leaf values.
    pub(super) rate: f32,
}

/// One symmetric tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Tree {
    /// Questions, level by level: is this column above this threshold?
    questions: Vec<(u32, f32)>,
    /// Values; bit l of the index is the answer to question l.
    values: Vec<f32>,
}

/// First and second derivatives of a loss by the output for each row.
#[derive(Debug, Clone, Default)]
pub(super) struct Derivatives {
    pub(super) first: Vec<f32>,
    pub(super) second: Vec<f32>,
}

impl Derivatives {
    pub(super) fn zero(rows: usize) -> Self {
        Self { first: vec![0.0; rows], second: vec![0.0; rows] }
    }

    pub(super) fn clear(&mut self) {
        self.first.fill(0.0);
        self.second.fill(0.0);
    }
}

impl Binned {
    /// Cuts columns of equal length; constant ones and those that tell no more than an earlier one are left out.
    pub(super) fn of(columns: &[Vec<f32>]) -> Self {
        let mut features: Vec<Feature> = Vec::new();
        for (column, values) in columns.iter().enumerate() {
            let thresholds = thresholds(values);
            // What is not a number is in no bin but the first, as when a tree is asked.
            let bin = |value: f32| thresholds.partition_point(|&threshold| value > threshold) as u8;
            let bins: Vec<u8> = values.iter().map(|&value| bin(value)).collect();
            if !thresholds.is_empty() && features.iter().all(|other| other.bins != bins) {
                features.push(Feature { column, thresholds, bins });
            }
        }
        Self { features }
    }

    /// Number of features that tell something.
    pub(super) fn features(&self) -> usize {
        self.features.len()
    }

    /// Grows a tree on `rows`, asking only about the `allowed` features; `None` when nothing can be gained.
    pub(super) fn grow(
        &self,
        rows: &[u32],
        derivatives: &Derivatives,
        allowed: &[usize],
        growth: Growth,
    ) -> Option<Tree> {
        let mut leaf_of = vec![0_u8; rows.len()];
        let mut sums: Vec<(f32, f32)> = rows
            .iter()
            .map(|&row| (derivatives.first[row as usize], derivatives.second[row as usize]))
            .collect();
        let mut questions = Vec::new();
        for level in 0..growth.depth.min(MOST_DEPTH) {
            let leaves = 1 << level;
            let mut best: Option<(f32, usize, usize)> = None;
            for &feature in allowed {
                let histogram = self.features[feature].histogram(rows, &leaf_of, &sums, leaves);
                let bins = self.features[feature].thresholds.len() + 1;
                for (bin, gain) in gains(&histogram, bins, growth.penalty).into_iter().enumerate() {
                    if gain > best.map_or(1e-6, |(gain, ..)| gain * (1.0 + 1e-6)) {
                        best = Some((gain, feature, bin));
                    }
                }
            }
            let Some((_, feature, bin)) = best else { break };
            let feature = &self.features[feature];
            questions.push((feature.column as u32, feature.thresholds[bin]));
            for (leaf, &row) in leaf_of.iter_mut().zip(rows) {
                *leaf |= u8::from(usize::from(feature.bins[row as usize]) > bin) << level;
            }
        }
        if questions.is_empty() {
            return None;
        }
        let mut totals = vec![(0.0_f32, 0.0_f32); 1 << questions.len()];
        for (&leaf, (first, second)) in leaf_of.iter().zip(sums.drain(..)) {
            let total = &mut totals[usize::from(leaf)];
            *total = (total.0 + first, total.1 + second);
        }
        let value = |(first, second): (f32, f32)| -growth.rate * first / (second + growth.penalty);
        Some(Tree { questions, values: totals.into_iter().map(value).collect() })
    }
}

impl Feature {
    /// Sums of derivatives by leaf and bin.
    fn histogram(&self, rows: &[u32], leaf_of: &[u8], sums: &[(f32, f32)], leaves: usize) -> Vec<(f32, f32)> {
        let bins = self.thresholds.len() + 1;
        let mut histogram = vec![(0.0_f32, 0.0_f32); leaves * bins];
        for ((&row, &leaf), (first, second)) in rows.iter().zip(leaf_of).zip(sums) {
            let cell = &mut histogram[usize::from(leaf) * bins + usize::from(self.bins[row as usize])];
            cell.0 += first;
            cell.1 += second;
        }
        histogram
    }
}

/// What is gained by cutting all leaves after each bin but the last.
fn gains(histogram: &[(f32, f32)], bins: usize, penalty: f32) -> Vec<f32> {
    let merit = |(first, second): (f32, f32)| first * first / (second + penalty);
    let mut gains = vec![0.0; bins - 1];
    for leaf in histogram.chunks_exact(bins) {
        let total = leaf.iter().fold((0.0, 0.0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
        let whole = merit(total);
        let mut below = (0.0, 0.0);
        for (gain, cell) in gains.iter_mut().zip(leaf) {
            below = (below.0 + cell.0, below.1 + cell.1);
            *gain += merit(below) + merit((total.0 - below.0, (total.1 - below.1).max(0.0))) - whole;
        }
    }
    gains
}

/// Values between neighbours of a sorted list without repetitions; at most [`MOST_BINS`] − 1 of them.
fn thresholds(values: &[f32]) -> Vec<f32> {
    let mut sorted: Vec<f32> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f32::total_cmp);
    let mut different = sorted.clone();
    different.dedup();
    let middle = |low: f32, high: f32| low + (high - low) / 2.0;
    // Two neighbours may have no number between them: the lower one then is the threshold.
    let between = |low: f32, high: f32| if middle(low, high) < high { middle(low, high) } else { low };
    if different.len() <= MOST_BINS {
        return different.windows(2).map(|pair| between(pair[0], pair[1])).collect();
    }
    let mut cuts: Vec<f32> = (1..MOST_BINS)
        .filter_map(|part| {
            let value = sorted[part * sorted.len() / MOST_BINS];
            let at = different.partition_point(|&other| other < value);
            (at > 0).then(|| between(different[at - 1], different[at]))
        })
        .collect();
    cuts.dedup();
    cuts
}

impl Tree {
    /// Adds its values for all rows of the columns to `outputs`; a column that is `None` answers no.
    pub(super) fn add_to(&self, columns: &[Option<&[f32]>], outputs: &mut [f32]) {
        for (block, outputs) in outputs.chunks_mut(BLOCK).enumerate() {
            let mut leaves = [0_u8; BLOCK];
            for (level, &(column, threshold)) in self.questions.iter().enumerate() {
                let Some(Some(column)) = columns.get(column as usize) else { continue };
                let values = &column[block * BLOCK..][..outputs.len()];
                for (leaf, &value) in leaves.iter_mut().zip(values) {
                    *leaf |= u8::from(value > threshold) << level;
                }
            }
            for (output, &leaf) in outputs.iter_mut().zip(&leaves) {
                *output += self.values[usize::from(leaf)];
            }
        }
    }

    /// Whether it refers to nothing outside its own lists.
    pub(super) fn is_sound(&self) -> bool {
        self.questions.len() <= MOST_DEPTH && self.values.len() == 1 << self.questions.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_part_all_values_where_they_are_few_and_equal_shares_where_they_are_many() {
        assert_eq!(thresholds(&[3.0, 1.0, f32::NAN, 1.0, 2.0]), [1.5, 2.5]);
        assert!(thresholds(&[7.0; 5]).is_empty());
        let next = f32::from_bits(1.0_f32.to_bits() + 1);
        assert_eq!(thresholds(&[1.0, next]), [1.0]);
        let many: Vec<f32> = (0..1_000).map(|at| (at * at) as f32).collect();
        let cuts = thresholds(&many);
        assert_eq!(cuts.len(), MOST_BINS - 1);
        let below = many.iter().filter(|&&value| value <= cuts[15]).count();
        assert!((480..520).contains(&below), "{below}");
    }

    #[test]
    fn a_tree_finds_the_questions_that_matter_and_answers_them_alike_in_blocks() {
        let rows = 1_300;
        let columns: Vec<Vec<f32>> = (0..4)
            .map(|column| (0..rows).map(|row| ((row * (7 + column * 4)) % 23) as f32).collect())
            .collect();
        let truth = |row: usize| if (columns[1][row] > 9.5) == (columns[3][row] > 4.5) { 1.0 } else { -1.0 };
        let binned = Binned::of(&columns);
        let mut derivatives = Derivatives::zero(rows);
        for (row, first) in derivatives.first.iter_mut().enumerate() {
            *first = -truth(row) - 0.3 * f32::from(u8::from(columns[1][row] > 9.5));
        }
        derivatives.second.fill(1.0);
        let all: Vec<u32> = (0..rows as u32).collect();
        let growth = Growth { depth: 2, penalty: 1.0, rate: 1.0 };
        let tree = binned.grow(&all, &derivatives, &[0, 1, 2, 3], growth).unwrap();
        let columns: Vec<Option<&[f32]>> = columns.iter().map(|column| Some(column.as_slice())).collect();
        let mut outputs = vec![0.0; rows];
        tree.add_to(&columns, &mut outputs);
        let right = (0..rows).filter(|&row| outputs[row] * truth(row) > 0.0).count();
        assert!(right as f64 > 0.95 * rows as f64, "{right} of {rows}: {tree:?}");
    }
}
