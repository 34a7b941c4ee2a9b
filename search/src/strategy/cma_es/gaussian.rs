//! The normal distribution that CMA-ES draws from, and how it learns.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// A draw: `mean + deviation · factor · standard`, with what is learned from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Draw {
    /// Independent standard normal numbers.
    standard: Vec<f64>,
    /// Those correlated: distance from the mean in units of the deviation.
    step: Vec<f64>,
}

/// Mean, overall deviation and covariance in the unit cube, with the two evolution paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Gaussian {
    mean: Vec<f64>,
    deviation: f64,
    /// Covariance matrix, row by row.
    covariance: Vec<Vec<f64>>,
    /// Its lower Cholesky factor.
    factor: Vec<Vec<f64>>,
    path: Vec<f64>,
    deviation_path: Vec<f64>,
    generations: u32,
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

impl Gaussian {
    pub(super) fn new(mean: Vec<f64>, deviation: f64) -> Self {
        let count = mean.len();
        let unit: Vec<Vec<f64>> = (0..count)
            .map(|row| (0..count).map(|column| f64::from(u8::from(row == column))).collect())
            .collect();
        Self {
            mean,
            deviation,
            covariance: unit.clone(),
            factor: unit,
            path: vec![0.0; count],
            deviation_path: vec![0.0; count],
            generations: 0,
        }
    }

    /// Points of a generation: 4 + 3 ln n in n dimensions.
    pub(super) fn generation(&self) -> usize {
        4 + (3.0 * (self.mean.len().max(1) as f64).ln()) as usize
    }

    /// A draw, and where it lies.
    pub(super) fn draw(&self, rng: &mut dyn Rng) -> (Draw, Vec<f64>) {
        let standard: Vec<f64> = self.mean.iter().map(|_| StandardNormal.sample(rng)).collect();
        let step: Vec<f64> = self
            .factor
            .iter()
            .map(|row| row.iter().zip(&standard).map(|(factor, normal)| factor * normal).sum())
            .collect();
        let place = self.mean.iter().zip(&step).map(|(mean, step)| mean + self.deviation * step).collect();
        (Draw { standard, step }, place)
    }

    /// Deviation along a dimension.
    pub(super) fn width(&self, dimension: usize) -> f64 {
        self.deviation * self.covariance[dimension][dimension].max(0.0).sqrt()
    }

    /// Learns from the draws of a generation, best first. The names of the constants are Hansen's.
    pub(super) fn learn(&mut self, best_first: &[Draw], narrowest: &[f64]) {
        let n = self.mean.len() as f64;
        let mu = (best_first.len() / 2).max(1);
        let raw: Vec<f64> = (1..=mu).map(|rank| (mu as f64 + 0.5).ln() - (rank as f64).ln()).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let mu_eff = 1.0 / squares(&weights);
        let c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
        let d_sigma = 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
        let c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n);
        let c_1 = 2.0 / ((n + 1.3).powi(2) + mu_eff);
        let c_mu = (1.0 - c_1).min(2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0).powi(2) + mu_eff));
        let chi = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));

        let mean_of = |part: &dyn Fn(&Draw) -> &Vec<f64>, at: usize| -> f64 {
            weights.iter().zip(best_first).map(|(weight, draw)| weight * part(draw)[at]).sum()
        };
        self.generations += 1;
        for at in 0..self.mean.len() {
            let standard = mean_of(&|draw| &draw.standard, at);
            let path = &mut self.deviation_path[at];
            *path = (1.0 - c_sigma) * *path + (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt() * standard;
        }
        let length = squares(&self.deviation_path).sqrt();
        let fresh = 1.0 - (1.0 - c_sigma).powf(2.0 * f64::from(self.generations));
        let steady = length / fresh.sqrt() < (1.4 + 2.0 / (n + 1.0)) * chi;
        for at in 0..self.mean.len() {
            let step = mean_of(&|draw| &draw.step, at);
            self.mean[at] = (self.mean[at] + self.deviation * step).clamp(0.0, 1.0);
            let push = if steady { (c_c * (2.0 - c_c) * mu_eff).sqrt() * step } else { 0.0 };
            self.path[at] = (1.0 - c_c) * self.path[at] + push;
        }
        let loss = if steady { 0.0 } else { c_1 * c_c * (2.0 - c_c) };
        for row in 0..self.mean.len() {
            for column in 0..self.mean.len() {
                let rank_mu: f64 = weights
                    .iter()
                    .zip(best_first)
                    .map(|(weight, draw)| weight * draw.step[row] * draw.step[column])
                    .sum();
                let entry = &mut self.covariance[row][column];
                *entry = (1.0 - c_1 - c_mu + loss) * *entry
                    + c_1 * self.path[row] * self.path[column]
                    + c_mu * rank_mu;
            }
        }
        self.deviation *= ((c_sigma / d_sigma) * (length / chi - 1.0)).exp().clamp(0.5, 2.0);
        self.deviation = self.deviation.clamp(1e-4, 1.0);
        self.keep_wide(narrowest);
        self.factorise();
    }

    /// Widens every dimension to its narrowest width: below half a step between values all draws would be one
    /// value, and nothing more would be learned of it.
    fn keep_wide(&mut self, narrowest: &[f64]) {
        for (at, &width) in narrowest.iter().enumerate() {
            let least = (width / self.deviation).powi(2);
            if self.covariance[at][at] < least {
                self.covariance[at][at] = least;
            }
        }
    }

    /// Cholesky's factor of the covariance; a matrix that is not positive begins anew as a diagonal one.
    fn factorise(&mut self) {
        let count = self.mean.len();
        for row in 0..count {
            for column in 0..=row {
                let sum: f64 = (0..column).map(|at| self.factor[row][at] * self.factor[column][at]).sum();
                let rest = self.covariance[row][column] - sum;
                if row > column {
                    self.factor[row][column] = rest / self.factor[column][column];
                } else if rest > 1e-12 && rest.is_finite() {
                    self.factor[row][row] = rest.sqrt();
                } else {
                    let mean = std::mem::take(&mut self.mean);
                    *self = Self::new(mean, self.deviation);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_minimum_of_a_tilted_bowl_is_found() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut gaussian = Gaussian::new(vec![0.9; 4], 0.3);
        let height = |place: &[f64]| -> f64 {
            let off: Vec<f64> = place.iter().map(|it| it - 0.4).collect();
            squares(&off) + 50.0 * (off[0] + off[1]).powi(2) + 5.0 * (off[2] - off[3]).powi(2)
        };
        for _ in 0..120 {
            let mut draws: Vec<(f64, Draw)> = (0..gaussian.generation())
                .map(|_| {
                    let (draw, place) = gaussian.draw(&mut rng);
                    (height(&place), draw)
                })
                .collect();
            draws.sort_by(|first, second| first.0.total_cmp(&second.0));
            let draws: Vec<Draw> = draws.into_iter().map(|(_, draw)| draw).collect();
            gaussian.learn(&draws, &[1e-4; 4]);
        }
        assert!(height(&gaussian.mean) < 1e-4, "{:?}", gaussian.mean);
    }
}
