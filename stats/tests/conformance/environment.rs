//! Machines that disturb times in different ways, and the ways to measure on them.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal, StudentT};
use tilewright_stats::{Evidence, PairedTimes};

/// Times before disturbance, in nanoseconds.
const TIME: f64 = 10_000.0;

/// Kinds of evidence that hold times.
pub(crate) const KINDS: usize = 4;

/// A machine: its name, and the log of the factor by which each of `count` launches is slowed.
pub(crate) struct Environment {
    pub(crate) name: &'static str,
    pub(crate) noise: fn(usize, &mut dyn Rng) -> Vec<f64>,
}

pub(crate) const ENVIRONMENTS: [Environment; 5] = [
    Environment { name: "independent", noise: independent },
    Environment { name: "autocorrelated", noise: autocorrelated },
    Environment { name: "bimodal", noise: bimodal },
    Environment { name: "drifting", noise: drifting },
    Environment { name: "heavy-tailed", noise: heavy_tailed },
];

fn normal(rng: &mut dyn Rng) -> f64 {
    StandardNormal.sample(rng)
}

pub(crate) fn independent(count: usize, rng: &mut dyn Rng) -> Vec<f64> {
    (0..count).map(|_| 0.01 * normal(rng)).collect()
}

fn autocorrelated(count: usize, rng: &mut dyn Rng) -> Vec<f64> {
    let rho: f64 = 0.8;
    let mut state = normal(rng);
    let step = |_| {
        state = rho * state + (1.0 - rho * rho).sqrt() * normal(rng);
        0.01 * state
    };
    (0..count).map(step).collect()
}

fn bimodal(count: usize, rng: &mut dyn Rng) -> Vec<f64> {
    let draw = |_| 0.005 * normal(rng) + if rng.random_bool(0.3) { 0.08 } else { 0.0 };
    (0..count).map(draw).collect()
}

/// A clock that loses a tenth over the measurement, in two steps and a slope.
pub(crate) fn drifting(count: usize, rng: &mut dyn Rng) -> Vec<f64> {
    let at = |i: usize| {
        let share = i as f64 / count as f64;
        0.05 * share + 0.025 * (share * 3.0).floor()
    };
    (0..count).map(|i| at(i) + 0.005 * normal(rng)).collect()
}

fn heavy_tailed(count: usize, rng: &mut dyn Rng) -> Vec<f64> {
    let tail = StudentT::new(2.0).expect("two degrees of freedom are allowed");
    (0..count).map(|_| 0.01 * tail.sample(rng)).collect()
}

impl Environment {
    /// Measured in turns, the side that goes first drawn at random; `ratio` is the true one.
    pub(crate) fn pairs(&self, count: usize, ratio: f64, rng: &mut dyn Rng) -> Evidence {
        self.paired(count, ratio, rng).into()
    }

    /// The same, and once more to confirm.
    pub(crate) fn claim(&self, count: usize, ratio: f64, rng: &mut dyn Rng) -> Evidence {
        let sequential = self.paired(count, ratio, rng);
        Evidence::Claim { sequential, confirmation: self.paired(count, ratio, rng) }
    }

    fn paired(&self, count: usize, ratio: f64, rng: &mut dyn Rng) -> PairedTimes {
        let noise = (self.noise)(2 * count, rng);
        let (mut incumbent, mut candidate) = (Vec::new(), Vec::new());
        for turn in noise.chunks_exact(2) {
            let first = usize::from(rng.random_bool(0.5));
            incumbent.push(TIME * turn[first].exp());
            candidate.push(TIME * ratio * turn[1 - first].exp());
        }
        PairedTimes { incumbent, candidate }
    }

    /// Recorded by themselves, both in the machine's usual course.
    pub(crate) fn samples(&self, count: usize, ratio: f64, rng: &mut dyn Rng) -> Evidence {
        let mut side = |time: f64| (self.noise)(count, rng).iter().map(|noise| time * noise.exp()).collect();
        Evidence::Samples { incumbent: side(TIME), candidate: side(TIME * ratio) }
    }

    /// First all of the incumbent, then all of the candidate: how not to measure.
    pub(crate) fn back_to_back(&self, count: usize, rng: &mut dyn Rng) -> (Vec<f64>, Vec<f64>) {
        let times: Vec<f64> = (self.noise)(2 * count, rng).iter().map(|noise| TIME * noise.exp()).collect();
        (times[..count].to_vec(), times[count..].to_vec())
    }

    /// Evidence of every kind that holds times.
    pub(crate) fn evidence(&self, count: usize, ratio: f64, rng: &mut dyn Rng) -> [Evidence; KINDS] {
        [
            self.pairs(count, ratio, rng),
            self.samples(count, ratio, rng),
            Evidence::Exact { incumbent: TIME, candidate: TIME * ratio },
            self.claim(count, ratio, rng),
        ]
    }
}
