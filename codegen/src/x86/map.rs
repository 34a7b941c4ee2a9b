//! `map`: element-wise expressions.

use iced_x86::{Code, Register};
use tilewright_ir::expression::{Binary, Unary};

use super::emitter::Emitter;
use super::lanes::Lanes;
use super::operand::Memory;
use super::points::Point;
use super::tree::{ExpressionNode, Operation, Place};
use crate::error::{CompileError, unsupported};

/// A value in a register.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub(super) register: u8,
    kind: ValueKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    /// A temporary: to be given back.
    Temporary,
    /// The destination of the whole expression.
    Target,
    /// An element of a register buffer: not to be written.
    Borrowed,
}

/// The vector that is being computed.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) operation: &'a Operation,
    pub(super) point: &'a Point,
    pub(super) lanes: &'a Lanes,
}

impl Emitter<'_> {
    /// `destination ← expression`.
    pub(super) fn map(
        &mut self,
        operation: &Operation,
        destination: &Place,
        expression: &ExpressionNode,
    ) -> Result<(), CompileError> {
        let width = self.set.lanes();
        let vectors = self.vectors(operation);
        for row in operation.rows() {
            let guard = self.guard_row(operation, &row);
            for lanes in &vectors {
                let point = operation.at_vector(&row, lanes, width);
                let at = At { operation, point: &point, lanes };
                match destination {
                    Place::Register(place) => {
                        let destination = self.vector_register(place, &point)?;
                        let keeps = self.keeps_lanes(place, lanes);
                        let target = Some(destination).filter(|_| !keeps);
                        let spilled = self.spill(&at, expression, Some(destination))?;
                        self.narrow(Some(*lanes));
                        let value = self.evaluate(&at, expression, target)?;
                        if keeps {
                            self.blend(destination, value.register, lanes)?;
                        } else {
                            self.move_vector(destination, value.register);
                        }
                        self.widen();
                        self.release(value);
                        self.restore(&spilled);
                    }
                    Place::Memory(place) => {
                        let spilled = self.spill(&at, expression, None)?;
                        self.narrow(Some(*lanes));
                        let value = self.evaluate(&at, expression, None)?;
                        self.widen();
                        self.store_place(operation, place, value.register, &point, lanes)?;
                        self.release(value);
                        self.restore(&spilled);
                    }
                }
            }
            self.bind_guard(guard);
        }
        Ok(())
    }

    /// Frees registers for an expression that needs more than are left: other elements of register buffers go
    /// to the frame meanwhile.
    pub(super) fn spill(
        &mut self,
        at: &At<'_>,
        expression: &ExpressionNode,
        target: Option<u8>,
    ) -> Result<Vec<(u8, i64)>, CompileError> {
        // One more for the mask of a partial vector.
        let needed = temporaries(expression) + 1;
        let mut spilled = Vec::new();
        if needed <= self.pool.available() {
            return Ok(spilled);
        }
        let mut kept: Vec<u8> = target.into_iter().collect();
        let mut failure = None;
        expression.places(&mut |place| {
            if let Place::Register(place) = place {
                match self.vector_register(place, at.point) {
                    Ok(register) => kept.push(register),
                    Err(error) => failure = Some(error),
                }
            }
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let missing = (needed - self.pool.available()) as usize;
        let victims: Vec<u8> = self
            .buffers
            .iter()
            .flatten()
            .copied()
            .filter(|register| !kept.contains(register))
            .take(missing)
            .collect();
        if victims.len() < missing {
            return Err(CompileError::Registers { needed, available: self.pool.available() });
        }
        for victim in victims {
            let slot = self.frame.spill_slot(spilled.len());
            let memory = Memory::new(Register::RSP, slot);
            self.emit(self.set.store, &[memory.into(), self.set.register(victim).into()]);
            self.pool.give(victim);
            spilled.push((victim, slot));
        }
        Ok(spilled)
    }

    /// Brings spilled elements back.
    pub(super) fn restore(&mut self, spilled: &[(u8, i64)]) {
        for &(register, slot) in spilled {
            self.pool.reserve(register);
            let memory = Memory::new(Register::RSP, slot);
            self.emit(self.set.load, &[self.set.register(register).into(), memory.into()]);
        }
    }

    pub(super) fn release(&mut self, value: Value) {
        if value.kind == ValueKind::Temporary {
            self.pool.give(value.register);
        }
    }

    /// Computes one vector. `target` may be overwritten on the way.
    pub(super) fn evaluate(
        &mut self,
        at: &At<'_>,
        expression: &ExpressionNode,
        target: Option<u8>,
    ) -> Result<Value, CompileError> {
        if let Some(fused) = Fused::of(expression) {
            return self.fused(at, &fused, target);
        }
        match expression {
            ExpressionNode::Constant(value) => {
                let result = self.result(None, target)?;
                self.load_value(result.register, *value);
                Ok(result)
            }
            ExpressionNode::Load(Place::Memory(place)) => {
                let result = self.result(None, target)?;
                self.load_place(at.operation, result.register, place, at.point, at.lanes, false)?;
                Ok(result)
            }
            ExpressionNode::Load(Place::Register(place)) => {
                let register = self.vector_register(place, at.point)?;
                if at.operation.vector.is_some_and(|axis| !place.depends_on(axis)) {
                    let result = self.result(None, target)?;
                    self.broadcast_register(result.register, register);
                    return Ok(result);
                }
                Ok(Value { register, kind: ValueKind::Borrowed })
            }
            ExpressionNode::Unary(function, value) => {
                let value = self.evaluate(at, value, target)?;
                self.unary(*function, value, target)
            }
            ExpressionNode::Binary(function, first, second) => {
                // The first operand may use the target only when the second does not read what is in it.
                let early = if reads_registers(second) { None } else { target };
                let first = self.evaluate(at, first, early)?;
                if let ExpressionNode::Constant(value) = **second
                    && let Some(code) = self.simple(*function)
                {
                    let constant = self.constant_bits(value.to_bits());
                    let result = self.result(Some(first), target)?;
                    self.vector_op_memory(code, result.register, first.register, constant);
                    return Ok(result);
                }
                let late = if first.kind == ValueKind::Target { None } else { target };
                let late = if first.kind == ValueKind::Borrowed { None } else { late };
                let second = self.evaluate(at, second, late)?;
                self.binary(*function, first, second, target)
            }
        }
    }

    /// A sum with a product, rounded once.
    fn fused(&mut self, at: &At<'_>, fused: &Fused<'_>, target: Option<u8>) -> Result<Value, CompileError> {
        let [a, b] = fused.factors;
        let a = self.evaluate(at, a, None)?;
        let b = self.evaluate(at, b, None)?;
        let borrows = a.kind == ValueKind::Borrowed || b.kind == ValueKind::Borrowed;
        let sum = self.evaluate(at, fused.sum, target.filter(|_| !borrows))?;
        let result = match sum.kind {
            // What the target holds already may be added to in place.
            ValueKind::Borrowed if Some(sum.register) == target => {
                Value { register: sum.register, kind: ValueKind::Target }
            }
            ValueKind::Borrowed => {
                let copy = self.pool.take()?;
                self.move_vector(copy, sum.register);
                Value { register: copy, kind: ValueKind::Temporary }
            }
            _ => sum,
        };
        let code = if fused.subtracts { self.set.multiply_subtract } else { self.set.multiply_add };
        self.vector_op(code, result.register, a.register, b.register);
        self.release(a);
        self.release(b);
        Ok(result)
    }

    /// Where the result of an operation on `operand` goes: its own register when it is a temporary.
    fn result(&mut self, operand: Option<Value>, target: Option<u8>) -> Result<Value, CompileError> {
        if let Some(register) = target {
            if let Some(operand) = operand {
                self.release(operand);
            }
            return Ok(Value { register, kind: ValueKind::Target });
        }
        match operand {
            Some(value) if value.kind != ValueKind::Borrowed => Ok(value),
            _ => Ok(Value { register: self.pool.take()?, kind: ValueKind::Temporary }),
        }
    }

    /// The instruction of a function that is one instruction.
    fn simple(&self, function: Binary) -> Option<Code> {
        match function {
            Binary::Add => Some(self.set.add),
            Binary::Subtract => Some(self.set.subtract),
            Binary::Multiply => Some(self.set.multiply),
            Binary::Divide => Some(self.set.divide),
            Binary::Maximum | Binary::Minimum => None,
        }
    }

    fn binary(
        &mut self,
        function: Binary,
        first: Value,
        second: Value,
        target: Option<u8>,
    ) -> Result<Value, CompileError> {
        let (x, y) = (first.register, second.register);
        let code = match function {
            Binary::Maximum => self.set.maximum,
            Binary::Minimum => self.set.minimum,
            _ => {
                let Some(code) = self.simple(function) else {
                    return unsupported("a function of two values");
                };
                let result = self.result(Some(first), target)?;
                self.vector_op(code, result.register, x, y);
                if second.register != result.register {
                    self.release(second);
                }
                return Ok(result);
            }
        };
        let one_order = self.pool.take()?;
        self.extreme(code, one_order, x, y)?;
        let result = self.result(Some(first), target)?;
        self.move_vector(result.register, one_order);
        self.pool.give(one_order);
        if second.register != result.register {
            self.release(second);
        }
        Ok(result)
    }

    /// Maximum or minimum in which a NaN on either side wins: the instructions return their second source
    /// when either is NaN, so both orders are taken and joined bit by bit. `destination` is neither source.
    pub(super) fn extreme(&mut self, code: Code, destination: u8, x: u8, y: u8) -> Result<(), CompileError> {
        let other_order = self.pool.take()?;
        self.vector_op(code, other_order, x, y);
        self.vector_op(code, destination, y, x);
        self.vector_op(self.set.inclusive_or, destination, destination, other_order);
        self.pool.give(other_order);
        Ok(())
    }

    fn unary(&mut self, function: Unary, value: Value, target: Option<u8>) -> Result<Value, CompileError> {
        const SIGN: u32 = 0x8000_0000;
        let x = value.register;
        match function {
            Unary::Negate => self.with_constant(self.set.exclusive_or, value, SIGN, target),
            Unary::Absolute => self.with_constant(self.set.and, value, !SIGN, target),
            Unary::SquareRoot => {
                let result = self.result(Some(value), target)?;
                let operands = [self.set.register(result.register).into(), self.set.register(x).into()];
                self.emit(self.set.square_root, &operands);
                Ok(result)
            }
            Unary::ReciprocalSquareRoot => {
                let root = self.pool.take()?;
                let operands = [self.set.register(root).into(), self.set.register(x).into()];
                self.emit(self.set.square_root, &operands);
                let result = self.result(Some(value), target)?;
                self.load_value(result.register, 1.0);
                self.vector_op(self.set.divide, result.register, result.register, root);
                self.pool.give(root);
                Ok(result)
            }
            Unary::Relu => {
                // The second source, `x`, is the result when it is NaN.
                let zero = self.pool.take()?;
                self.zero(zero);
                let result = self.result(Some(value), target)?;
                self.vector_op(self.set.maximum, result.register, zero, x);
                self.pool.give(zero);
                Ok(result)
            }
            Unary::Exponential => {
                let result = self.result(Some(value), target)?;
                self.exponential(result.register, x)?;
                Ok(result)
            }
            Unary::Silu => {
                let power = self.pool.take()?;
                let sign = self.constant_bits(SIGN);
                self.vector_op_memory(self.set.exclusive_or, power, x, sign);
                self.exponential(power, power)?;
                let one = self.constant_bits(1.0_f32.to_bits());
                self.vector_op_memory(self.set.add, power, power, one);
                let result = self.result(Some(value), target)?;
                self.vector_op(self.set.divide, result.register, x, power);
                self.pool.give(power);
                Ok(result)
            }
            Unary::HyperbolicTangent => {
                let result = self.result(Some(value), target)?;
                self.hyperbolic_tangent(result.register, x)?;
                Ok(result)
            }
            Unary::Logarithm => {
                let result = self.result(Some(value), target)?;
                self.logarithm(result.register, x)?;
                Ok(result)
            }
            Unary::ErrorFunction => {
                let result = self.result(Some(value), target)?;
                self.error_function(result.register, x)?;
                Ok(result)
            }
        }
    }

    fn with_constant(
        &mut self,
        code: Code,
        value: Value,
        bits: u32,
        target: Option<u8>,
    ) -> Result<Value, CompileError> {
        let constant = self.constant_bits(bits);
        let result = self.result(Some(value), target)?;
        self.vector_op_memory(code, result.register, value.register, constant);
        Ok(result)
    }
}

/// `sum + a·b` or `sum − a·b`.
struct Fused<'a> {
    sum: &'a ExpressionNode,
    factors: [&'a ExpressionNode; 2],
    subtracts: bool,
}

impl<'a> Fused<'a> {
    fn of(expression: &'a ExpressionNode) -> Option<Self> {
        let ExpressionNode::Binary(function, first, second) = expression else { return None };
        let (first, second) = (&**first, &**second);
        let product = |node: &'a ExpressionNode| match node {
            ExpressionNode::Binary(Binary::Multiply, a, b) => Some([&**a, &**b]),
            _ => None,
        };
        match function {
            Binary::Add => product(second)
                .map(|factors| (first, factors))
                .or_else(|| product(first).map(|factors| (second, factors)))
                .map(|(sum, factors)| Self { sum, factors, subtracts: false }),
            Binary::Subtract => product(second).map(|factors| Self { sum: first, factors, subtracts: true }),
            _ => None,
        }
    }
}

fn reads_registers(expression: &ExpressionNode) -> bool {
    let mut any = false;
    expression.places(&mut |place| any |= matches!(place, Place::Register(_)));
    any
}

/// Upper bound of the temporaries that an expression needs beside its target.
fn temporaries(expression: &ExpressionNode) -> u32 {
    if let Some(Fused { sum, factors: [a, b], .. }) = Fused::of(expression) {
        return temporaries(a).max(1 + temporaries(b)).max(2 + temporaries(sum));
    }
    match expression {
        ExpressionNode::Constant(_) | ExpressionNode::Load(_) => 1,
        ExpressionNode::Unary(function, value) => {
            let own = match function {
                Unary::Negate | Unary::Absolute | Unary::SquareRoot => 0,
                Unary::ReciprocalSquareRoot | Unary::Relu => 1,
                Unary::Exponential => 2,
                Unary::HyperbolicTangent | Unary::ErrorFunction | Unary::Logarithm => 5,
                Unary::Silu => 3,
            };
            // The operand itself may be a temporary.
            temporaries(value).max(own + 1)
        }
        ExpressionNode::Binary(function, first, second) => {
            let own = if matches!(function, Binary::Maximum | Binary::Minimum) { 4 } else { 2 };
            temporaries(first).max(1 + temporaries(second)).max(own)
        }
    }
}
