//! Spaces that are an explicit list of points.

use std::sync::Arc;

use rand::{Rng, RngExt};
use tilewright_ir::ScheduleValue;

use crate::error::SpaceError;
use crate::gene::Gene;
use crate::genome::Genome;
use crate::refusal::Refusal;
use crate::rules::Rules;

/// Legal is what the list holds. Points are sorted, so that those with a common beginning lie together: the
/// facts after some genes are the part of the list that is left.
#[derive(Debug)]
pub(crate) struct EnumeratedRules {
    /// One list of value indices per gene; the `i`-th entries of all of them are the `i`-th point.
    columns: Vec<Arc<[u16]>>,
    points: usize,
}

impl EnumeratedRules {
    pub(crate) fn new(genes: &[Gene], mut points: Vec<Genome>) -> Result<Self, SpaceError> {
        for point in &points {
            let inside = |(gene, &index): (&Gene, &u16)| usize::from(index) < gene.values.len();
            if point.0.len() != genes.len() || !genes.iter().zip(&point.0).all(inside) {
                return Err(SpaceError::Point(point.clone()));
            }
        }
        points.sort_unstable();
        points.dedup();
        if points.is_empty() {
            return Err(SpaceError::Nothing);
        }
        let column = |gene: usize| points.iter().map(|point| point.0[gene]).collect();
        Ok(Self { columns: (0..genes.len()).map(column).collect(), points: points.len() })
    }

    /// The part of `(start, end)` whose points have this value.
    fn part(&self, gene: usize, index: u16, (start, end): (usize, usize)) -> (usize, usize) {
        let column = &self.columns[gene][start..end];
        let from = column.partition_point(|&value| value < index);
        let length = column[from..].partition_point(|&value| value == index);
        (start + from, start + from + length)
    }
}

impl Rules for EnumeratedRules {
    type Facts = (usize, usize);

    fn start(&self) -> (usize, usize) {
        (0, self.points)
    }

    fn active(&self, _gene: usize, _facts: &(usize, usize)) -> bool {
        true
    }

    fn check(&self, gene: usize, index: u16, facts: &(usize, usize)) -> Result<(), Refusal<'_>> {
        let (start, end) = self.part(gene, index, *facts);
        if start < end {
            return Ok(());
        }
        Err(Refusal::Value { allowed: "a value that a listed point has after the values before it" })
    }

    fn note(&self, gene: usize, index: u16, facts: &mut (usize, usize)) {
        *facts = self.part(gene, index, *facts);
    }

    fn default(&self, _gene: usize, _facts: &(usize, usize)) -> Option<ScheduleValue> {
        None
    }

    fn draw(&self, rng: &mut dyn Rng) -> Option<Vec<u16>> {
        let at = rng.random_range(0..self.points);
        Some(self.columns.iter().map(|column| column[at]).collect())
    }

    fn total(&self) -> Option<u128> {
        Some(self.points as u128)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::{Cardinality, SearchSpace, crossover, mutations};
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    fn genes() -> Vec<Gene> {
        vec![
            Gene::ordered("block", "block", vec![16, 32, 48, 64, 80]),
            Gene::categorical("load", "load", &["plain", "cached"]),
            Gene::ordered("tile", "tile", vec![1, 2, 3, 4, 5, 6]),
        ]
    }

    /// Skewed on purpose: block 16 has one point, block 64 has most.
    fn points() -> Vec<Genome> {
        let mut points = vec![Genome([0, 0, 5].into())];
        for load in 0..2 {
            points.extend((0..6).map(|tile| Genome([3, load, tile].into())));
        }
        points.extend([Genome([1, 1, 0].into()), Genome([4, 0, 2].into())]);
        points
    }

    fn rng() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(5)
    }

    #[test]
    fn every_point_is_drawn_equally_often() {
        let space = SearchSpace::enumerated(genes(), points()).unwrap();
        let mut counts: BTreeMap<Genome, f64> = BTreeMap::new();
        let draws = 15_000;
        let mut rng = rng();
        for _ in 0..draws {
            *counts.entry(space.sample(&mut rng)).or_default() += 1.0;
        }
        assert_eq!(counts.len(), points().len());
        let expected = f64::from(draws) / points().len() as f64;
        let chi: f64 = counts.values().map(|count| (count - expected).powi(2) / expected).sum();
        // 99.9 % quantile of chi-square with 14 degrees of freedom.
        assert!(chi < 36.1, "{chi}");
    }

    #[test]
    fn exactly_the_listed_points_are_legal_and_they_are_counted() {
        let space = SearchSpace::enumerated(genes(), points()).unwrap();
        assert_eq!(space.cardinality(&mut rng()), Cardinality::Exact(15));
        let listed: BTreeSet<Genome> = points().into_iter().collect();
        for (block, load, tile) in
            (0..5).flat_map(|b| (0..2).flat_map(move |l| (0..6).map(move |t| (b, l, t))))
        {
            let genome = Genome([block, load, tile].into());
            let schedule = space.decode(&genome);
            assert_eq!(schedule.is_ok(), listed.contains(&genome), "{genome}");
            if let Ok(schedule) = schedule {
                assert_eq!(space.encode(&schedule), Some(genome));
            }
        }
    }

    #[test]
    fn changed_and_crossed_points_are_listed_and_many() {
        let space = SearchSpace::enumerated(genes(), points()).unwrap();
        let mut rng = rng();
        for mutation in mutations() {
            let mut children = BTreeSet::new();
            for _ in 0..500 {
                let parent = space.sample(&mut rng);
                if let Some(child) = mutation.apply(&space, &parent, &mut rng) {
                    assert!(space.decode(&child).is_ok(), "{}", mutation.id());
                    children.insert(child);
                }
            }
            let wanted = if matches!(mutation.id(), "swap_order" | "trade" | "scale") { 0 } else { 2 };
            assert!(children.len() >= wanted, "{}: {}", mutation.id(), children.len());
        }
        for _ in 0..200 {
            let parents = [space.sample(&mut rng), space.sample(&mut rng)];
            if let Some(child) = crossover(&space, &parents[0], &parents[1], &mut rng) {
                assert!(space.decode(&child).is_ok());
            }
        }
    }

    #[test]
    fn points_outside_the_genes_and_empty_lists_are_refused() {
        let outside = vec![Genome([0, 0, 9].into())];
        let error = SearchSpace::enumerated(genes(), outside).unwrap_err();
        assert!(error.to_string().contains("0.0.9"), "{error}");
        let short = vec![Genome([0].into())];
        assert!(matches!(SearchSpace::enumerated(genes(), short), Err(SpaceError::Point(_))));
        assert_eq!(SearchSpace::enumerated(genes(), Vec::new()).unwrap_err(), SpaceError::Nothing);
    }
}
