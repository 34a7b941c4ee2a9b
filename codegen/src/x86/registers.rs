//! Which vector registers are free, and where the elements of register buffers lie in them.

use tilewright_ir::affine::Variable;
use tilewright_ir::expression::Expression;
use tilewright_ir::program::{Access, Instruction, Operation, Program, Statement, Target};
use tilewright_ir::workspace::{REGISTER_LEVEL, fixed_shape};

use super::points::Point;
use super::tree::RegisterPlace;
use crate::error::{CompileError, unsupported};

/// Free vector registers.
///
/// Register buffers take the highest numbers and temporaries the lowest, which have shorter encodings.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    free: u32,
}

impl Pool {
    pub(super) fn new(registers: u32) -> Self {
        Self { free: u32::MAX >> (32 - registers) }
    }

    pub(super) fn available(&self) -> u32 {
        self.free.count_ones()
    }

    pub(super) fn is_free(&self, register: u8) -> bool {
        self.free & (1 << register) != 0
    }

    /// A register for a short time.
    pub(super) fn take(&mut self) -> Result<u8, CompileError> {
        if self.free == 0 {
            return Err(CompileError::Registers { needed: 1, available: 0 });
        }
        let register = self.free.trailing_zeros() as u8;
        self.free &= !(1 << register);
        Ok(register)
    }

    /// So many registers for a short time.
    pub(super) fn take_all(&mut self, count: usize) -> Result<Vec<u8>, CompileError> {
        if self.available() < count as u32 {
            return Err(CompileError::Registers { needed: count as u32, available: self.available() });
        }
        (0..count).map(|_| self.take()).collect()
    }

    /// Registers for a buffer.
    pub(super) fn take_high(&mut self, count: usize) -> Result<Vec<u8>, CompileError> {
        if self.available() < count as u32 {
            return Err(CompileError::Registers { needed: count as u32, available: self.available() });
        }
        let mut taken: Vec<u8> =
            (0..32).rev().filter(|&register| self.is_free(register)).take(count).collect();
        taken.reverse();
        for register in &taken {
            self.free &= !(1 << register);
        }
        Ok(taken)
    }

    /// Takes this very register, which must be free.
    pub(super) fn reserve(&mut self, register: u8) {
        self.free &= !(1 << register);
    }

    pub(super) fn give(&mut self, register: u8) {
        self.free |= 1 << register;
    }

    pub(super) fn give_all(&mut self, registers: &[u8]) {
        for &register in registers {
            self.give(register);
        }
    }
}

/// How a register buffer is spread over registers.
#[derive(Debug, Clone)]
pub(super) struct RegisterShape {
    shape: Vec<u64>,
    /// Dimension along the lanes; `None`: one element a register, in lane 0.
    lane_dimension: Option<usize>,
    lanes: u64,
}

/// One element of a register buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    /// Position in the buffer's registers.
    pub(super) position: usize,
    pub(super) lane: usize,
}

impl RegisterShape {
    /// Vector registers that the buffer takes.
    pub(super) fn registers(&self) -> usize {
        let extents = self.shape.iter().enumerate();
        extents
            .map(
                |(dimension, &extent)| {
                    if Some(dimension) == self.lane_dimension { extent.div_ceil(self.lanes) } else { extent }
                },
            )
            .product::<u64>() as usize
    }

    pub(super) fn lane_dimension(&self) -> Option<usize> {
        self.lane_dimension
    }

    /// Where the element of a point lies.
    pub(super) fn element(&self, place: &RegisterPlace, point: &Point) -> Result<Element, CompileError> {
        let (mut position, mut lane) = (0, 0);
        for (dimension, (index, &extent)) in place.indices(point).zip(&self.shape).enumerate() {
            let Some(index) = u64::try_from(index).ok().filter(|&index| index < extent) else {
                return unsupported("an index outside a register buffer");
            };
            if Some(dimension) == self.lane_dimension {
                position = position * extent.div_ceil(self.lanes) + index / self.lanes;
                lane = index % self.lanes;
            } else {
                position = position * extent + index;
            }
        }
        Ok(Element { position: position as usize, lane: lane as usize })
    }
}

/// Finds for every register buffer which dimension runs along the lanes: the one that the vector axes of
/// the instructions using it walk along.
pub(super) fn register_shapes(
    program: &Program,
    lanes: usize,
) -> Result<Vec<Option<RegisterShape>>, CompileError> {
    let mut shapes = Vec::with_capacity(program.buffers.len());
    for buffer in &program.buffers {
        shapes.push(if buffer.level == REGISTER_LEVEL {
            let Some(shape) = fixed_shape(buffer) else {
                return unsupported(format!("`{}`, a register buffer of run-time size", buffer.name));
            };
            Some(RegisterShape { shape, lane_dimension: None, lanes: lanes as u64 })
        } else {
            None
        });
    }
    for phase in program.entries.iter().flat_map(|entry| &entry.phases) {
        visit(phase, &mut shapes)?;
    }
    Ok(shapes)
}

fn visit(body: &[Statement], shapes: &mut [Option<RegisterShape>]) -> Result<(), CompileError> {
    for statement in body {
        match statement {
            Statement::Loop(repeated) => visit(&repeated.body, shapes)?,
            Statement::When { then, otherwise, .. } => {
                visit(then, shapes)?;
                visit(otherwise, shapes)?;
            }
            Statement::Instruction(instruction) => {
                if let Some(vector) = instruction.vector {
                    for access in accesses(instruction) {
                        assign(access, vector, shapes)?;
                    }
                }
            }
            Statement::Buffer(_) | Statement::Barrier { .. } => {}
        }
    }
    Ok(())
}

fn assign(
    access: &Access,
    vector: Variable,
    shapes: &mut [Option<RegisterShape>],
) -> Result<(), CompileError> {
    let Target::Buffer(id) = access.target else { return Ok(()) };
    let Some(shape) = shapes[id.0 as usize].as_mut() else { return Ok(()) };
    let mut along =
        access.indices.iter().enumerate().filter(|(_, index)| index.affine.coefficient(vector) != 0);
    let Some((dimension, index)) = along.next() else { return Ok(()) };
    let conflicts = shape.lane_dimension.is_some_and(|known| known != dimension);
    if conflicts || along.next().is_some() || index.affine.coefficient(vector) != 1 {
        return unsupported("a register buffer whose lanes run along several directions");
    }
    shape.lane_dimension = Some(dimension);
    Ok(())
}

fn accesses(instruction: &Instruction) -> Vec<&Access> {
    fn with_loads<'a>(destination: &'a Access, expression: &'a Expression) -> Vec<&'a Access> {
        let mut all = vec![destination];
        expression.loads(&mut |access| all.push(access));
        all
    }
    match &instruction.operation {
        Operation::Fill { destination, .. } => vec![destination],
        Operation::Copy { destination, source, .. } => vec![destination, source],
        Operation::Contract { accumulator, a, b, .. } => vec![accumulator, a, b],
        Operation::Map { destination, expression } | Operation::Reduce { destination, expression, .. } => {
            with_loads(destination, expression)
        }
        Operation::Prefetch { .. }
        | Operation::Scan { .. }
        | Operation::Select { .. }
        | Operation::Collective { .. } => Vec::new(),
    }
}
