//! A loss that asks for the right order: pairs of trials of one subject, the faster before the slower, each
//! pair with the weight of what exchanging its two would change.
//!
//! Burges 2010, "From RankNet to LambdaRank to LambdaMART: an overview". What a place in the order is worth
//! is the normalised discounted cumulative gain of Järvelin & Kekäläinen 2002, with the share of the best
//! trial's speed as a trial's gain.

use super::trees::Derivatives;

/// Scores that differ by less are not told apart: noise.
const SAME: f64 = 0.002;
/// Weight of a pair whose places in the order are of equal worth, beside 1 for the first and the last place:
/// the order of the slow ones shows what makes slow.
const LEAST_WEIGHT: f32 = 0.2;

/// Pairs to be ordered.
#[derive(Debug)]
pub(super) struct Pairs {
    /// The faster row, the slower one, and the difference of their gains.
    ordered: Vec<(u32, u32, f32)>,
    /// Rows of each subject.
    subjects: Vec<Vec<u32>>,
    /// Factor that makes the weights of a row's pairs sum to about 1.
    scale: f32,
}

impl Pairs {
    /// Pairs among `rows`: in the order of scores, each with those 1, 2, 4, 8 … places behind, so that near and
    /// far ones are compared, and their number grows as n·log n.
    pub(super) fn among(rows: &[u32], scores: &[f64], groups: &[usize]) -> Self {
        let count = groups.iter().max().map_or(0, |most| most + 1);
        let mut subjects = vec![Vec::new(); count];
        for &row in rows {
            subjects[groups[row as usize]].push(row);
        }
        let mut pairs = Vec::new();
        for subject in &mut subjects {
            subject.sort_by(|&a, &b| scores[a as usize].total_cmp(&scores[b as usize]).then(a.cmp(&b)));
            let Some(&best) = subject.first() else { continue };
            let score = |row: u32| scores[row as usize] - scores[best as usize];
            for (place, &faster) in subject.iter().enumerate() {
                let mut distance = 1;
                while let Some(&slower) = subject.get(place + distance) {
                    if score(slower) - score(faster) > SAME {
                        let gain = (-score(faster)).exp() - (-score(slower)).exp();
                        pairs.push((faster, slower, gain as f32));
                    }
                    distance *= 2;
                }
            }
        }
        let mean = 2.0 * pairs.len() as f32 / rows.len().max(1) as f32;
        Self { ordered: pairs, subjects, scale: 1.0 / mean.max(1.0) }
    }

    /// Whether there is nothing to order.
    pub(super) fn is_empty(&self) -> bool {
        self.ordered.is_empty()
    }

    /// Derivatives of the loss at these outputs; rows without a pair get 0.
    pub(super) fn derive(&mut self, outputs: &[f32], worth: &mut [f32], derivatives: &mut Derivatives) {
        derivatives.clear();
        for subject in &mut self.subjects {
            subject.sort_by(|&a, &b| outputs[a as usize].total_cmp(&outputs[b as usize]).then(a.cmp(&b)));
            for (place, &row) in subject.iter().enumerate() {
                worth[row as usize] = 1.0 / (place as f32 + 2.0).log2();
            }
        }
        for &(faster, slower, gain) in &self.ordered {
            let (faster, slower) = (faster as usize, slower as usize);
            let places = (worth[faster] - worth[slower]).abs();
            let weight = self.scale * gain * (LEAST_WEIGHT + (1.0 - LEAST_WEIGHT) * places);
            // Probability that the order is the wrong one.
            let wrong = 1.0 / (1.0 + (outputs[slower] - outputs[faster]).exp());
            let (first, second) = (weight * wrong, weight * wrong * (1.0 - wrong));
            derivatives.first[faster] += first;
            derivatives.first[slower] -= first;
            derivatives.second[faster] += second;
            derivatives.second[slower] += second;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_of_one_subject_and_the_pull_is_towards_the_right_order() {
        let scores = [0.0, 0.5, 0.5005, 0.2, 0.9];
        let groups = [0, 0, 0, 1, 1];
        let mut pairs = Pairs::among(&[0, 1, 2, 3, 4], &scores, &groups);
        let named: Vec<(u32, u32)> = pairs.ordered.iter().map(|pair| (pair.0, pair.1)).collect();
        assert_eq!(named, [(0, 1), (0, 2), (3, 4)]);
        let mut derivatives = Derivatives::zero(5);
        pairs.derive(&[1.0, 0.0, 0.0, 0.0, 0.0], &mut [0.0; 5], &mut derivatives);
        assert!(derivatives.first[0] > 0.0 && derivatives.first[1] < 0.0);
        assert!(derivatives.first[3] > 0.0 && derivatives.first[4] < 0.0);
        assert!(derivatives.second.iter().all(|&second| second > 0.0));
        let sum: f32 = derivatives.first.iter().sum();
        assert!(sum.abs() < 1e-6);
        assert!(Pairs::among(&[], &[], &[]).is_empty());
    }
}
