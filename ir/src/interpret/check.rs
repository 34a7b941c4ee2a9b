//! Checks the structure of a program while it is prepared: names, ranks, scopes, nesting of resources.

use super::error::InterpretError;
use super::plan::{LoopStep, Over, Planned, Step, invalid};
use crate::affine::{Affine, Constraint, Index, Variable};
use crate::expression::Expression;
use crate::program::{
    Access, BufferId, CollectiveKind, Count, Instruction, Lifetime, Loop, Operation, Program, Role,
    Statement, Target,
};

/// What is visible at a statement.
pub(super) struct Checker<'p> {
    program: &'p Program,
    /// Variables that have a value.
    defined: Vec<bool>,
    /// Buffers that are declared.
    declared: Vec<bool>,
    /// Number of resources around.
    depth: usize,
}

impl<'p> Checker<'p> {
    /// At the start of a phase.
    pub(super) fn new(program: &'p Program) -> Result<Self, InterpretError> {
        let mut defined = vec![false; program.variables.len()];
        for extent in &program.extents {
            if let Some((of, divisor)) = extent.quotient
                && (divisor == 0 || !defined.get(of.0 as usize).copied().unwrap_or(false))
            {
                return invalid("a derived extent of an unknown one, or with divisor 0");
            }
            match defined.get_mut(extent.variable.0 as usize) {
                Some(slot) => *slot = true,
                None => return invalid("an extent without a variable"),
            }
        }
        let declared = program.buffers.iter().map(|buffer| buffer.lifetime != Lifetime::Scope).collect();
        let checker = Self { program, defined, declared, depth: 0 };
        for tensor in &program.tensors {
            if tensor.strides.len() != tensor.shape.len() {
                return invalid(format!("{}: one stride for each dimension", tensor.name));
            }
            tensor.shape.iter().try_for_each(|extent| checker.affine(extent))?;
        }
        for buffer in &program.buffers {
            buffer.shape.iter().try_for_each(|extent| checker.affine(extent))?;
            if let Some(owner) = &buffer.owner {
                checker.resource(owner)?;
            }
        }
        Ok(checker)
    }

    /// Position of a resource.
    pub(super) fn resource(&self, name: &str) -> Result<usize, InterpretError> {
        let position = self.program.resources.iter().position(|resource| resource.name == name);
        position.map_or_else(|| invalid(format!("no resource is called `{name}`")), Ok)
    }

    /// Prepares a body; its declarations and variables end with it.
    pub(super) fn body(&mut self, body: &'p [Statement]) -> Result<Vec<Step<'p>>, InterpretError> {
        let before = self.declared.clone();
        let steps = body.iter().map(|statement| self.statement(statement)).collect();
        self.declared = before;
        steps
    }

    fn statement(&mut self, statement: &'p Statement) -> Result<Step<'p>, InterpretError> {
        Ok(match statement {
            Statement::Buffer(id) => self.declare(*id)?,
            Statement::Loop(repeated) => Step::Loop(self.repeat(repeated)?),
            Statement::When { condition, then, otherwise } => {
                self.constraints(condition)?;
                Step::When { condition, then: self.body(then)?, otherwise: self.body(otherwise)? }
            }
            Statement::Instruction(instruction) => {
                let axes: Vec<Variable> = instruction.axes.iter().map(|axis| axis.variable).collect();
                self.with(&axes, |checker| checker.instruction(instruction))?;
                Step::Instruction(Box::new(Planned::new(instruction, self.program.tensors.len())?))
            }
            Statement::Barrier { scope } if scope == "device" => Step::Barrier(0),
            Statement::Barrier { scope } => Step::Barrier(self.resource(scope)? + 1),
        })
    }

    fn declare(&mut self, id: BufferId) -> Result<Step<'p>, InterpretError> {
        let position = id.0 as usize;
        let Some(buffer) = self.program.buffers.get(position) else {
            return invalid("a declaration of an unknown buffer");
        };
        let owner = match &buffer.owner {
            Some(owner) => self.resource(owner)? + 1,
            None => 0,
        };
        if buffer.lifetime != Lifetime::Scope {
            return invalid(format!("workspace {} is declared in a body", buffer.name));
        }
        if owner < self.depth {
            return invalid(format!(
                "{} is declared inside a loop over {}, which shares it",
                buffer.name,
                self.program.resources[self.depth - 1].name
            ));
        }
        self.declared[position] = true;
        Ok(Step::Declare(position))
    }

    fn repeat(&mut self, repeated: &'p Loop) -> Result<LoopStep<'p>, InterpretError> {
        let before = self.depth;
        let over = match &repeated.over {
            None => None,
            Some(mapping) => {
                let resource = self.resource(&mapping.resource)?;
                if resource < self.depth {
                    return invalid(format!("a loop over {0} inside a loop over {0}", mapping.resource));
                }
                let between = &self.program.resources[self.depth..=resource];
                let grids = between.iter().filter(|resource| resource.count == Count::Grid).count();
                if grids > 0 && between.len() > 1 {
                    return invalid(format!("a loop over {} that skips a grid", mapping.resource));
                }
                if between.iter().any(|resource| resource.count == Count::Fixed(0)) {
                    return invalid(format!("no instances of {}", mapping.resource));
                }
                self.depth = resource + 1;
                Some(Over { resource, deal: mapping.deal, first: mapping.first })
            }
        };
        if repeated.dimensions.is_empty() {
            return invalid("a loop without dimensions");
        }
        let mut variables = Vec::new();
        for dimension in &repeated.dimensions {
            if dimension.step == 0 || dimension.stop.is_empty() {
                return invalid("a loop with step 0 or without an end");
            }
            self.with(&variables, |checker| {
                checker.index(&dimension.start)?;
                dimension.stop.iter().try_for_each(|stop| checker.index(stop))
            })?;
            variables.push(dimension.variable);
        }
        let body = self.with(&variables, |checker| checker.body(&repeated.body))?;
        self.depth = before;
        Ok(LoopStep { source: repeated, over, body })
    }

    /// Runs `check` with further variables defined.
    fn with<T>(
        &mut self,
        variables: &[Variable],
        check: impl FnOnce(&mut Self) -> Result<T, InterpretError>,
    ) -> Result<T, InterpretError> {
        for variable in variables {
            match self.defined.get_mut(variable.0 as usize) {
                None => return invalid("a variable without a name"),
                Some(true) => {
                    let name = self.program.variable_name(*variable);
                    return invalid(format!("variable {name} is bound inside its own scope"));
                }
                Some(slot) => *slot = true,
            }
        }
        let result = check(self);
        for variable in variables {
            self.defined[variable.0 as usize] = false;
        }
        result
    }

    fn instruction(&mut self, instruction: &'p Instruction) -> Result<(), InterpretError> {
        for axis in &instruction.axes {
            axis.limit.iter().try_for_each(|limit| self.index(limit))?;
        }
        self.constraints(&instruction.mask)?;
        match &instruction.operation {
            Operation::Fill { destination, .. } => self.written(destination),
            Operation::Copy { destination, source, .. } => {
                self.written(destination)?;
                self.access(source)
            }
            Operation::Prefetch { place, write: true } => self.written(place),
            Operation::Prefetch { place, write: false } => self.access(place),
            Operation::Contract { accumulator, a, b, .. } => {
                self.written(accumulator)?;
                self.access(a)?;
                self.access(b)
            }
            Operation::Map { destination, expression } => {
                self.written(destination)?;
                self.expression(expression)
            }
            Operation::Scan { destination, expression, axis, .. } => {
                own_axis(instruction, *axis)?;
                self.written(destination)?;
                self.expression(expression)
            }
            Operation::Reduce { destination, expression, position, .. } => {
                self.written(destination)?;
                position.iter().try_for_each(|position| self.written(position))?;
                self.expression(expression)
            }
            Operation::Select { values, positions, source, axis, rank, .. } => {
                own_axis(instruction, *axis)?;
                self.expression(source)?;
                self.with(&[*rank], |checker| {
                    checker.written(values)?;
                    checker.written(positions)
                })
            }
            Operation::Collective { kind, destination, source, resource } => {
                let position = self.resource(resource)?;
                if position < self.depth {
                    return invalid(format!("a collective over {resource} inside a loop over it"));
                }
                self.written(destination)?;
                self.access(source)?;
                let shared = *kind == CollectiveKind::Broadcast;
                if !self.is_owned(destination, resource) || !(shared || self.is_owned(source, resource)) {
                    return invalid(format!("a collective over {resource} on what its instances do not own"));
                }
                Ok(())
            }
        }
    }

    fn is_owned(&self, access: &Access, resource: &str) -> bool {
        match access.target {
            Target::Tensor(_) => false,
            Target::Buffer(id) => self.program.buffer(id).owner.as_deref() == Some(resource),
        }
    }

    fn written(&self, access: &Access) -> Result<(), InterpretError> {
        if let Target::Tensor(id) = access.target
            && self.program.tensors.get(id.0 as usize).is_some_and(|tensor| tensor.role == Role::Input)
        {
            return invalid(format!("input {} is written", self.program.tensor(id).name));
        }
        self.access(access)
    }

    fn access(&self, access: &Access) -> Result<(), InterpretError> {
        let (name, rank) = match access.target {
            Target::Tensor(id) => match self.program.tensors.get(id.0 as usize) {
                Some(tensor) => (&tensor.name, tensor.shape.len()),
                None => return invalid("an access to an unknown tensor"),
            },
            Target::Buffer(id) => match self.program.buffers.get(id.0 as usize) {
                Some(buffer) if self.declared[id.0 as usize] => (&buffer.name, buffer.shape.len()),
                Some(buffer) => return invalid(format!("{} is used outside its scope", buffer.name)),
                None => return invalid("an access to an unknown buffer"),
            },
        };
        if access.indices.len() != rank {
            return invalid(format!("{name} has {rank} dimensions, found {} indices", access.indices.len()));
        }
        access.indices.iter().try_for_each(|index| self.index(index))
    }

    fn expression(&self, expression: &Expression) -> Result<(), InterpretError> {
        match expression {
            Expression::Constant(_) => Ok(()),
            Expression::Load(access) => self.access(access),
            Expression::Position(index) | Expression::Random { counter: index, .. } => self.index(index),
            Expression::Unary(_, value) => self.expression(value),
            Expression::Binary(_, first, second) => {
                self.expression(first)?;
                self.expression(second)
            }
            Expression::Choose { condition, then, otherwise } => {
                self.constraints(condition)?;
                self.expression(then)?;
                self.expression(otherwise)
            }
        }
    }

    fn constraints(&self, constraints: &[Constraint]) -> Result<(), InterpretError> {
        constraints.iter().try_for_each(|constraint| self.index(&constraint.0))
    }

    fn index(&self, index: &Index) -> Result<(), InterpretError> {
        if let Some(lookup) = &index.lookup {
            match self.program.tensors.get(lookup.table.0 as usize) {
                Some(table) if table.shape.len() == lookup.indices.len() => {}
                _ => return invalid("a lookup in an unknown table, or with too few or too many indices"),
            }
            lookup.indices.iter().try_for_each(|index| self.index(index))?;
        }
        self.affine(&index.affine)
    }

    fn affine(&self, affine: &Affine) -> Result<(), InterpretError> {
        for (variable, _) in affine.terms() {
            if !self.defined.get(variable.0 as usize).copied().unwrap_or(false) {
                let name = self.program.variables.get(variable.0 as usize);
                return invalid(format!("variable {} has no value here", name.map_or("?", String::as_str)));
            }
        }
        Ok(())
    }
}

fn own_axis(instruction: &Instruction, axis: Variable) -> Result<(), InterpretError> {
    if instruction.axes.iter().any(|other| other.variable == axis) {
        return Ok(());
    }
    invalid(format!("variable {} is no axis of its instruction", axis.0))
}
