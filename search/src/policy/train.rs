use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

use super::features::STATE;
use super::learner::{Learning, Step};
use super::model::Policy;
use super::network::WEIGHTS;
use crate::score::{ScoredSpace, replay};
use crate::strategy::EvolutionPolicy;
use crate::streams;

/// Numbers that shape training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrainSettings {
    /// Searches in all; they are dealt to the spaces in turn.
    pub episodes: u32,
    /// Searches between two steps of the weights.
    pub batch: u32,
    /// Largest step of a weight.
    pub rate: f64,
    /// Share of what the next step earned that counts for this one, from 0 to 1.
    pub discount: f64,
    /// Reward for an edit as improbable as if all were alike.
    pub openness: f64,
}

impl Default for TrainSettings {
    fn default() -> Self {
        Self { episodes: 1_600, batch: 16, rate: 0.02, discount: 0.5, openness: 0.02 }
    }
}

/// Step of the baseline towards the mean of what was earned.
const BASELINE_RATE: f64 = 0.3;

/// Trains a policy by whole searches on recorded spaces, each replayed within its own budget. The same seed
/// gives the same policy with any number of threads; without spaces it stays untrained.
pub fn train(spaces: &[&ScoredSpace], settings: &TrainSettings, seed: u64) -> Policy {
    let mut policy = Policy::untrained(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut adam = Adam::new();
    let batch = settings.batch.max(1);
    for first in (0..settings.episodes).step_by(batch as usize) {
        if spaces.is_empty() {
            break;
        }
        let numbers = first..settings.episodes.min(first + batch);
        let episodes: Vec<Vec<Step>> = numbers
            .into_par_iter()
            .map(|number| {
                let space = spaces[number as usize % spaces.len()];
                let mut strategy = EvolutionPolicy::with(policy.clone(), Learning::Recorded);
                replay(space, &mut strategy, streams::of_run(seed, space.name(), number));
                strategy.into_learner().into_episode()
            })
            .collect();
        improve(&mut policy, &mut adam, &episodes, settings);
    }
    policy
}

/// What each step earned together with what followed it.
fn returns(episode: &[Step], settings: &TrainSettings) -> Vec<f64> {
    let mut following = 0.0;
    let mut returns: Vec<f64> = episode
        .iter()
        .rev()
        .map(|step| {
            following = step.earned + settings.openness * step.surprise + settings.discount * following;
            following
        })
        .collect();
    returns.reverse();
    returns
}

/// One step of weights and baseline along the mean gradient over searches, each counting alike.
fn improve(policy: &mut Policy, adam: &mut Adam, episodes: &[Vec<Step>], settings: &TrainSettings) {
    let mut gradient = vec![0.0; WEIGHTS];
    let mut baseline = [0.0; STATE];
    let advantages: Vec<Vec<f64>> = episodes
        .iter()
        .map(|episode| {
            let found = returns(episode, settings);
            found.iter().zip(episode).map(|(found, step)| found - policy.expected(&step.state)).collect()
        })
        .collect();
    let all = advantages.iter().flatten();
    let count = all.clone().count();
    let deviation = (all.map(|advantage| advantage * advantage).sum::<f64>() / count.max(1) as f64).sqrt();
    if deviation <= 0.0 {
        return;
    }
    for (episode, advantages) in episodes.iter().zip(&advantages) {
        let share = 1.0 / (episode.len().max(1) * episodes.len()) as f64;
        for (step, advantage) in episode.iter().zip(advantages) {
            let factor = share * advantage / deviation;
            for (sum, derivative) in gradient.iter_mut().zip(&step.gradient) {
                *sum += factor * derivative;
            }
            for (sum, feature) in baseline.iter_mut().zip(&step.state) {
                *sum += share * advantage * feature;
            }
        }
    }
    adam.step(&mut policy.weights, &gradient, settings.rate);
    for (weight, derivative) in policy.baseline.iter_mut().zip(&baseline) {
        *weight += BASELINE_RATE * derivative;
    }
}

/// Steps scaled by moving averages of each derivative and its square (Kingma & Ba 2015, with their constants).
#[derive(Debug)]
struct Adam {
    means: Vec<f64>,
    squares: Vec<f64>,
    steps: i32,
}

impl Adam {
    const MEAN: f64 = 0.9;
    const SQUARE: f64 = 0.999;
    const LEAST: f64 = 1e-8;

    fn new() -> Self {
        Self { means: vec![0.0; WEIGHTS], squares: vec![0.0; WEIGHTS], steps: 0 }
    }

    /// Moves the weights upwards.
    fn step(&mut self, weights: &mut [f64], gradient: &[f64], rate: f64) {
        self.steps += 1;
        let (of_mean, of_square) = (1.0 - Self::MEAN.powi(self.steps), 1.0 - Self::SQUARE.powi(self.steps));
        for (at, (weight, derivative)) in weights.iter_mut().zip(gradient).enumerate() {
            self.means[at] += (1.0 - Self::MEAN) * (derivative - self.means[at]);
            self.squares[at] += (1.0 - Self::SQUARE) * (derivative * derivative - self.squares[at]);
            let (mean, square) = (self.means[at] / of_mean, self.squares[at] / of_square);
            *weight += rate * mean / (square.sqrt() + Self::LEAST);
        }
    }
}
