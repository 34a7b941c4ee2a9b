//! Going through a space in the order of its values, for when draws find nothing new.

use serde::{Deserialize, Serialize};
use tilewright_genome::{Genome, SearchSpace};

/// Values tried in one call: bounds its time in a space of many dead ends.
const MOST_STEPS: usize = 20_000;

/// A depth-first walk that can be interrupted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Scan {
    /// For each gene entered, its open values and how many of them were tried.
    stack: Vec<(Vec<u16>, usize)>,
    values: Vec<u16>,
    over: bool,
}

impl Scan {
    /// Whether every point has been passed.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// The next legal point that is `wanted`; `None` at the end, or when none was found within the steps of
    /// one call.
    pub(super) fn next(&mut self, space: &SearchSpace, wanted: impl Fn(&Genome) -> bool) -> Option<Genome> {
        let genes = space.genes().len();
        for _ in 0..MOST_STEPS {
            // The one point of a space without genes is found by a draw.
            if self.over || genes == 0 {
                self.over = true;
                return None;
            }
            if self.stack.is_empty() || self.values.len() == self.stack.len() && self.values.len() < genes {
                self.enter(space);
            }
            // The walk stands at a gene whose value was taken back.
            let Some((open, tried)) = self.stack.last_mut() else {
                self.over = true;
                return None;
            };
            let Some(&value) = open.get(*tried) else {
                self.stack.pop();
                self.over = self.values.pop().is_none();
                continue;
            };
            *tried += 1;
            self.values.push(value);
            if self.values.len() == genes {
                let genome = Genome(self.values.clone().into());
                self.values.pop();
                if space.decode(&genome).is_ok() && wanted(&genome) {
                    return Some(genome);
                }
            }
        }
        None
    }

    /// Begins with the next gene.
    fn enter(&mut self, space: &SearchSpace) {
        let gene = self.values.len();
        let mut padded = self.values.clone();
        padded.resize(space.genes().len(), 0);
        let mut open = space.open_values(&Genome(padded.into()), gene);
        if open.is_empty() {
            // Without effect, and 0; or at a dead end, which decoding refuses.
            open.push(0);
        }
        self.stack.push((open, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;
    use std::collections::BTreeSet;
    use tilewright_genome::{Constraint, Gene};
    use tilewright_ir::ScheduleValue::Number;

    fn all(space: &SearchSpace) -> Vec<Genome> {
        let mut scan = Scan::default();
        let mut found = Vec::new();
        while !scan.is_over() {
            found.extend(scan.next(space, |_| true));
        }
        found
    }

    #[test]
    fn every_legal_point_is_passed_once_in_order() {
        assert_eq!(all(&synthetic::tiny_space()).len(), 12);
        let genes = (0..3).map(|at| Gene::ordered(&format!("g{at}"), "g", (1..=9).collect())).collect();
        let tight = Constraint::new(
            "g0 * g2 = 8",
            &["g0", "g2"],
            |values| matches!(values, [Number(first), Number(last)] if first * last == 8),
        );
        let space = SearchSpace::plain(genes, vec![tight]).unwrap();
        let found = all(&space);
        assert_eq!(found.len(), 4 * 9);
        assert!(found.is_sorted());
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
        assert!(found.iter().all(|genome| space.decode(genome).is_ok()));
        let one = SearchSpace::plain(vec![Gene::ordered("only", "", vec![3])], Vec::new()).unwrap();
        assert_eq!(all(&one), [Genome([0].into())]);
        let none = SearchSpace::plain(Vec::new(), Vec::new()).unwrap();
        assert_eq!(all(&none), []);
    }
}
