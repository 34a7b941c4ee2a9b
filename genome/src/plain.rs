use std::fmt;
use std::sync::Arc;

use tilewright_ir::ScheduleValue;

use crate::gene::Gene;
use crate::refusal::Refusal;
use crate::rules::Rules;
use crate::space::SpaceError;

/// Tells whether values of the genes that a constraint names, in its order, go together.
type Predicate = dyn Fn(&[&ScheduleValue]) -> bool + Send + Sync;

/// A condition on some genes of a plain space.
#[derive(Clone)]
pub struct Constraint {
    text: String,
    genes: Vec<String>,
    holds: Arc<Predicate>,
}

impl Constraint {
    /// A condition that `text` tells people, on the values of `genes` in this order.
    ///
    /// ```
    /// use tilewright_genome::{Constraint, Gene, SearchSpace};
    /// use tilewright_ir::ScheduleValue::Number;
    ///
    /// let powers = || vec![1, 2, 4, 8, 16, 32, 64];
    /// let genes = vec![Gene::ordered("block_x", "block", powers()), Gene::ordered("block_y", "block", powers())];
    /// let most = Constraint::new("block_x * block_y <= 64", &["block_x", "block_y"], |values| {
    ///     matches!(values, [Number(x), Number(y)] if x * y <= 64)
    /// });
    /// let space = SearchSpace::plain(genes, vec![most])?;
    /// assert!(space.decode(&tilewright_genome::Genome([6, 1].into())).is_err());
    /// # Ok::<(), tilewright_genome::SpaceError>(())
    /// ```
    pub fn new(
        text: &str,
        genes: &[&str],
        holds: impl Fn(&[&ScheduleValue]) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            text: text.to_owned(),
            genes: genes.iter().map(|&gene| gene.to_owned()).collect(),
            holds: Arc::new(holds),
        }
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraint").field("text", &self.text).field("genes", &self.genes).finish()
    }
}

/// A constraint with its genes found.
#[derive(Debug)]
struct Resolved {
    constraint: Constraint,
    names: String,
    genes: Vec<usize>,
}

/// All genes active; each constraint is checked at the last of its genes.
#[derive(Debug)]
pub(crate) struct PlainRules {
    values: Vec<Vec<ScheduleValue>>,
    /// By the last gene they name.
    constraints: Vec<Vec<Resolved>>,
    /// For each gene, the last gene that a constraint checks together with it.
    needed_until: Vec<usize>,
}

/// Value index of a gene that no later constraint asks for.
const FORGOTTEN: u16 = u16::MAX;

impl PlainRules {
    pub(crate) fn new(genes: &[Gene], constraints: Vec<Constraint>) -> Result<Self, SpaceError> {
        let mut by_last: Vec<Vec<Resolved>> = genes.iter().map(|_| Vec::new()).collect();
        let mut needed_until: Vec<usize> = (0..genes.len()).collect();
        for constraint in constraints {
            let mut found = Vec::with_capacity(constraint.genes.len());
            for name in &constraint.genes {
                match genes.iter().position(|gene| gene.name == *name) {
                    Some(gene) => found.push(gene),
                    None => {
                        return Err(SpaceError::UnknownGene {
                            constraint: constraint.text.clone(),
                            gene: name.clone(),
                        });
                    }
                }
            }
            // A constraint on nothing either forbids everything or says nothing.
            let Some(&last) = found.iter().max() else {
                if (constraint.holds)(&[]) {
                    continue;
                }
                return Err(SpaceError::Nothing);
            };
            for &gene in &found {
                needed_until[gene] = needed_until[gene].max(last);
            }
            let names = constraint.genes.join(", ");
            by_last[last].push(Resolved { constraint, names, genes: found });
        }
        let values = genes
            .iter()
            .map(|gene| (0..gene.values.len()).filter_map(|index| gene.value(index as u16)).collect())
            .collect();
        Ok(Self { values, constraints: by_last, needed_until })
    }
}

impl Rules for PlainRules {
    type Facts = Vec<u16>;

    fn start(&self) -> Vec<u16> {
        Vec::new()
    }

    fn active(&self, _gene: usize, _facts: &Vec<u16>) -> bool {
        true
    }

    fn check(&self, gene: usize, index: u16, facts: &Vec<u16>) -> Result<(), Refusal<'_>> {
        for resolved in &self.constraints[gene] {
            let values: Vec<&ScheduleValue> = resolved
                .genes
                .iter()
                .map(|&other| {
                    let at = if other == gene { index } else { facts[other] };
                    &self.values[other][usize::from(at)]
                })
                .collect();
            if !(resolved.constraint.holds)(&values) {
                return Err(Refusal::Conflict {
                    parameters: &resolved.names,
                    conflict: &resolved.constraint.text,
                });
            }
        }
        Ok(())
    }

    fn note(&self, gene: usize, index: u16, facts: &mut Vec<u16>) {
        facts.push(index);
        for (other, value) in facts.iter_mut().enumerate() {
            if self.needed_until[other] <= gene {
                *value = FORGOTTEN;
            }
        }
    }

    fn default(&self, _gene: usize, _facts: &Vec<u16>) -> Option<ScheduleValue> {
        None
    }
}
