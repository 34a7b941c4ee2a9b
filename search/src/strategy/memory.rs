//! What a strategy remembers of every point it proposed or was told of.

use std::collections::BTreeMap;
use std::ops::Bound;

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_genome::{Genome, SearchSpace};
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::random::MOST_REPEATS;
use super::scan::Scan;
use crate::scoreboard::Scoreboard;

/// A judged point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Observation {
    pub(super) genome: Genome,
    /// Trial that evaluated it.
    pub(super) trial: u64,
    /// Natural logarithm of its time over the first valid trial's; `None` for a failure.
    pub(super) score: Option<f64>,
}

impl Observation {
    /// Whether it is a better point than `other`: faster, or valid where the other failed.
    pub(super) fn beats(&self, other: &Self) -> bool {
        faster(self.score, other.score)
    }
}

/// Whether the first score is better; a failure is worse than anything valid.
pub(super) fn faster(first: Option<f64>, second: Option<f64>) -> bool {
    match (first, second) {
        (Some(first), Some(second)) => first < second,
        (first, second) => first.is_some() && second.is_none(),
    }
}

/// Order of scores, best first, failures last.
pub(super) fn by_score(first: Option<f64>, second: Option<f64>) -> std::cmp::Ordering {
    first.unwrap_or(f64::INFINITY).total_cmp(&second.unwrap_or(f64::INFINITY))
}

/// What is known of one point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Known {
    /// Proposed, and not told of so far.
    Asked,
    Told {
        trial: u64,
        score: Option<f64>,
    },
}

/// All points proposed or told of, and their scores. Looking one up costs `O(log n)`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Memory {
    points: BTreeMap<Genome, Known>,
    scores: Scoreboard,
    best: Option<Observation>,
    /// Different points judged so far.
    told: usize,
    /// What the trials told of took, ns; 0 where that is not known.
    elapsed_ns: u64,
    scan: Scan,
    /// Where to go on among points that were proposed in vain, once nothing new is left.
    again: Option<Genome>,
}

impl Memory {
    /// Whether a point was neither proposed nor told of.
    pub(super) fn is_new(&self, genome: &Genome) -> bool {
        !self.points.contains_key(genome)
    }

    /// What a point scored, where it was judged.
    pub(super) fn observation(&self, genome: &Genome) -> Option<Observation> {
        match self.points.get(genome)? {
            Known::Asked => None,
            &Known::Told { trial, score } => Some(Observation { genome: genome.clone(), trial, score }),
        }
    }

    /// The fastest valid point so far.
    pub(super) fn best(&self) -> Option<&Observation> {
        self.best.as_ref()
    }

    /// Different points judged so far.
    pub(super) fn told(&self) -> usize {
        self.told
    }

    /// What evaluating took so far, ns; 0 where that is not known.
    pub(super) fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns
    }

    pub(super) fn note_asked(&mut self, genome: &Genome) {
        self.points.entry(genome.clone()).or_insert(Known::Asked);
    }

    /// Takes a judged trial in; `None` when its schedule is no point of this space.
    pub(super) fn note_told(&mut self, space: &SearchSpace, judged: &Judged<Trial>) -> Option<Observation> {
        let trial = judged.subject();
        let score = self.scores.place(judged);
        self.elapsed_ns = self.elapsed_ns.saturating_add(trial.elapsed_ns);
        let genome = space.encode(&trial.candidate.schedule)?;
        let observation = Observation { genome: genome.clone(), trial: trial.index, score };
        let before = self.points.insert(genome, Known::Told { trial: trial.index, score });
        if !matches!(before, Some(Known::Told { .. })) {
            self.told += 1;
        }
        if score.is_some() && self.best.as_ref().is_none_or(|best| observation.beats(best)) {
            self.best = Some(observation.clone());
        }
        Some(observation)
    }

    /// A point that was never proposed: a random one, or the next in order where draws find nothing new. When
    /// none is left, one that was proposed and never judged, except `taken`.
    pub(super) fn unvisited(
        &mut self,
        space: &SearchSpace,
        taken: impl Fn(&Genome) -> bool,
        rng: &mut dyn Rng,
    ) -> Option<Genome> {
        if !self.scan.is_over() {
            for _ in 0..MOST_REPEATS {
                let genome = space.sample(rng);
                if self.is_new(&genome) {
                    return Some(genome);
                }
            }
            let points = &self.points;
            if let Some(genome) = self.scan.next(space, |genome| !points.contains_key(genome)) {
                return Some(genome);
            }
        }
        self.proposed_in_vain(taken)
    }

    fn proposed_in_vain(&mut self, taken: impl Fn(&Genome) -> bool) -> Option<Genome> {
        if self.points.len() == self.told {
            return None;
        }
        let open = |(genome, known): (&Genome, &Known)| {
            (*known == Known::Asked && !taken(genome)).then(|| genome.clone())
        };
        let rest = self.again.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let found = self.points.range((rest, Bound::Unbounded)).find_map(open);
        self.again = found.or_else(|| self.points.iter().find_map(open));
        self.again.clone()
    }
}
