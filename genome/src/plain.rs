use std::fmt;
use std::sync::Arc;

use tilewright_ir::ScheduleValue;

use crate::error::SpaceError;
use crate::gene::Gene;
use crate::refusal::Refusal;
use crate::rules::Rules;

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
        f.debug_struct("Constraint")
            .field("text", &self.text)
            .field("genes", &self.genes)
            .finish_non_exhaustive()
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

    fn is_literal(&self) -> bool {
        true
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cardinality, Genome, SearchSpace};
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    fn number(value: &ScheduleValue) -> u64 {
        match value {
            ScheduleValue::Number(number) => *number,
            ScheduleValue::Name(_) => 0,
        }
    }

    fn most(genes: &[&str], product: u64) -> Constraint {
        let text = format!("{} <= {product}", genes.join(" * "));
        Constraint::new(&text, genes, move |values| {
            values.iter().map(|value| number(value)).product::<u64>() <= product
        })
    }

    fn genes(count: usize) -> Vec<Gene> {
        (0..count).map(|at| Gene::ordered(&format!("g{at}"), &format!("g{at}"), (1..=16).collect())).collect()
    }

    // U110
    #[test]
    fn counting_sampling_and_decoding_agree_with_the_constraint() {
        let space = SearchSpace::plain(genes(3), vec![most(&["g0", "g2"], 20)]).unwrap();
        let pairs = (1..=16_u128).flat_map(|x| (1..=16).map(move |y| (x, y))).filter(|(x, y)| x * y <= 20);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        assert_eq!(space.cardinality(&mut rng), Cardinality::Exact(16 * pairs.count() as u128));
        for _ in 0..200 {
            let genome = space.sample(&mut rng);
            let schedule = space.decode(&genome).unwrap();
            assert!(schedule.number("g0").unwrap() * schedule.number("g2").unwrap() <= 20);
            assert_eq!(space.encode(&schedule), Some(genome));
        }
        let reason = space.decode(&Genome([15, 0, 15].into())).unwrap_err().to_string();
        assert!(reason.contains("g0 * g2 <= 20"), "{reason}");
    }

    #[test]
    fn an_entangled_space_gets_a_lower_bound_and_an_estimate() {
        let names: Vec<String> = (0..6).map(|at| format!("g{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let space = SearchSpace::plain(genes(6), vec![most(&names, u64::MAX)]).unwrap();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let Cardinality::AtLeast { proven, estimate } = space.cardinality(&mut rng) else {
            panic!("16^5 beginnings with different facts were all followed")
        };
        let truth = 16_f64.powi(6);
        assert!(proven >= 200_000 && proven as f64 <= truth);
        assert!((estimate / truth - 1.0).abs() < 1e-9);
    }

    #[test]
    fn dead_ends_are_left_and_a_space_without_a_point_is_refused() {
        let tight = Constraint::new("g0 = g1 = g2 = 7", &["g0", "g1", "g2"], |values| {
            values.iter().all(|value| number(value) == 7)
        });
        let space = SearchSpace::plain(genes(3), vec![tight.clone()]).unwrap();
        assert_eq!(*space.default_genome(), Genome([6, 6, 6].into()));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        assert_eq!(space.sample(&mut rng), Genome([6, 6, 6].into()));
        let error = SearchSpace::plain(genes(3), vec![tight, most(&["g0"], 3)]).unwrap_err();
        assert_eq!(error, SpaceError::Nothing);
        let error = SearchSpace::plain(genes(1), vec![most(&["other"], 3)]).unwrap_err();
        assert!(error.to_string().contains("`other`"));
        assert!(matches!(
            SearchSpace::plain(vec![Gene::ordered("empty", "", Vec::new())], Vec::new()),
            Err(SpaceError::Values { count: 0, .. })
        ));
        let twice = [genes(1), genes(1)].concat();
        assert_eq!(SearchSpace::plain(twice, Vec::new()).unwrap_err(), SpaceError::Twice("g0".to_owned()));
    }
}
