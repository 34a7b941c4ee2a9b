//! What a search has seen of its own genes so far: the part of the state that a policy's features are made of.
//!
//! It belongs to one search on one space and is never carried to another; what is carried is how a policy
//! answers to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

use super::edit::EditKind;

/// Weight of the newest result in a moving average.
const NEWEST: f64 = 0.1;
/// Weight of the overall mean in the mean of a value, in results.
const PRIOR: f64 = 2.0;

/// What became of the edits of one gene.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct GeneRecord {
    /// Edits that were judged.
    pub(super) tries: f64,
    /// Moving average of what they earned, from 0 to 1.
    pub(super) credit: f64,
    /// Moving average of how much they changed the time, up or down: absolute logarithm of the ratio, at most 1.
    pub(super) effect: f64,
    /// Where the last edits led that made it faster (above 0: up) or slower (the other way), from −1 to 1.
    pub(super) heading: f64,
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Experience {
    genes: BTreeMap<u16, GeneRecord>,
    kinds: [f64; EditKind::COUNT],
    success: f64,
    /// Sum of scores and number of results, by gene and value.
    values: BTreeMap<(u16, u16), (f64, f64)>,
    count: f64,
    sum: f64,
    squares: f64,
}

/// An edit that was judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EditResult {
    pub(super) gene: u16,
    pub(super) kind: EditKind,
    /// 1 up, −1 down, 0 neither.
    pub(super) direction: f64,
    /// What it earned, from 0 to 1.
    pub(super) credit: f64,
    /// Logarithm of the parent's time over its own; `None` when it failed or its parent is unknown.
    pub(super) gain: Option<f64>,
}

fn approach(average: &mut f64, value: f64) {
    *average += NEWEST * (value - *average);
}

impl Experience {
    /// Takes in a judged point; `score` is the logarithm of its time on one scale, `None` for a failure, which
    /// counts as one standard deviation slower than the mean.
    pub(crate) fn note_point(&mut self, genome: &Genome, score: Option<f64>) {
        let score = score.unwrap_or_else(|| self.mean() + self.deviation());
        self.count += 1.0;
        self.sum += score;
        self.squares += score * score;
        for (gene, &value) in genome.0.iter().enumerate() {
            let (sum, count) = self.values.entry((gene as u16, value)).or_default();
            *sum += score;
            *count += 1.0;
        }
    }

    pub(super) fn note_edit(&mut self, result: EditResult) {
        let record = self.genes.entry(result.gene).or_default();
        record.tries += 1.0;
        approach(&mut record.credit, result.credit);
        if let Some(gain) = result.gain {
            approach(&mut record.effect, gain.abs().min(1.0));
            if result.direction != 0.0 && gain != 0.0 {
                record.heading = f64::midpoint(record.heading, result.direction * gain.signum());
            }
        }
        approach(&mut self.kinds[result.kind.index()], result.credit);
        approach(&mut self.success, result.credit);
    }

    pub(super) fn gene(&self, gene: usize) -> GeneRecord {
        self.genes.get(&(gene as u16)).copied().unwrap_or_default()
    }

    /// Moving average of what edits of this kind earned.
    pub(super) fn kind(&self, kind: EditKind) -> f64 {
        self.kinds[kind.index()]
    }

    /// Moving average of what all edits earned.
    pub(super) fn success(&self) -> f64 {
        self.success
    }

    /// How much slower the points with this value were than the mean, in standard deviations, drawn towards 0
    /// where there are few; and how many there are.
    pub(super) fn value(&self, gene: usize, value: u16) -> (f64, f64) {
        let (sum, count) = self.values.get(&(gene as u16, value)).copied().unwrap_or_default();
        let deviation = self.deviation();
        if count == 0.0 || deviation <= 0.0 {
            return (0.0, count);
        }
        ((sum - count * self.mean()) / (count + PRIOR) / deviation, count)
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1.0)
    }

    fn deviation(&self) -> f64 {
        (self.squares / self.count.max(1.0) - self.mean().powi(2)).max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_placed_by_the_points_that_had_them() {
        let mut experience = Experience::default();
        assert_eq!(experience.value(0, 0), (0.0, 0.0));
        for at in 0..40_u16 {
            let value = at % 2;
            experience.note_point(&Genome([value, 0].into()), Some(f64::from(value)));
        }
        let (fast, slow) = (experience.value(0, 0).0, experience.value(0, 1).0);
        assert!(fast < -0.8 && slow > 0.8, "{fast} {slow}");
        assert_eq!(experience.value(1, 0), (0.0, 40.0));
        experience.note_point(&Genome([2, 0].into()), None);
        assert!(experience.value(0, 2).0 > 0.0);
    }

    #[test]
    fn edits_leave_credit_effect_and_heading() {
        let mut experience = Experience::default();
        let up = EditResult { gene: 3, kind: EditKind::Step, direction: 1.0, credit: 1.0, gain: Some(-0.2) };
        experience.note_edit(up);
        let record = experience.gene(3);
        assert!(record.heading < 0.0 && record.credit > 0.0 && record.effect > 0.0 && record.tries == 1.0);
        assert_eq!(experience.gene(2), GeneRecord::default());
        assert!(experience.kind(EditKind::Step) > experience.kind(EditKind::Jump));
    }
}
