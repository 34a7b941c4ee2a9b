use std::collections::BTreeSet;
use std::sync::Arc;

use rand::{Rng, RngExt};
use tilewright_ir::computation::Computation;
use tilewright_ir::{
    Illegal, Limits, SCHEDULE_VERSION, Schedule, ScheduleValue, Workload, starting_schedules,
};

use crate::cardinality::{Cardinality, estimate};
use crate::choose::{around, exactly, nearest};
use crate::contraction;
use crate::enumerated::EnumeratedRules;
use crate::error::SpaceError;
use crate::gene::Gene;
use crate::genome::Genome;
use crate::plain::{self, Constraint};
use crate::row_wise;
use crate::rules::Rules;
use crate::sampling;
use crate::walk::{Engine, First, Position};

/// Restarts of a random walk that ran into a dead end, before the default genome is given instead.
const MOST_RESTARTS: u32 = 1_000;
/// Draws of one point by [`SearchSpace::sample_uniformly`].
const MOST_DRAWS: u32 = 100_000;
/// Different facts kept while counting: bounds time and memory.
const MOST_STATES: usize = 200_000;

/// An ordered list of genes and what is legal between them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SearchSpace {
    genes: Arc<[Gene]>,
    engine: Arc<dyn Engine>,
    default: Genome,
    starts: Arc<[Genome]>,
}

/// What a gene should be when a genome is completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// The value at this index, or nothing.
    Exactly(u16),
    /// The open value nearest to this one: by ratio for numbers; any, for a choice that is not open.
    Near(ScheduleValue),
    /// The open index nearest to this one in the gene's list; any, for a choice that is not open.
    Around(u16),
    /// Any open value, drawn at random.
    Free,
}

impl SearchSpace {
    /// The space of a workload on a target.
    ///
    /// # Errors
    /// When the workload is impossible, or the target cannot run it.
    pub fn of(workload: &Workload, limits: &Limits) -> Result<Self, SpaceError> {
        match workload.operator().describe(workload.parameters())? {
            Computation::Contraction(contraction) => contraction::space(&contraction, limits)
                .map(|space| space.with_starts(&starting_schedules(workload, limits))),
            Computation::RowWise(computation) => row_wise::space(&computation, limits)
                .map(|space| space.with_starts(&starting_schedules(workload, limits))),
        }
    }

    /// A space of plain genes, all of them always active, where every constraint must hold.
    ///
    /// # Errors
    /// When a gene or constraint is malformed, or nothing is legal.
    pub fn plain(genes: Vec<Gene>, constraints: Vec<Constraint>) -> Result<Self, SpaceError> {
        let rules = plain::PlainRules::new(&genes, constraints)?;
        Self::from_rules(genes, rules)
    }

    /// The space of exactly these points, each with one value index per gene; duplicates count once. Drawing
    /// is uniform over the points.
    ///
    /// # Errors
    /// When a gene is malformed, a point does not fit the genes, or there is no point.
    pub fn enumerated(genes: Vec<Gene>, points: Vec<Genome>) -> Result<Self, SpaceError> {
        let rules = EnumeratedRules::new(&genes, points)?;
        Self::from_rules(genes, rules)
    }

    /// A space with rules of its own.
    ///
    /// # Errors
    /// When a gene is malformed, or nothing is legal.
    pub fn from_rules<R: Rules>(genes: Vec<Gene>, rules: R) -> Result<Self, SpaceError> {
        let mut names = BTreeSet::new();
        for gene in &genes {
            let count = gene.values.len();
            if count == 0 || count > usize::from(u16::MAX) + 1 {
                return Err(SpaceError::Values { gene: gene.name.clone(), count });
            }
            if !names.insert(&gene.name) {
                return Err(SpaceError::Twice(gene.name.clone()));
            }
        }
        let default = Genome(Box::default());
        let space = Self { genes: genes.into(), engine: Arc::new(rules), default, starts: Arc::default() };
        let default = match space.encode(&Schedule::default()) {
            Some(default) => default,
            None => match space.engine.first(&space.genes) {
                First::Found(values) => Genome(values.into()),
                First::Nothing => return Err(SpaceError::Nothing),
                First::GaveUp { steps } => return Err(SpaceError::NotFound { steps }),
            },
        };
        Ok(Self { default, ..space })
    }

    /// The same space with the point nearest to `schedule` as its default; unchanged where there is none.
    #[must_use]
    pub fn with_default(self, schedule: &Schedule) -> Self {
        match self.nearest(schedule) {
            Some(default) => Self { default, ..self },
            None => self,
        }
    }

    /// The same space with the points nearest to these schedules to begin a search with, the first as its
    /// default.
    #[must_use]
    pub fn with_starts(self, schedules: &[Schedule]) -> Self {
        let space = match schedules.first() {
            Some(first) => self.with_default(first),
            None => self,
        };
        let mut starts: Vec<Genome> = Vec::new();
        for start in schedules.iter().filter_map(|schedule| space.nearest(schedule)) {
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
        Self { starts: starts.into(), ..space }
    }

    /// Different points to begin a search with: one of each kind of schedule; empty where nothing is known.
    pub fn starts(&self) -> &[Genome] {
        &self.starts
    }

    /// The genes, in order of dependence.
    pub fn genes(&self) -> &[Gene] {
        &self.genes
    }

    /// Whether all genes always have an effect and mean the value of their list, whatever the others are.
    pub fn is_literal(&self) -> bool {
        self.engine.is_literal()
    }

    /// Position of a gene, `None` when there is none of that name.
    pub fn gene(&self, name: &str) -> Option<usize> {
        self.genes.iter().position(|gene| gene.name == name)
    }

    /// A point to begin with: for a workload the one nearest to its default schedule, else what absent
    /// parameters mean, else the first legal one.
    pub fn default_genome(&self) -> &Genome {
        &self.default
    }

    /// A random legal genome: uniform over an enumerated space, else gene after gene by
    /// [`Sampling`](crate::Sampling) among the values still open. In a space so tight that 1,000 attempts end
    /// nowhere, the default.
    pub fn sample(&self, rng: &mut dyn Rng) -> Genome {
        if let Some(drawn) = self.engine.draw(rng) {
            return Genome(drawn.into());
        }
        let wishes = vec![Wish::Free; self.genes.len()];
        (0..MOST_RESTARTS).find_map(|_| self.complete(&wishes, rng)).unwrap_or_else(|| self.default.clone())
    }

    /// A legal genome, each with the same probability, whatever the genes' own distributions; `None` when
    /// 100,000 attempts end nowhere, in a space that is legal in a tiny part.
    ///
    /// A draw gene by gene has the probability ∏ 1/(open values), and is kept with the probability
    /// ∏ (open values)/(values): the product is the same for all.
    pub fn sample_uniformly(&self, rng: &mut dyn Rng) -> Option<Genome> {
        if let Some(drawn) = self.engine.draw(rng) {
            return Some(Genome(drawn.into()));
        }
        (0..MOST_DRAWS).find_map(|_| {
            let (mut values, mut kept) = (Vec::with_capacity(self.genes.len()), 1.0);
            let done = self.engine.walk(&self.genes, &mut |position| {
                let gene = &self.genes[position.gene()];
                let index = if position.active() {
                    let open = position.open(gene);
                    kept *= open.len() as f64 / gene.values.len() as f64;
                    sampling::uniform(&open, rng)?
                } else {
                    0
                };
                values.push(index);
                Some(index)
            });
            (done && rng.random::<f64>() < kept).then(|| Genome(values.into()))
        })
    }

    /// The schedule of a genome; repairs nothing.
    ///
    /// # Errors
    /// When the genome is not legal in this space.
    pub fn decode(&self, genome: &Genome) -> Result<Schedule, Illegal> {
        let mut schedule = Schedule::default();
        self.follow(genome, |position, gene, index| {
            if position.active() {
                schedule.parameters.insert(gene.name.clone(), position.parameter(index));
            }
        })?;
        Ok(schedule)
    }

    /// The genome of a schedule; absent parameters have their defaults. `None` when the schedule is no point
    /// of this space: of another version, with an unknown parameter, or with a value that is not open.
    pub fn encode(&self, schedule: &Schedule) -> Option<Genome> {
        let known = |name: &String| self.genes.iter().any(|gene| gene.name == *name);
        if schedule.version != SCHEDULE_VERSION || !schedule.parameters.keys().all(known) {
            return None;
        }
        let mut values = Vec::with_capacity(self.genes.len());
        let done = self.engine.walk(&self.genes, &mut |position| {
            let gene = &self.genes[position.gene()];
            let given = schedule.parameters.get(&gene.name);
            let index = if position.active() {
                let wanted = given.cloned().or_else(|| position.default())?;
                exactly(position, gene, &wanted)?
            } else if given.is_none() || given == position.default().as_ref() {
                0
            } else {
                return None;
            };
            values.push(index);
            Some(index)
        });
        done.then(|| Genome(values.into()))
    }

    /// The legal genome nearest to a schedule, parameters that the space does not know left aside; `None` at a
    /// dead end.
    pub fn nearest(&self, schedule: &Schedule) -> Option<Genome> {
        let mut values = Vec::with_capacity(self.genes.len());
        let done = self.engine.walk(&self.genes, &mut |position| {
            let gene = &self.genes[position.gene()];
            let wanted = schedule.parameters.get(&gene.name).cloned().or_else(|| position.default());
            let index = if position.active() {
                wanted
                    .and_then(|wanted| nearest(position, gene, &wanted))
                    .or_else(|| position.open(gene).first().copied())?
            } else {
                0
            };
            values.push(index);
            Some(index)
        });
        done.then(|| Genome(values.into()))
    }

    /// Number of legal points: exact where counting is feasible.
    pub fn cardinality(&self, rng: &mut dyn Rng) -> Cardinality {
        self.cardinality_without(&[], rng)
    }

    /// Number of legal points that differ in more than the genes named.
    pub fn cardinality_without(&self, names: &[&str], rng: &mut dyn Rng) -> Cardinality {
        if let Some(points) = self.engine.total().filter(|_| names.is_empty()) {
            return Cardinality::Exact(points);
        }
        let counted: Vec<bool> = self.genes.iter().map(|gene| !names.contains(&gene.name.as_str())).collect();
        let count = self.engine.count(&self.genes, &counted, MOST_STATES);
        if count.complete {
            return Cardinality::Exact(count.points);
        }
        let estimate = estimate(self.engine.as_ref(), &self.genes, &counted, 10_000, rng);
        Cardinality::AtLeast { proven: count.points, estimate: estimate.max(count.points as f64) }
    }

    /// Indices that a gene may have after the genes before it; empty when it has no effect, or when a value
    /// before it is not legal.
    pub fn open_values(&self, genome: &Genome, gene: usize) -> Vec<u16> {
        let mut open = Vec::new();
        self.engine.walk(&self.genes, &mut |position| {
            if position.gene() == gene {
                if position.active() {
                    open = position.open(&self.genes[gene]);
                }
                return None;
            }
            genome.0.get(position.gene()).copied().filter(|&index| self.judge(position, index).is_ok())
        });
        open
    }

    /// What each gene means: `None` for one without effect.
    ///
    /// # Errors
    /// When the genome is not legal in this space.
    pub fn meanings(&self, genome: &Genome) -> Result<Vec<Option<ScheduleValue>>, Illegal> {
        let mut meanings = Vec::with_capacity(self.genes.len());
        self.follow(genome, |position, _, index| {
            meanings.push(position.active().then(|| position.parameter(index)));
        })?;
        Ok(meanings)
    }

    /// A legal genome as near as possible to a wish per gene; genes that gain an effect and are not wished
    /// for are drawn at random. `None` at a dead end, or when an exact wish is not open.
    pub fn complete(&self, wishes: &[Wish], rng: &mut dyn Rng) -> Option<Genome> {
        let mut values = Vec::with_capacity(self.genes.len());
        let done = self.engine.walk(&self.genes, &mut |position| {
            let gene = &self.genes[position.gene()];
            let index = if position.active() {
                match wishes.get(position.gene()) {
                    Some(&Wish::Exactly(index)) => self.judge(position, index).is_ok().then_some(index)?,
                    Some(Wish::Near(value)) => match nearest(position, gene, value) {
                        Some(index) => index,
                        None => sampling::draw(&position.open(gene), gene.sampling, rng)?,
                    },
                    Some(&Wish::Around(wanted)) => match around(position, gene, wanted) {
                        Some(index) => index,
                        None => sampling::draw(&position.open(gene), gene.sampling, rng)?,
                    },
                    Some(Wish::Free) | None => sampling::draw(&position.open(gene), gene.sampling, rng)?,
                }
            } else {
                0
            };
            values.push(index);
            Some(index)
        });
        done.then(|| Genome(values.into()))
    }

    /// Walks along a genome, checking each value before it is visited.
    fn follow(
        &self,
        genome: &Genome,
        mut visit: impl FnMut(&dyn Position, &Gene, u16),
    ) -> Result<(), Illegal> {
        if genome.0.len() != self.genes.len() {
            return Err(Illegal::Parameter {
                parameter: "genome".to_owned(),
                found: format!("{} genes", genome.0.len()),
                allowed: format!("{} genes", self.genes.len()),
            });
        }
        let mut illegal = None;
        self.engine.walk(&self.genes, &mut |position| {
            let index = genome.0[position.gene()];
            match self.judge(position, index) {
                Ok(()) => {
                    visit(position, &self.genes[position.gene()], index);
                    Some(index)
                }
                Err(reason) => {
                    illegal = Some(reason);
                    None
                }
            }
        });
        illegal.map_or(Ok(()), Err)
    }

    fn judge(&self, position: &dyn Position, index: u16) -> Result<(), Illegal> {
        let gene = &self.genes[position.gene()];
        if usize::from(index) >= gene.values.len() {
            return Err(Illegal::Parameter {
                parameter: gene.name.clone(),
                found: format!("value number {index}"),
                allowed: format!("below {}", gene.values.len()),
            });
        }
        if position.active() {
            return position
                .check(index)
                .map_err(|refusal| refusal.explain(&gene.name, Some(&position.parameter(index))));
        }
        if index != 0 {
            return Err(Illegal::Parameter {
                parameter: gene.name.clone(),
                found: format!("value number {index}"),
                allowed: "0, since it has no effect here".to_owned(),
            });
        }
        Ok(())
    }
}
