use std::collections::BTreeMap;
use std::fmt;

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::gene::Gene;
use crate::rules::Rules;
use crate::sampling;
use crate::walk::Engine;

/// Number of legal points of a space.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cardinality {
    /// Counted exactly.
    Exact(u128),
    /// Too entangled to count.
    AtLeast {
        /// So many were counted.
        proven: u128,
        /// Mean of random probes: unbiased, of unknown spread.
        estimate: f64,
    },
}

impl Cardinality {
    /// A number that the space is proven not to fall below.
    pub fn at_least(self) -> u128 {
        match self {
            Self::Exact(proven) | Self::AtLeast { proven, .. } => proven,
        }
    }
}

impl fmt::Display for Cardinality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(count) => write!(f, "{count}"),
            Self::AtLeast { proven, estimate } => write!(f, "at least {proven}, about {estimate:.2e}"),
        }
    }
}

/// What counting gave.
pub(crate) struct Count {
    pub(crate) points: u128,
    /// Whether nothing was left out.
    pub(crate) complete: bool,
}

/// Counts by dynamic programming: beginnings with equal facts are merged, since they have the same
/// continuations. When there are more than `most_states` different facts after a gene, those with the fewest
/// beginnings are left out, and the result is a lower bound.
pub(crate) fn count<R: Rules>(rules: &R, genes: &[Gene], counted: &[bool], most_states: usize) -> Count {
    let mut states = BTreeMap::from([(rules.start(), 1_u128)]);
    let mut complete = true;
    for (gene, description) in genes.iter().enumerate() {
        let mut next: BTreeMap<R::Facts, u128> = BTreeMap::new();
        for (facts, ways) in &states {
            let mut follow = |index| {
                let mut facts = facts.clone();
                rules.note(gene, index, &mut facts);
                let sum = next.entry(facts).or_insert(0);
                match sum.checked_add(*ways) {
                    Some(more) => *sum = more,
                    None => complete = false,
                }
            };
            if !rules.active(gene, facts) {
                follow(0);
                continue;
            }
            let open = (0..description.values.len() as u32)
                .map(|index| index as u16)
                .filter(|&index| rules.check(gene, index, facts).is_ok());
            let most = if counted[gene] { usize::MAX } else { 1 };
            open.take(most).for_each(&mut follow);
        }
        if next.len() > most_states {
            complete = false;
            let mut kept: Vec<_> = next.into_iter().collect();
            kept.sort_by_key(|(_, ways)| std::cmp::Reverse(*ways));
            kept.truncate(most_states);
            next = kept.into_iter().collect();
        }
        states = next;
    }
    let points = states.values().try_fold(0_u128, |sum, ways| sum.checked_add(*ways));
    complete &= points.is_some();
    let points = points.unwrap_or(u128::MAX);
    Count { points, complete }
}

/// Mean of `probes` products of numbers of open values along random walks; a dead end counts 0.
///
/// Knuth 1975, "Estimating the efficiency of backtrack programs": the expectation is the number of leaves.
pub(crate) fn estimate(
    engine: &dyn Engine,
    genes: &[Gene],
    counted: &[bool],
    probes: u32,
    rng: &mut dyn Rng,
) -> f64 {
    let mut sum = 0.0;
    for _ in 0..probes {
        let mut product = 1.0;
        let done = engine.walk(genes, &mut |position| {
            if !position.active() {
                return Some(0);
            }
            let open = position.open(&genes[position.gene()]);
            if !counted[position.gene()] {
                return open.first().copied();
            }
            product *= open.len() as f64;
            sampling::uniform(&open, rng)
        });
        if done {
            sum += product;
        }
    }
    sum / f64::from(probes)
}
