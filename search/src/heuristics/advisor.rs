use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tilewright_genome::{Genome, SearchSpace};

use super::heuristic::Heuristic;
use crate::strategy::Axes;

/// Known points whose mean predicts that of an unknown one.
const NEAREST: usize = 4;
/// Share of the genes with more than one value that a heuristic must know by name.
const FEWEST_KNOWN: f64 = 0.5;

/// A heuristic mapped into the space of another search.
///
/// Parameters are matched by name, and their values by meaning: a number goes to the nearest number that is
/// legal, a name to the same name. Predictions are places in the order of the heuristic's points, from 0 for
/// the fastest to 1; of a point that it does not know, those of the nearest that it does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advisor {
    origin: String,
    /// Share of the heuristic's points that are points of this space as they are.
    fit: f64,
    /// Points of this space, the best first, each once.
    best_first: Vec<Genome>,
    /// Place in the order of each point.
    places: BTreeMap<Genome, f64>,
    /// Where each lies, in the order of `places`.
    positions: Vec<Vec<f64>>,
}

impl Advisor {
    /// What a heuristic says of this space; `None` when it knows too little of its genes.
    pub fn of(heuristic: &Heuristic, space: &SearchSpace) -> Option<Self> {
        let axes = Axes::of(space);
        // A schedule names only what differs from the default, so all of them together are asked.
        let known = heuristic.parameters();
        let names =
            axes.iter().filter(|axis| known.contains(&space.genes()[axis.gene].name.as_str())).count();
        if (names as f64) < FEWEST_KNOWN * axes.len() as f64 {
            return None;
        }
        let (mut best_first, mut places) = (Vec::new(), BTreeMap::new());
        let last = heuristic.points().len().saturating_sub(1).max(1) as f64;
        let mut exact = 0;
        for (at, point) in heuristic.points().iter().enumerate() {
            let same = space.encode(&point.schedule);
            exact += u32::from(same.is_some());
            let genome = same.or_else(|| space.nearest(&point.schedule));
            let Some(genome) = genome.filter(|genome| space.decode(genome).is_ok()) else { continue };
            if places.contains_key(&genome) {
                continue;
            }
            let place = if point.score.is_some() { at as f64 / last } else { 1.0 };
            places.insert(genome.clone(), place);
            if point.score.is_some() {
                best_first.push(genome);
            }
        }
        let positions = places.keys().map(|genome| axes.position(genome)).collect();
        (!best_first.is_empty()).then(|| Self {
            origin: heuristic.subject.to_string(),
            fit: f64::from(exact) / heuristic.points().len() as f64,
            best_first,
            places,
            positions,
        })
    }

    /// Where the heuristic comes from.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Share of the heuristic's points that are points of this space as they are, from 0 to 1.
    pub fn fit(&self) -> f64 {
        self.fit
    }

    /// Its points, the best first.
    pub fn best_first(&self) -> &[Genome] {
        &self.best_first
    }

    /// Where a point is expected in the order, from 0 for the fastest to 1.
    pub fn predict(&self, space: &SearchSpace, genome: &Genome) -> f64 {
        if let Some(&place) = self.places.get(genome) {
            return place;
        }
        let axes = Axes::of(space);
        let here = axes.position(genome);
        let apart = |there: &[f64]| here.iter().zip(there).map(|(a, b)| (a - b).abs()).sum::<f64>();
        let mut nearest: Vec<(f64, f64)> = self
            .positions
            .iter()
            .zip(self.places.values())
            .map(|(there, &place)| (apart(there), place))
            .collect();
        let count = NEAREST.min(nearest.len());
        if nearest.len() > count {
            nearest.select_nth_unstable_by(count - 1, |first, second| first.0.total_cmp(&second.0));
        }
        nearest[..count].iter().map(|(_, place)| place).sum::<f64>() / count as f64
    }
}
