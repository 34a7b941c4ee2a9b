use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tilewright_stats::Decision;

use super::Scored;
use super::table::Table;

/// Most trials that are learned from: bounds the time of a refit.
const CAPACITY: usize = 500;
/// Share of the trials of a subject, the fastest, that are kept however old.
const KEPT: f64 = 0.2;

/// A judged trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    /// Features, in the order of the history's names; those that were added later are missing.
    features: Vec<f32>,
    group: usize,
    /// `None` for one that failed.
    score: Option<f32>,
}

/// The judged trials that a model learns from, oldest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct History {
    names: Vec<String>,
    /// Subjects that trials belong to; only those of one subject are compared.
    groups: Vec<String>,
    rows: Vec<Row>,
    /// Trials taken in, and how many they were when the model was last fitted.
    taken: usize,
    fitted: usize,
}

/// What a model is fitted to: column after column, with the valid trials first.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) names: Arc<[String]>,
    pub(super) columns: Vec<Vec<f32>>,
    /// Score of each valid trial less the median of its subject.
    pub(super) scores: Vec<f64>,
    /// Subject of each valid trial.
    pub(super) groups: Vec<usize>,
    /// Median score of the subject last learned from.
    pub(super) centre: f64,
    /// All trials, failed ones included.
    pub(super) rows: usize,
}

impl History {
    /// Takes judged trials in; failures count only when they were reproduced.
    pub(super) fn take(&mut self, features: &Table, judged: &[Scored<'_>]) {
        assert_eq!(features.rows(), judged.len(), "one row of features for each trial");
        for name in features.names().iter() {
            if !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
        let columns = features.find(&self.names);
        for (row, scored) in judged.iter().enumerate() {
            let score = scored.score.filter(|score| score.is_finite());
            if score.is_none() && scored.judged.verdict().kind != Decision::Failed {
                continue;
            }
            let subject = scored.judged.subject().candidate.subject.to_string();
            let group = self.groups.iter().position(|group| *group == subject).unwrap_or_else(|| {
                self.groups.push(subject);
                self.groups.len() - 1
            });
            let features = columns.iter().map(|column| column.map_or(f32::NAN, |column| column[row]));
            let score = score.map(|score| score as f32);
            self.rows.push(Row { features: features.collect(), group, score });
            self.taken += 1;
            if self.rows.len() > CAPACITY {
                self.drop_one();
            }
        }
    }

    /// Forgets the oldest trial that is not among the fastest of its subject.
    fn drop_one(&mut self) {
        let group = self.rows[0].group;
        let mut scores: Vec<f32> =
            self.rows.iter().filter(|row| row.group == group).filter_map(|row| row.score).collect();
        scores.sort_by(f32::total_cmp);
        let limit = scores.get((scores.len() as f64 * KEPT) as usize).copied();
        let slow = |row: &Row| {
            row.group == group && row.score.zip(limit).is_none_or(|(score, limit)| score >= limit)
        };
        let at = self.rows.iter().position(slow).unwrap_or(0);
        self.rows.remove(at);
    }

    /// Whether enough was taken in since the last fit for another one: a tenth more. Fits so become rarer, and
    /// their time stays a small share of a long search.
    pub(super) fn is_due(&self) -> bool {
        self.taken >= self.fitted + (self.fitted / 10).max(1)
    }

    /// What to fit a model to now.
    pub(super) fn sample(&mut self) -> Sample {
        self.fitted = self.taken;
        let newest = self.rows.last().map(|row| row.group);
        let medians: Vec<f64> = (0..self.groups.len()).map(|group| self.median(group)).collect();
        let valid = self.rows.iter().filter(|row| row.score.is_some());
        let ordered: Vec<&Row> =
            valid.clone().chain(self.rows.iter().filter(|row| row.score.is_none())).collect();
        let columns = (0..self.names.len())
            .map(|column| {
                ordered.iter().map(|row| row.features.get(column).copied().unwrap_or(f32::NAN)).collect()
            })
            .collect();
        let scored = valid.filter_map(|row| Some((row.group, f64::from(row.score?))));
        let (groups, scores) = scored.map(|(group, score)| (group, score - medians[group])).unzip();
        Sample {
            names: self.names.iter().cloned().collect(),
            columns,
            scores,
            groups,
            centre: newest.map_or(0.0, |group| medians[group]),
            rows: ordered.len(),
        }
    }

    /// Fits made so far change with every trial taken in: a number to draw from.
    pub(super) fn taken(&self) -> u64 {
        self.taken as u64
    }

    fn median(&self, group: usize) -> f64 {
        let mut scores: Vec<f32> =
            self.rows.iter().filter(|row| row.group == group).filter_map(|row| row.score).collect();
        scores.sort_by(f32::total_cmp);
        scores.get(scores.len() / 2).copied().map_or(0.0, f64::from)
    }
}

impl Sample {
    /// Number of valid trials.
    pub(super) fn valid(&self) -> usize {
        self.scores.len()
    }

    /// Number of failed trials.
    pub(super) fn failed(&self) -> usize {
        self.rows - self.scores.len()
    }

    /// Probability that any candidate fails: Laplace's rule of succession with one trial, half of it failed.
    pub(super) fn failure_rate(&self) -> f64 {
        (self.failed() as f64 + 0.5) / (self.rows as f64 + 1.0)
    }
}
