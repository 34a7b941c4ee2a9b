//! Replaces a variable in statements: a loop of one iteration is its body with the variable's value.

use crate::affine::{Affine, Constraint, Index, Variable};
use crate::expression::Expression;
use crate::program::{Access, Instruction, Loop, Operation, Statement};

/// The same body with `variable` replaced.
pub(super) fn substitute(body: &[Statement], variable: Variable, by: &Affine) -> Vec<Statement> {
    let replacement = Replacement { variable, by };
    body.iter().map(|statement| replacement.statement(statement)).collect()
}

struct Replacement<'a> {
    variable: Variable,
    by: &'a Affine,
}

impl Replacement<'_> {
    fn statement(&self, statement: &Statement) -> Statement {
        match statement {
            Statement::Buffer(_) | Statement::Barrier { .. } => statement.clone(),
            Statement::Loop(repeated) => Statement::Loop(Loop {
                dimensions: repeated
                    .dimensions
                    .iter()
                    .map(|dimension| {
                        let mut dimension = dimension.clone();
                        dimension.start = self.index(&dimension.start);
                        dimension.stop = self.list(&dimension.stop);
                        dimension
                    })
                    .collect(),
                body: repeated.body.iter().map(|statement| self.statement(statement)).collect(),
                over: repeated.over.clone(),
                unroll: repeated.unroll,
                prefetch: repeated.prefetch.clone(),
            }),
            Statement::When { condition, then, otherwise } => Statement::When {
                condition: self.constraints(condition),
                then: then.iter().map(|statement| self.statement(statement)).collect(),
                otherwise: otherwise.iter().map(|statement| self.statement(statement)).collect(),
            },
            Statement::Instruction(instruction) => Statement::Instruction(self.instruction(instruction)),
        }
    }

    fn instruction(&self, instruction: &Instruction) -> Instruction {
        let mut instruction = instruction.clone();
        for axis in &mut instruction.axes {
            axis.limit = self.list(&axis.limit);
        }
        instruction.mask = self.constraints(&instruction.mask);
        match &mut instruction.operation {
            Operation::Fill { destination, value: _ } => self.access(destination),
            Operation::Copy { destination, source, pad: _ }
            | Operation::Collective { destination, source, .. } => {
                self.access(destination);
                self.access(source);
            }
            Operation::Contract { accumulator, a, b } => {
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
        access.indices = self.list(&access.indices);
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
        index.substitute(self.variable, self.by)
    }

    fn list(&self, indices: &[Index]) -> Vec<Index> {
        indices.iter().map(|index| self.index(index)).collect()
    }

    fn constraints(&self, constraints: &[Constraint]) -> Vec<Constraint> {
        constraints.iter().map(|constraint| Constraint(self.index(&constraint.0))).collect()
    }
}
