//! Replaces variables of loops of one iteration, statement by statement as they are visited.

use crate::affine::{Affine, Constraint, Index, Variable};
use crate::expression::Expression;
use crate::program::{Access, Dimension, Instruction, Operation};

/// Variables with the value that each has throughout the statements being visited; values hold no bound
/// variables themselves.
#[derive(Debug, Default)]
pub(super) struct Bindings(Vec<(Variable, Affine)>);

impl Bindings {
    /// Binds a variable for the statements that follow; `value` has been resolved.
    pub(super) fn push(&mut self, variable: Variable, value: Affine) {
        self.0.push((variable, value));
    }

    /// Forgets the last binding.
    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    /// The dimension with bound variables replaced.
    pub(super) fn dimension(&self, dimension: &Dimension) -> Dimension {
        let (start, stop) = (self.index(&dimension.start), self.list(&dimension.stop));
        Dimension { start, stop, ..*dimension }
    }

    /// The instruction with bound variables replaced.
    pub(super) fn instruction(&self, instruction: &Instruction) -> Instruction {
        let mut instruction = instruction.clone();
        if self.0.is_empty() {
            return instruction;
        }
        for axis in &mut instruction.axes {
            axis.limit = self.list(&axis.limit);
        }
        instruction.mask = self.constraints(&instruction.mask);
        match &mut instruction.operation {
            Operation::Fill { destination: place, value: _ } | Operation::Prefetch { place, write: _ } => {
                self.access(place);
            }
            Operation::Copy { destination, source, pad: _ }
            | Operation::Collective { destination, source, .. } => {
                self.access(destination);
                self.access(source);
            }
            Operation::Contract { accumulator, a, b, .. } => {
                self.access(accumulator);
                self.access(a);
                self.access(b);
            }
            Operation::Map { destination, expression } | Operation::Scan { destination, expression, .. } => {
                self.access(destination);
                self.expression(expression);
            }
            Operation::Reduce { destination, expression, position, .. } => {
                self.access(destination);
                self.expression(expression);
                if let Some(position) = position {
                    self.access(position);
                }
            }
            Operation::Select { values, positions, source, .. } => {
                self.access(values);
                self.access(positions);
                self.expression(source);
            }
        }
        instruction
    }

    fn access(&self, access: &mut Access) {
        for index in &mut access.indices {
            *index = self.index(index);
        }
    }

    fn expression(&self, expression: &mut Expression) {
        match expression {
            Expression::Constant(_) => {}
            Expression::Load(access) => self.access(access),
            Expression::Position(index) | Expression::Random { counter: index, .. } => {
                *index = self.index(index);
            }
            Expression::Unary(_, value) => self.expression(value),
            Expression::Binary(_, first, second) => {
                self.expression(first);
                self.expression(second);
            }
            Expression::Choose { condition, then, otherwise } => {
                *condition = self.constraints(condition);
                self.expression(then);
                self.expression(otherwise);
            }
        }
    }

    fn index(&self, index: &Index) -> Index {
        let mut index = index.clone();
        for (variable, value) in &self.0 {
            if index.lookup.is_some() || index.affine.coefficient(*variable) != 0 {
                index = index.substitute(*variable, value);
            }
        }
        index
    }

    fn list(&self, indices: &[Index]) -> Vec<Index> {
        indices.iter().map(|index| self.index(index)).collect()
    }

    /// The constraints with bound variables replaced.
    pub(super) fn constraints(&self, constraints: &[Constraint]) -> Vec<Constraint> {
        constraints.iter().map(|constraint| Constraint(self.index(&constraint.0))).collect()
    }
}
