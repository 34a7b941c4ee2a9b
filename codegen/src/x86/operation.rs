//! What all tile instructions share: dispatch, row guards, register elements, constants.

use iced_x86::{Code, Register};

use super::assembler::{Constant, Label};
use super::emitter::Emitter;
use super::lanes::Lanes;
use super::operand::Memory;
use super::points::Point;
use super::tree::{Kind, Linear, Operation, Place, RegisterPlace};
use super::vector::xmm;
use crate::error::{CompileError, unsupported};

impl Emitter<'_> {
    /// Emits a tile instruction.
    pub(super) fn operation(&mut self, operation: &Operation) -> Result<(), CompileError> {
        if operation.once {
            return self.by_first_worker(&mut |emitter| emitter.dispatch(operation));
        }
        self.dispatch(operation)
    }

    fn dispatch(&mut self, operation: &Operation) -> Result<(), CompileError> {
        self.pin(addresses(operation).into_iter());
        match &operation.kind {
            Kind::Fill { destination, value } => self.fill(operation, destination, *value)?,
            Kind::Copy { destination, source, pad } => self.copy(operation, destination, source, *pad)?,
            Kind::Contract { accumulator, a, b, broadcast } => {
                self.contract(operation, accumulator, [a, b], *broadcast)?;
            }
            Kind::Map { destination, expression } => self.map(operation, destination, expression)?,
            Kind::Reduce { destination, expression, combine, accumulate } => {
                self.reduce(operation, destination, expression, *combine, *accumulate)?;
            }
            Kind::Prefetch { lines, write } => self.prefetch_lines(lines, *write)?,
        }
        self.pinned.clear();
        Ok(())
    }

    /// Branches to the returned label when the row lies beyond a limit.
    pub(super) fn guard_row(&mut self, operation: &Operation, row: &Point) -> Option<Label> {
        let mut skip = None;
        for (at, axis) in operation.axes.iter().enumerate() {
            if Some(at) == operation.vector {
                continue;
            }
            if let Some(limit) = self.limit(axis) {
                let label = *skip.get_or_insert_with(|| self.asm.label());
                self.branch_if_inactive(limit, row[at], label);
            }
        }
        skip
    }

    pub(super) fn bind_guard(&mut self, guard: Option<Label>) {
        if let Some(label) = guard {
            self.asm.bind(label);
        }
    }

    /// The register that holds the vector of a register buffer starting at a point.
    pub(super) fn vector_register(&self, place: &RegisterPlace, point: &Point) -> Result<u8, CompileError> {
        let Some(shape) = &self.shapes[place.buffer as usize] else {
            return unsupported("a buffer that is not in registers");
        };
        let element = shape.element(place, point)?;
        if element.lane != 0 {
            return unsupported("a vector that starts in the middle of a register");
        }
        self.buffers[place.buffer as usize]
            .get(element.position)
            .copied()
            .map_or_else(|| unsupported("a register buffer outside its scope"), Ok)
    }

    /// All lanes 0.
    pub(super) fn zero(&mut self, register: u8) {
        if register < 16 {
            let low = xmm(register);
            self.emit(Code::VEX_Vxorps_xmm_xmm_xmmm128, &[low.into(), low.into(), low.into()]);
        } else {
            let full = self.set.register(register);
            self.emit(self.set.exclusive_or, &[full.into(), full.into(), full.into()]);
        }
    }

    /// A constant in all lanes.
    pub(super) fn load_value(&mut self, register: u8, value: f32) {
        if value.to_bits() == 0 {
            self.zero(register);
            return;
        }
        let memory = self.asm.constant(Constant::Repeated { copies: 1, bits: value.to_bits() });
        self.emit(self.set.broadcast, &[self.set.register(register).into(), memory.into()]);
    }

    /// A constant for the last operand of a vector instruction, all lanes alike.
    pub(super) fn constant_bits(&mut self, bits: u32) -> Memory {
        let copies = if self.set.embedded_broadcast { 1 } else { self.set.lanes() };
        let memory = self.asm.constant(Constant::Repeated { copies, bits });
        if self.set.embedded_broadcast { memory.repeated() } else { memory }
    }

    /// `destination ← first op second`.
    pub(super) fn vector_op(&mut self, code: Code, destination: u8, first: u8, second: u8) {
        self.asm.emit_vectors(code, [destination, first, second], None);
    }

    /// `destination ← first op memory`.
    pub(super) fn vector_op_memory(&mut self, code: Code, destination: u8, first: u8, second: Memory) {
        self.asm.emit_vectors(code, [destination, first, 0], Some(second));
    }

    /// `destination ← source`.
    pub(super) fn move_vector(&mut self, destination: u8, source: u8) {
        if destination != source {
            let [destination, source] = [destination, source].map(|number| self.set.register(number));
            self.emit(self.set.copy, &[destination.into(), source.into()]);
        }
    }

    /// The element in lane 0 of `source` to all lanes.
    pub(super) fn broadcast_register(&mut self, destination: u8, source: u8) {
        let low: Register = xmm(source);
        self.emit(self.set.broadcast_lane, &[self.set.register(destination).into(), low.into()]);
    }

    /// Whether a write of these lanes must keep the others.
    pub(super) fn keeps_lanes(&self, place: &RegisterPlace, lanes: &Lanes) -> bool {
        let buffer = place.buffer as usize;
        let has_lanes = self.shapes[buffer].as_ref().is_some_and(|shape| shape.lane_dimension().is_some());
        self.observed[buffer].writes
            && has_lanes
            && (lanes.limit.is_some() || lanes.count < self.full.lanes())
    }

    /// Writes an element of a register buffer: `compute` leaves the value in the register it is given.
    pub(super) fn write_register(
        &mut self,
        place: &RegisterPlace,
        register: u8,
        lanes: &Lanes,
        compute: &mut dyn FnMut(&mut Self, u8) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        self.narrow(Some(*lanes));
        if self.keeps_lanes(place, lanes) {
            let value = self.pool.take()?;
            compute(self, value)?;
            self.blend(register, value, lanes)?;
            self.pool.give(value);
        } else {
            compute(self, register)?;
        }
        self.widen();
        Ok(())
    }

    /// `destination ← value` at every active point.
    fn fill(&mut self, operation: &Operation, destination: &Place, value: f32) -> Result<(), CompileError> {
        let vectors = self.vectors(operation);
        let width = self.set.lanes();
        match destination {
            Place::Register(place) => {
                for row in operation.rows() {
                    let exact = self.observed[place.buffer as usize].writes;
                    let guard = if exact { self.guard_row(operation, &row) } else { None };
                    for lanes in &vectors {
                        let point = operation.at_vector(&row, lanes, width);
                        let register = self.vector_register(place, &point)?;
                        self.write_register(place, register, lanes, &mut |emitter, into| {
                            emitter.load_value(into, value);
                            Ok(())
                        })?;
                    }
                    self.bind_guard(guard);
                }
            }
            Place::Memory(place) => {
                let register = self.pool.take()?;
                self.load_value(register, value);
                for row in operation.rows() {
                    let guard = self.guard_row(operation, &row);
                    for lanes in &vectors {
                        let point = operation.at_vector(&row, lanes, width);
                        self.store_place(operation, place, register, &point, lanes)?;
                    }
                    self.bind_guard(guard);
                }
                self.pool.give(register);
            }
        }
        Ok(())
    }
}

/// Addresses of all memory that an operation touches.
fn addresses(operation: &Operation) -> Vec<Linear> {
    let mut all = Vec::new();
    let mut visit = |place: &Place| {
        if let Place::Memory(memory) = place {
            all.push(memory.address);
        }
    };
    match &operation.kind {
        Kind::Fill { destination, .. } => visit(destination),
        Kind::Copy { destination, source, .. } => {
            visit(destination);
            visit(source);
        }
        Kind::Contract { accumulator, a, b, .. } => [accumulator, a, b].into_iter().for_each(visit),
        Kind::Map { destination, expression } | Kind::Reduce { destination, expression, .. } => {
            visit(destination);
            expression.places(&mut visit);
        }
        Kind::Prefetch { lines, .. } => all.extend(lines.first()),
    }
    all
}

impl Lanes {
    /// The same vector without a limit and with this many lanes.
    pub(super) fn whole(&self, count: usize) -> Self {
        Self { vector: self.vector, count, limit: None }
    }
}
