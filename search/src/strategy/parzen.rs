//! Tree-structured Parzen estimator: the fast points and the others each give a density per gene; draws from
//! the fast points' density compete by the ratio of the two.
//!
//! Bergstra, Bardenet, Bengio & Kégl 2011, "Algorithms for hyper-parameter optimization". Densities are over
//! the values of each gene: a kernel on their places for ordered ones, smoothed counts for choices.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

use super::Proposal;
use super::axes::{Axes, Axis};
use super::memory::{Observation, by_score};
use super::neighbours::freshened;
use super::searcher::{Context, Method};

/// Share of the points that count as fast, and the most of them.
const FAST: f64 = 0.15;
const MOST_FAST: usize = 32;
/// Points remembered: the fastest, and of the others the latest.
const HISTORY: usize = 256;
/// Draws that compete for one proposal.
const DRAWS: usize = 16;
/// Weight of the uniform prior, in points.
const PRIOR: f64 = 1.0;
/// Judged points before densities are made anew.
const RENEWAL: usize = 1;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Parzen {
    /// Fastest first, then the others by age.
    fast: Vec<Observation>,
    others: Vec<Observation>,
    seen: usize,
    next_other: usize,
    densities: Option<Densities>,
    news: usize,
}

/// For each axis the probability of each value, among fast points and among the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Densities {
    fast: Vec<Vec<f64>>,
    others: Vec<Vec<f64>>,
}

impl Method for Parzen {
    const ID: &'static str = "parzen";
    const SUMMARY: &'static str = "tree-structured Parzen estimator";
    const DESIGN: usize = 12;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        if self.fast.is_empty() {
            return None;
        }
        if self.densities.is_none() || self.news >= RENEWAL {
            self.news = 0;
            self.densities = Some(Densities {
                fast: densities(context.axes, &self.fast),
                others: densities(context.axes, &self.others),
            });
        }
        let densities = self.densities.as_ref()?;
        let mut best: Option<(f64, Genome)> = None;
        for _ in 0..DRAWS {
            let genes = context
                .axes
                .iter()
                .zip(&densities.fast)
                .map(|(axis, density)| (axis.gene, draw(density, rng)));
            let genes: Vec<(usize, u16)> = genes.collect();
            let Some(genome) = context.axes.complete(context.space, genes.into_iter(), rng) else { continue };
            if !context.memory.is_new(&genome) {
                continue;
            }
            let ratio = densities.ratio(context.axes, &genome);
            if best.as_ref().is_none_or(|(most, _)| ratio > *most) {
                best = Some((ratio, genome));
            }
        }
        let genome = match best {
            Some((_, genome)) => genome,
            None => freshened(context, self.fast[rng.random_range(0..self.fast.len())].genome.clone(), rng)?,
        };
        Some(Proposal::random(genome))
    }

    fn learn(&mut self, _context: Context<'_>, observation: &Observation) {
        self.seen += 1;
        self.news += 1;
        let size = ((self.seen as f64 * FAST).ceil() as usize).clamp(1, MOST_FAST);
        let place = self.fast.partition_point(|it| by_score(it.score, observation.score).is_le());
        self.fast.insert(place, observation.clone());
        while self.fast.len() > size {
            let Some(slowest) = self.fast.pop() else { break };
            if self.others.len() < HISTORY {
                self.others.push(slowest);
            } else {
                self.next_other = (self.next_other + 1) % HISTORY;
                self.others[self.next_other] = slowest;
            }
        }
    }
}

impl Densities {
    /// Logarithm of the fast points' density over the others'.
    fn ratio(&self, axes: &Axes, genome: &Genome) -> f64 {
        axes.iter()
            .zip(self.fast.iter().zip(&self.others))
            .map(|(axis, (fast, others))| {
                let value = usize::from(genome.0[axis.gene]);
                (fast[value] / others[value]).ln()
            })
            .sum()
    }
}

fn densities(axes: &Axes, points: &[Observation]) -> Vec<Vec<f64>> {
    axes.iter().map(|axis| density(axis, points)).collect()
}

/// Probability of each value of a gene.
fn density(axis: &Axis, points: &[Observation]) -> Vec<f64> {
    let mut counts = vec![0.0; axis.values];
    for point in points {
        counts[usize::from(point.genome.0[axis.gene])] += 1.0;
    }
    let uniform = PRIOR / axis.values as f64;
    let mut density = if axis.ordered && axis.values > 2 { smoothed(&counts, points.len()) } else { counts };
    for value in &mut density {
        *value += uniform;
    }
    let sum: f64 = density.iter().sum();
    density.iter().map(|value| value / sum).collect()
}

/// Counts spread over neighbouring values by a triangle whose width shrinks as points become more (Scott's
/// rule, n^(-1/5), of the number of values).
fn smoothed(counts: &[f64], points: usize) -> Vec<f64> {
    let width = (0.25 * counts.len() as f64 * (points.max(1) as f64).powf(-0.2)).max(1.0);
    let reach = width.ceil() as usize;
    let mut spread = vec![0.0; counts.len()];
    for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        let (low, high) = (at.saturating_sub(reach), (at + reach).min(counts.len() - 1));
        let weight = |other: usize| (1.0 - other.abs_diff(at) as f64 / (width + 1.0)).max(0.0);
        let sum: f64 = (low..=high).map(weight).sum();
        for (other, value) in spread.iter_mut().enumerate().take(high + 1).skip(low) {
            *value += count * weight(other) / sum;
        }
    }
    spread
}

/// A value drawn with these probabilities.
fn draw(density: &[f64], rng: &mut dyn Rng) -> u16 {
    let mut rest = rng.random::<f64>();
    for (at, share) in density.iter().enumerate() {
        rest -= share;
        if rest < 0.0 {
            return at as u16;
        }
    }
    (density.len() - 1) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_spread_without_loss() {
        let mut counts = vec![0.0; 20];
        counts[0] = 3.0;
        counts[10] = 2.0;
        let spread = smoothed(&counts, 5);
        assert!((spread.iter().sum::<f64>() - 5.0).abs() < 1e-9);
        assert!(spread[0] > spread[1] && spread[10] > spread[11] && spread[9] > 0.0 && spread[16] == 0.0);
    }
}
