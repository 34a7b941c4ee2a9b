//! The program as a nest with trip counts: what the busiest worker does, and how often.
//!
//! The busiest worker is the first one: dealing in blocks or in turn gives it as many iterations as any
//! other, and what is done once is done by it while the others wait.

use tilewright_ir::Program;
use tilewright_ir::affine::{Affine, Constraint, Index, Variable};
use tilewright_ir::program::{Deal, Dimension, Loop, Mapping, Statement};

use super::constants::{ENTRY_OPERATIONS, FORESEEN_ITERATIONS};
use super::counter::{Linear, MOST_LOOPS, mean_of_least, share_not_negative};
use super::machine::Machine;
use super::place::Places;
use super::region::Region;
use super::work::Work;
use crate::error::SimulateError;

/// A step of the nest.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Loop {
        depth: usize,
        /// Mean number of iterations.
        trips: f64,
        body: Vec<Node>,
    },
    /// One of two bodies; the share of times that it is the first.
    When { share: f64, then: Vec<Node>, otherwise: Vec<Node> },
    /// Position in [`Nest::leaves`].
    Leaf(usize),
}

/// A tile instruction, or an innermost loop with nothing but tile instructions.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    /// How often it is reached, in all.
    pub(super) executions: f64,
    /// Of an innermost loop: depth, mean iterations, copies of the body.
    pub(super) repeated: Option<Repeated>,
    /// Depth and mean iterations of the loop around it.
    pub(super) around: Option<(usize, f64)>,
    /// Of one iteration.
    pub(super) work: Work,
    /// Its first reference, and the one behind its last.
    pub(super) references: (usize, usize),
}

/// An innermost loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeated {
    pub(super) depth: usize,
    pub(super) trips: f64,
    pub(super) unroll: f64,
}

/// One access of an instruction to memory.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    pub(super) writes: bool,
    /// Elements that one execution of the instruction touches.
    pub(super) region: Region,
    /// Whether the loop around asks for it in advance.
    pub(super) prefetched: bool,
}

/// The whole program, as the first worker runs it.
#[derive(Debug, Clone)]
pub(super) struct Nest {
    pub(super) body: Vec<Node>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) references: Vec<Reference>,
    pub(super) places: Places,
    /// Barriers that it passes.
    pub(super) barriers: f64,
    /// Ends of loops around tiles that branch prediction is expected to miss, and scalar operations of them.
    pub(super) loop_ends: f64,
    pub(super) loop_operations: f64,
}

/// Reads the main entry.
pub(super) fn read(program: &Program, machine: &Machine) -> Result<Nest, SimulateError> {
    let entry = program.entries.iter().find(|entry| entry.name == "run");
    let entry = entry.ok_or_else(|| SimulateError::NoEntry { program: program.name.clone() })?;
    let mut values = vec![Linear::ZERO; program.variables.len()];
    for extent in &program.extents {
        let length = extent.quotient.map_or(extent.range.1 as f64, |(of, by)| {
            let of = values.get(of.0 as usize).map_or(0.0, |value| value.constant);
            (of / (by as f64).max(1.0)).ceil()
        });
        if let Some(value) = values.get_mut(extent.variable.0 as usize) {
            *value = Linear::constant(length);
        }
    }
    let fixed = |affine: &Affine| {
        let value = |variable: Variable| values.get(variable.0 as usize).map_or(0.0, |value| value.constant);
        affine.terms().iter().fold(affine.constant() as f64, |sum, &(v, by)| sum + by as f64 * value(v))
    };
    let places = Places::of(program, fixed);
    let workers = program.workers().max(1) as f64;
    let mut reader = Reader {
        program,
        machine,
        values,
        trips: Vec::new(),
        executions: 1.0,
        narrow: vec![false; places.all.len()],
        nest: Nest {
            body: Vec::new(),
            leaves: Vec::new(),
            references: Vec::new(),
            places,
            barriers: 0.0,
            loop_ends: 0.0,
            loop_operations: 0.0,
        },
    };
    let mut body = Vec::new();
    for phase in &entry.phases {
        body.extend(reader.body(phase)?);
    }
    let mut nest = reader.nest;
    nest.body = body;
    nest.barriers = if workers > 1.0 { nest.barriers + entry.phases.len() as f64 } else { 0.0 };
    Ok(nest)
}

/// Walks the statements with what is known of the loops around.
pub(super) struct Reader<'a> {
    pub(super) program: &'a Program,
    pub(super) machine: &'a Machine,
    values: Vec<Linear>,
    pub(super) trips: Vec<f64>,
    executions: f64,
    /// For each place, whether it is a small buffer that was last written in pieces narrower than a vector.
    pub(super) narrow: Vec<bool>,
    pub(super) nest: Nest,
}

impl Reader<'_> {
    fn body(&mut self, statements: &[Statement]) -> Result<Vec<Node>, SimulateError> {
        let mut nodes = Vec::with_capacity(statements.len());
        for statement in statements {
            match statement {
                Statement::Buffer(_) => {}
                Statement::Barrier { .. } => self.nest.barriers += self.executions,
                Statement::Loop(repeated) => nodes.extend(self.repeat(repeated, 0)?),
                Statement::When { condition, then, otherwise } => {
                    let share = self.share(condition)?;
                    let executions = self.executions;
                    self.executions = executions * share;
                    let then = self.body(then)?;
                    self.executions = executions * (1.0 - share);
                    let otherwise = self.body(otherwise)?;
                    self.executions = executions;
                    nodes.push(Node::When { share, then, otherwise });
                }
                Statement::Instruction(instruction) => {
                    let first = self.nest.references.len();
                    let work = self.instruction(instruction, &[])?;
                    nodes.push(self.leaf(None, work, first));
                }
            }
        }
        Ok(nodes)
    }

    fn leaf(&mut self, repeated: Option<Repeated>, work: Work, first: usize) -> Node {
        let references = (first, self.nest.references.len());
        let depth = self.trips.len() - usize::from(repeated.is_some());
        let around = depth.checked_sub(1).map(|depth| (depth, self.trips[depth]));
        self.nest.leaves.push(Leaf { executions: self.executions, repeated, around, work, references });
        Node::Leaf(self.nest.leaves.len() - 1)
    }

    fn repeat(&mut self, repeated: &Loop, at: usize) -> Result<Vec<Node>, SimulateError> {
        let Some(dimension) = repeated.dimensions.get(at) else { return self.body(&repeated.body) };
        let depth = self.trips.len();
        if depth >= MOST_LOOPS {
            return Err(SimulateError::TooLarge {
                what: "depth of loops",
                found: depth + 1,
                most: MOST_LOOPS,
            });
        }
        let start = self.index(&dimension.start)?;
        let all = self.iterations(dimension, &start)?;
        let (trips, stride) = self.dealt(repeated.over.as_ref(), all);
        if trips <= 0.0 {
            return Ok(Vec::new());
        }
        let mut value = start;
        value.by[depth] = dimension.step as f64 * stride;
        *self.value(dimension.variable)? = value;
        self.trips.push(trips);
        let innermost = at + 1 == repeated.dimensions.len()
            && repeated.body.iter().all(|statement| matches!(statement, Statement::Instruction(_)));
        let node = if innermost {
            let unroll = f64::from(repeated.unroll.max(1));
            let first = self.nest.references.len();
            let mut work = Work { entry: ENTRY_OPERATIONS, ..Work::default() };
            for statement in &repeated.body {
                if let Statement::Instruction(instruction) = statement {
                    work.add(&self.instruction(instruction, &repeated.prefetch)?, 1.0);
                }
            }
            self.prefetches(&mut work, first, depth, unroll);
            self.leaf(Some(Repeated { depth, trips, unroll }), work, first)
        } else {
            let executions = self.executions;
            self.executions *= trips;
            let body = self.repeat(repeated, at + 1)?;
            self.executions = executions;
            self.nest.loop_operations += executions * trips;
            self.nest.loop_ends += executions * unforeseen_end(trips);
            Node::Loop { depth, trips, body }
        };
        self.trips.pop();
        Ok(vec![node])
    }

    /// Software prefetches: one for each new line, and one for each copy of the body.
    fn prefetches(&self, work: &mut Work, first: usize, depth: usize, unroll: f64) {
        for reference in self.nest.references[first..].iter().filter(|reference| reference.prefetched) {
            let place = &self.nest.places.all[reference.region.place];
            let advance = place.advance(reference.region.spans.iter().map(|span| span.by[depth])).abs();
            let issued = (advance / self.machine.stores[0].line + 1.0 / unroll).min(1.0);
            work.loads += issued;
            work.operations += issued;
        }
    }

    /// Mean number of iterations of all workers together.
    fn iterations(&self, dimension: &Dimension, start: &Linear) -> Result<f64, SimulateError> {
        let lengths = dimension.stop.iter().map(|stop| Ok(self.index(stop)?.minus(start)));
        let lengths = lengths.collect::<Result<Vec<_>, SimulateError>>()?;
        let step = (dimension.step as f64).max(1.0);
        Ok(mean_of_least(&lengths, &self.trips, |length| (length / step).ceil().max(0.0)))
    }

    /// Iterations of the first worker, and how many steps lie between two of them.
    fn dealt(&self, mapping: Option<&Mapping>, all: f64) -> (f64, f64) {
        let Some(mapping) = mapping else { return (all, 1.0) };
        let instances = self.program.resource_count(&mapping.resource).unwrap_or(1).max(1) as f64;
        // Whose turn it is when the first worker gets its first.
        let turn = (instances - mapping.first as f64 % instances) % instances;
        match mapping.deal {
            Deal::Block => {
                let chunk = (all / instances).ceil();
                ((all - turn * chunk).clamp(0.0, chunk), 1.0)
            }
            Deal::Cyclic => (((all - turn) / instances).ceil().max(0.0), instances),
            Deal::Dynamic => (all / instances, instances),
        }
    }

    fn share(&self, condition: &[Constraint]) -> Result<f64, SimulateError> {
        condition.iter().try_fold(1.0, |share, constraint| {
            Ok(share * share_not_negative(&self.index(&constraint.0)?, &self.trips))
        })
    }

    fn value(&mut self, variable: Variable) -> Result<&mut Linear, SimulateError> {
        let what = || SimulateError::Dangling { what: format!("variable number {}", variable.0) };
        self.values.get_mut(variable.0 as usize).ok_or_else(what)
    }

    /// An index as a sum of counters; a looked-up term counts with the middle of its range.
    pub(super) fn index(&self, index: &Index) -> Result<Linear, SimulateError> {
        let known =
            index.affine.terms().iter().all(|(variable, _)| (variable.0 as usize) < self.values.len());
        if !known {
            return Err(SimulateError::Dangling { what: "a variable".to_owned() });
        }
        let mut sum = Linear::of(&index.affine, |variable| self.values[variable.0 as usize]);
        if let Some(lookup) = &index.lookup {
            sum.constant += lookup.scale as f64 * (lookup.range.0 as f64 + lookup.range.1 as f64) / 2.0;
        }
        Ok(sum)
    }
}

/// Share of the ends of a loop with so many iterations that branch prediction misses.
pub(super) fn unforeseen_end(iterations: f64) -> f64 {
    ((iterations - FORESEEN_ITERATIONS) / FORESEEN_ITERATIONS).clamp(0.0, 1.0)
}
