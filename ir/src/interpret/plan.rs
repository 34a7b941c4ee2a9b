//! A program checked and prepared: names resolved, accesses split into what moves with an axis and what does not.

use super::error::InterpretError;
use super::storage::MOST_DIMENSIONS;
use crate::affine::{Affine, Constraint, Index, Lookup, Variable};
use crate::expression::{Binary, Expression, Unary};
use crate::program::{Access, Deal, Instruction, Loop, Operation, Target};

/// One step of a prepared body.
pub(super) enum Step<'p> {
    /// Declares a buffer.
    Declare(usize),
    /// A loop.
    Loop(LoopStep<'p>),
    /// One of two bodies.
    When { condition: &'p [Constraint], then: Vec<Step<'p>>, otherwise: Vec<Step<'p>> },
    /// A tile instruction.
    Instruction(Box<Planned<'p>>),
    /// A barrier of each scope instance at this depth.
    Barrier(usize),
}

/// A loop with its mapping resolved.
pub(super) struct LoopStep<'p> {
    pub(super) source: &'p Loop,
    pub(super) over: Option<Over>,
    pub(super) body: Vec<Step<'p>>,
}

/// Who shares a loop.
pub(super) struct Over {
    /// Position of the resource.
    pub(super) resource: usize,
    pub(super) deal: Deal,
    pub(super) first: u64,
}

/// An instruction with its accesses prepared.
pub(super) struct Planned<'p> {
    pub(super) source: &'p Instruction,
    /// Axes of the instruction; for `select`, the rank as one more.
    pub(super) variables: Vec<Variable>,
    pub(super) extents: Vec<u64>,
    /// Limits of each axis that no axis of the instruction takes part in.
    pub(super) limits: Vec<Vec<&'p Index>>,
    /// The mask, and limits that an axis takes part in.
    pub(super) mask: Vec<Constraint>,
    /// Accesses: written ones first, in the order of the operation's fields, then loads of the expression.
    pub(super) accesses: Vec<PlannedAccess<'p>>,
    pub(super) expression: Option<Value<'p>>,
    /// Axes that move the (first) destination, and those that do not.
    pub(super) kept: Vec<usize>,
    pub(super) reduced: Vec<usize>,
    /// All axes in their order.
    pub(super) order: Vec<usize>,
}

/// An access with each index split.
pub(super) struct PlannedAccess<'p> {
    /// Tensor number, or the number of tensors plus the buffer's number.
    pub(super) slot: usize,
    pub(super) source: &'p Access,
    pub(super) indices: Vec<PlannedIndex<'p>>,
    /// Whether a lookup moves with an axis.
    pub(super) wanders: bool,
}

/// `outer + Σ axes · axis (+ lookup)`.
pub(super) struct PlannedIndex<'p> {
    pub(super) outer: Affine,
    pub(super) axes: Vec<i64>,
    pub(super) lookup: Option<&'p Lookup>,
}

/// An expression whose loads are numbers of accesses.
pub(super) enum Value<'p> {
    Constant(f64),
    Load(usize),
    Position(&'p Index),
    Unary(Unary, Box<Value<'p>>),
    Binary(Binary, Box<Value<'p>>, Box<Value<'p>>),
    Choose { condition: &'p [Constraint], then: Box<Value<'p>>, otherwise: Box<Value<'p>> },
    Random { seed: u64, counter: &'p Index },
}

pub(super) fn invalid<T>(what: impl Into<String>) -> Result<T, InterpretError> {
    Err(InterpretError::Invalid { what: what.into() })
}

/// Whether a variable of `axes` takes part in the index.
pub(super) fn moves(index: &Index, axes: &[Variable]) -> bool {
    index.affine.terms().iter().any(|(variable, _)| axes.contains(variable))
        || index.lookup.as_ref().is_some_and(|lookup| lookup.indices.iter().any(|index| moves(index, axes)))
}

impl<'p> Planned<'p> {
    /// Prepares an instruction of a program with so many tensors. Names are checked elsewhere.
    pub(super) fn new(source: &'p Instruction, tensors: usize) -> Result<Self, InterpretError> {
        let mut variables: Vec<Variable> = source.axes.iter().map(|axis| axis.variable).collect();
        let mut extents: Vec<u64> = source.axes.iter().map(|axis| axis.extent).collect();
        let mut mask = source.mask.clone();
        let mut limits = Vec::new();
        for axis in &source.axes {
            let (inner, outer): (Vec<_>, Vec<_>) =
                axis.limit.iter().partition(|limit| moves(limit, &variables));
            limits.push(outer);
            mask.extend(inner.into_iter().map(|limit| {
                Constraint(Index {
                    affine: limit.affine.clone() - axis.variable - 1,
                    lookup: limit.lookup.clone(),
                })
            }));
        }
        if let Operation::Select { rank, count, .. } = &source.operation {
            variables.push(*rank);
            extents.push(*count);
            limits.push(Vec::new());
        }
        if extents.contains(&0) {
            return invalid("an axis or a selection of extent 0");
        }
        let mut planned = Self {
            source,
            variables,
            extents,
            limits,
            mask,
            accesses: Vec::new(),
            expression: None,
            kept: Vec::new(),
            reduced: Vec::new(),
            order: Vec::new(),
        };
        planned.operation(tensors)?;
        let destination = &planned.accesses[0];
        let moved = |axis: usize| {
            let variable = &planned.variables[axis..=axis];
            destination.source.indices.iter().any(|index| moves(index, variable))
        };
        planned.order = (0..planned.variables.len()).collect();
        (planned.kept, planned.reduced) = (0..planned.variables.len()).partition(|&axis| moved(axis));
        Ok(planned)
    }

    fn operation(&mut self, tensors: usize) -> Result<(), InterpretError> {
        let operation = &self.source.operation;
        let mut add = |access: &'p Access| self.access(access, tensors);
        let expression = match operation {
            Operation::Fill { destination: place, .. } | Operation::Prefetch { place, .. } => {
                add(place)?;
                None
            }
            Operation::Copy { destination, source, .. }
            | Operation::Collective { destination, source, .. } => {
                add(destination)?;
                add(source)?;
                None
            }
            Operation::Contract { accumulator, a, b, .. } => {
                add(accumulator)?;
                add(a)?;
                add(b)?;
                None
            }
            Operation::Map { destination, expression } | Operation::Scan { destination, expression, .. } => {
                add(destination)?;
                Some(expression)
            }
            Operation::Reduce { destination, expression, position, .. } => {
                add(destination)?;
                if let Some(position) = position {
                    add(position)?;
                }
                Some(expression)
            }
            Operation::Select { values, positions, source, .. } => {
                add(values)?;
                add(positions)?;
                Some(source)
            }
        };
        if let Some(expression) = expression {
            self.expression = Some(self.value(expression, tensors)?);
        }
        Ok(())
    }

    fn access(&mut self, source: &'p Access, tensors: usize) -> Result<usize, InterpretError> {
        let slot = match source.target {
            Target::Tensor(id) => id.0 as usize,
            Target::Buffer(id) => tensors + id.0 as usize,
        };
        if source.indices.len() > MOST_DIMENSIONS {
            return invalid(format!("an access with more than {MOST_DIMENSIONS} indices"));
        }
        let indices = source
            .indices
            .iter()
            .map(|index| {
                let axes: Vec<i64> =
                    self.variables.iter().map(|&axis| index.affine.coefficient(axis)).collect();
                let moving = self.variables.iter().zip(&axes);
                let outer = moving
                    .fold(index.affine.clone(), |affine, (&axis, &coefficient)| affine - axis * coefficient);
                PlannedIndex { outer, axes, lookup: index.lookup.as_deref() }
            })
            .collect();
        let wanders = source.indices.iter().any(|index| {
            index
                .lookup
                .as_ref()
                .is_some_and(|lookup| lookup.indices.iter().any(|i| moves(i, &self.variables)))
        });
        self.accesses.push(PlannedAccess { slot, source, indices, wanders });
        Ok(self.accesses.len() - 1)
    }

    fn value(&mut self, expression: &'p Expression, tensors: usize) -> Result<Value<'p>, InterpretError> {
        Ok(match expression {
            Expression::Constant(value) => Value::Constant(value.value()),
            Expression::Load(access) => Value::Load(self.access(access, tensors)?),
            Expression::Position(index) => Value::Position(index),
            Expression::Unary(function, value) => {
                Value::Unary(*function, Box::new(self.value(value, tensors)?))
            }
            Expression::Binary(function, first, second) => Value::Binary(
                *function,
                Box::new(self.value(first, tensors)?),
                Box::new(self.value(second, tensors)?),
            ),
            Expression::Choose { condition, then, otherwise } => Value::Choose {
                condition,
                then: Box::new(self.value(then, tensors)?),
                otherwise: Box::new(self.value(otherwise, tensors)?),
            },
            Expression::Random { seed, counter } => Value::Random { seed: *seed, counter },
        })
    }
}
