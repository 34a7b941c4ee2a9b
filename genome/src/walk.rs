//! Walking through a space gene by gene, with the type of the facts hidden.

use std::collections::BTreeSet;
use std::fmt::Debug;

use rand::Rng;
use tilewright_ir::ScheduleValue;

use crate::cardinality::{Count, count};
use crate::gene::Gene;
use crate::refusal::Refusal;
use crate::rules::Rules;

/// One gene, after the choices for all genes before it.
pub(crate) trait Position {
    fn gene(&self) -> usize;
    fn active(&self) -> bool;
    /// Whether an active gene may have the value at this index of its list.
    fn check(&self, index: u16) -> Result<(), Refusal<'_>>;
    fn parameter(&self, index: u16) -> ScheduleValue;
    fn default(&self) -> Option<ScheduleValue>;
}

impl dyn Position + '_ {
    /// Indices of all values that the gene may have.
    pub(crate) fn open(&self, gene: &Gene) -> Vec<u16> {
        (0..gene.values.len()).map(|index| index as u16).filter(|&index| self.check(index).is_ok()).collect()
    }
}

/// Chooses a value for a gene; `None` ends the walk.
pub(crate) type Chooser<'a> = dyn FnMut(&dyn Position) -> Option<u16> + 'a;

/// A space's rules without their type.
pub(crate) trait Engine: Debug + Send + Sync {
    /// Asks for one value per gene; `false` when the chooser ended the walk. Values are taken as they are:
    /// checking them is the chooser's business.
    fn walk(&self, genes: &[Gene], choose: &mut Chooser<'_>) -> bool;

    /// See [`Rules::is_literal`].
    fn is_literal(&self) -> bool;

    /// A legal point, the first in the order of values; dead facts are not entered twice.
    fn first(&self, genes: &[Gene]) -> First;

    /// Counts legal points; genes that are not `counted` stay at their first open value.
    fn count(&self, genes: &[Gene], counted: &[bool], most_states: usize) -> Count;

    /// A random point, where the rules can draw one at once.
    fn draw(&self, rng: &mut dyn Rng) -> Option<Vec<u16>>;

    /// Number of points, where it is known.
    fn total(&self) -> Option<u128>;
}

/// What a search for a legal point gave.
pub(crate) enum First {
    Found(Vec<u16>),
    Nothing,
    GaveUp { steps: usize },
}

/// Values tried by [`Engine::first`] before it gives up.
const MOST_STEPS: usize = 2_000_000;

struct Here<'a, R: Rules> {
    rules: &'a R,
    genes: &'a [Gene],
    gene: usize,
    facts: &'a R::Facts,
}

impl<R: Rules> Position for Here<'_, R> {
    fn gene(&self) -> usize {
        self.gene
    }

    fn active(&self) -> bool {
        self.rules.active(self.gene, self.facts)
    }

    fn check(&self, index: u16) -> Result<(), Refusal<'_>> {
        self.rules.check(self.gene, index, self.facts)
    }

    fn parameter(&self, index: u16) -> ScheduleValue {
        self.rules.parameter(self.genes, self.gene, index, self.facts)
    }

    fn default(&self) -> Option<ScheduleValue> {
        self.rules.default(self.gene, self.facts)
    }
}

impl<R: Rules> Engine for R {
    fn walk(&self, genes: &[Gene], choose: &mut Chooser<'_>) -> bool {
        let mut facts = self.start();
        for gene in 0..genes.len() {
            let Some(index) = choose(&Here { rules: self, genes, gene, facts: &facts }) else {
                return false;
            };
            self.note(gene, index, &mut facts);
        }
        true
    }

    fn is_literal(&self) -> bool {
        Rules::is_literal(self)
    }

    fn first(&self, genes: &[Gene]) -> First {
        let mut dead: BTreeSet<(usize, R::Facts)> = BTreeSet::new();
        // One entry per gene entered: the facts before it, and the index to try next.
        let mut stack: Vec<(R::Facts, u32)> = vec![(self.start(), 0)];
        let mut chosen: Vec<u16> = Vec::new();
        for _ in 0..MOST_STEPS {
            let gene = stack.len() - 1;
            if gene == genes.len() {
                return First::Found(chosen);
            }
            let (facts, next) = &mut stack[gene];
            let active = self.active(gene, facts);
            let count = if active { genes[gene].values.len() as u32 } else { 1 };
            if *next >= count {
                dead.insert((gene, facts.clone()));
                stack.pop();
                if chosen.pop().is_none() {
                    return First::Nothing;
                }
                continue;
            }
            let index = *next as u16;
            *next += 1;
            if active && self.check(gene, index, facts).is_err() {
                continue;
            }
            let mut after = facts.clone();
            self.note(gene, index, &mut after);
            if !dead.contains(&(gene + 1, after.clone())) {
                stack.push((after, 0));
                chosen.push(index);
            }
        }
        First::GaveUp { steps: MOST_STEPS }
    }

    fn count(&self, genes: &[Gene], counted: &[bool], most_states: usize) -> Count {
        count(self, genes, counted, most_states)
    }

    fn draw(&self, rng: &mut dyn Rng) -> Option<Vec<u16>> {
        Rules::draw(self, rng)
    }

    fn total(&self) -> Option<u128> {
        Rules::total(self)
    }
}
