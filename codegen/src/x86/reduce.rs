//! `reduce`: combinations over axes, sums over lanes included.

use iced_x86::Code;
use tilewright_ir::program::Combine;

use super::emitter::Emitter;
use super::lanes::Lanes;
use super::map::At;
use super::operand::{Memory, Operand};
use super::points::{Point, plus, points_along};
use super::tree::{ELEMENT_BYTES, ExpressionNode, MemoryPlace, Operation, Place};
use super::vector::{xmm, ymm};
use crate::error::{CompileError, unsupported};

/// Sums over lanes that are done together.
const GROUP: usize = 4;

/// Temporaries that this takes at most.
const GROUP_REGISTERS: u32 = 4;

/// What is combined, and how.
#[derive(Clone, Copy)]
struct Reduction<'a> {
    operation: &'a Operation,
    expression: &'a ExpressionNode,
    combine: Combine,
}

impl Emitter<'_> {
    /// `destination ← combine of expression over the axes absent from the destination`.
    pub(super) fn reduce(
        &mut self,
        operation: &Operation,
        destination: &Place,
        expression: &ExpressionNode,
        combine: Combine,
        accumulate: bool,
    ) -> Result<(), CompileError> {
        let reduction = Reduction { operation, expression, combine };
        let kept = |axis: usize| destination.depends_on(axis);
        match operation.vector {
            Some(axis) if !kept(axis) => self.reduce_lanes(&reduction, destination, accumulate),
            _ => self.reduce_rows(&reduction, destination, accumulate),
        }
    }

    /// The destination keeps the lanes.
    fn reduce_rows(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        accumulate: bool,
    ) -> Result<(), CompileError> {
        let operation = reduction.operation;
        let width = self.set.lanes();
        let kept = |axis: usize| destination.depends_on(axis) && operation.vector != Some(axis);
        for row in points_along(&operation.extents(), kept) {
            let outside = self.guard_kept(reduction, destination, &row);
            for lanes in &self.vectors(operation) {
                let point = operation.at_vector(&row, lanes, width);
                let sum = self.pool.take()?;
                self.start(reduction, destination, accumulate, sum, &point, lanes)?;
                self.combine_rows(reduction, destination, sum, &row, lanes)?;
                match destination {
                    Place::Memory(place) => self.store_place(operation, place, sum, &point, lanes)?,
                    Place::Register(place) => {
                        let register = self.vector_register(place, &point)?;
                        self.write_register(place, register, lanes, &mut |emitter, into| {
                            emitter.move_vector(into, sum);
                            Ok(())
                        })?;
                    }
                }
                self.pool.give(sum);
            }
            self.asm.bind(outside);
        }
        Ok(())
    }

    /// The first value of a combination.
    fn start(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        accumulate: bool,
        sum: u8,
        point: &Point,
        lanes: &Lanes,
    ) -> Result<(), CompileError> {
        match destination {
            _ if !accumulate => {
                self.load_value(sum, identity(reduction.combine));
                Ok(())
            }
            Place::Memory(place) => self.load_place(reduction.operation, sum, place, point, lanes, false),
            Place::Register(place) => {
                let register = self.vector_register(place, point)?;
                self.move_vector(sum, register);
                Ok(())
            }
        }
    }

    /// Branches to the returned label when a destination's point lies beyond a limit.
    fn guard_kept(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        row: &Point,
    ) -> super::assembler::Label {
        let skip = self.asm.label();
        for (at, axis) in reduction.operation.axes.iter().enumerate() {
            if destination.depends_on(at)
                && Some(at) != reduction.operation.vector
                && let Some(limit) = self.limit(axis)
            {
                self.branch_if_inactive(limit, row[at], skip);
            }
        }
        skip
    }

    /// Combines one vector over all reduced rows.
    fn combine_rows(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        sum: u8,
        row: &Point,
        lanes: &Lanes,
    ) -> Result<(), CompileError> {
        let operation = reduction.operation;
        let width = self.set.lanes();
        let reduced = |axis: usize| !destination.depends_on(axis) && operation.vector != Some(axis);
        for inner in points_along(&operation.extents(), reduced) {
            let skip = self.asm.label();
            for (at, axis) in operation.axes.iter().enumerate() {
                if reduced(at)
                    && let Some(limit) = self.limit(axis)
                {
                    self.branch_if_inactive(limit, inner[at], skip);
                }
            }
            let both = plus(row, &inner);
            let point = operation.at_vector(&both, lanes, width);
            let at = At { operation, point: &point, lanes };
            let value = self.evaluate(&at, reduction.expression, None)?;
            self.join(reduction.combine, sum, value.register)?;
            self.release(value);
            self.asm.bind(skip);
        }
        Ok(())
    }

    /// `sum ← sum combined with value`.
    fn join(&mut self, combine: Combine, sum: u8, value: u8) -> Result<(), CompileError> {
        match combine {
            Combine::Sum => self.vector_op(self.set.add, sum, sum, value),
            Combine::Product => self.vector_op(self.set.multiply, sum, sum, value),
            Combine::Maximum | Combine::Minimum => {
                let code = if combine == Combine::Maximum { self.set.maximum } else { self.set.minimum };
                let joined = self.pool.take()?;
                self.extreme(code, joined, sum, value)?;
                self.move_vector(sum, joined);
                self.pool.give(joined);
            }
        }
        Ok(())
    }

    /// Lanes are combined too: every destination element is one value.
    fn reduce_lanes(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        accumulate: bool,
    ) -> Result<(), CompileError> {
        let operation = reduction.operation;
        let rows = points_along(&operation.extents(), |axis| destination.depends_on(axis));
        let guarded = operation.axes.iter().any(|axis| self.limit(axis).is_some());
        let mut at = 0;
        while at < rows.len() {
            if let Place::Memory(place) = destination
                && !guarded
                && !accumulate
                && reduction.combine == Combine::Sum
                && self.pool.available() >= GROUP_REGISTERS
            {
                let group = neighbours(place, &rows[at..rows.len().min(at + GROUP)]);
                self.sum_group(reduction, destination, place, group)?;
                at += group.len();
                continue;
            }
            self.reduce_one(reduction, destination, accumulate, &rows[at])?;
            at += 1;
        }
        Ok(())
    }

    fn reduce_one(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        accumulate: bool,
        row: &Point,
    ) -> Result<(), CompileError> {
        let outside = self.guard_kept(reduction, destination, row);
        let sum = self.pool.take()?;
        self.all_lanes(reduction, destination, sum, row)?;
        self.fold(reduction.combine, sum)?;
        let single = Lanes { vector: 0, count: 1, limit: None };
        match destination {
            Place::Memory(place) => {
                let memory = self.memory(place.address, place.offset(row))?;
                if accumulate {
                    let old = self.pool.take()?;
                    self.load_lanes(old, memory, &single);
                    self.join(reduction.combine, sum, old)?;
                    self.pool.give(old);
                }
                let memory = self.memory(place.address, place.offset(row))?;
                self.store_lanes(memory, sum, &single)?;
            }
            Place::Register(place) => {
                let register = self.vector_register(place, row)?;
                if self.shapes[place.buffer as usize]
                    .as_ref()
                    .is_some_and(|shape| shape.lane_dimension().is_some())
                {
                    return unsupported("a sum over lanes into a lane of a register");
                }
                if accumulate {
                    self.join(reduction.combine, sum, register)?;
                }
                self.move_vector(register, sum);
            }
        }
        self.pool.give(sum);
        self.asm.bind(outside);
        Ok(())
    }

    /// Combines all vectors and rows that go to one destination element, lane by lane.
    fn all_lanes(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        sum: u8,
        row: &Point,
    ) -> Result<(), CompileError> {
        self.load_value(sum, identity(reduction.combine));
        for lanes in &self.vectors(reduction.operation) {
            if lanes.limit.is_none() && lanes.count == self.set.lanes() {
                self.combine_rows(reduction, destination, sum, row, lanes)?;
                continue;
            }
            if reduction.combine != Combine::Sum {
                return unsupported("a maximum or product over a partial vector");
            }
            let part = self.pool.take()?;
            self.zero(part);
            self.combine_rows(reduction, destination, part, row, lanes)?;
            self.keep_active(part, lanes);
            self.vector_op(self.set.add, sum, sum, part);
            self.pool.give(part);
        }
        Ok(())
    }

    /// Inactive lanes become 0, by way of the frame: this is no inner loop.
    fn keep_active(&mut self, register: u8, lanes: &Lanes) {
        let scratch = Memory::new(iced_x86::Register::RSP, self.frame.scratch());
        self.emit(self.set.store, &[scratch.into(), self.set.register(register).into()]);
        self.load_lanes(register, scratch, lanes);
    }

    /// Combines the lanes of a register into lane 0.
    fn fold(&mut self, combine: Combine, sum: u8) -> Result<(), CompileError> {
        let other = self.pool.take()?;
        // Through memory: half the vector is read back from its middle, and again.
        let scratch = Memory::new(iced_x86::Register::RSP, self.frame.scratch());
        let mut lanes = self.set.lanes() / 2;
        while lanes > 0 {
            self.emit(self.set.store, &[scratch.into(), self.set.register(sum).into()]);
            let half = Lanes { vector: 0, count: lanes, limit: None };
            self.load_lanes(other, scratch.plus(lanes as i64 * ELEMENT_BYTES), &half);
            self.join(combine, sum, other)?;
            lanes /= 2;
        }
        self.pool.give(other);
        Ok(())
    }

    /// At most four sums over lanes into neighbouring elements: two levels of horizontal additions.
    fn sum_group(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        place: &MemoryPlace,
        group: &[Point],
    ) -> Result<(), CompileError> {
        let add = Code::VEX_Vhaddps_ymm_ymm_ymmm256;
        let mut pairs = Vec::with_capacity(2);
        for rows in group.chunks(2) {
            let first = self.lane_sums(reduction, destination, &rows[0])?;
            let second = rows.get(1).map(|row| self.lane_sums(reduction, destination, row)).transpose()?;
            let pair = if first.owned { first.register } else { self.pool.take()? };
            let other = second.as_ref().map_or(first.register, |second| second.register);
            self.emit(add, &[ymm(pair), ymm(first.register), ymm(other)].map(Operand::from));
            if let Some(second) = second.filter(|second| second.owned) {
                self.pool.give(second.register);
            }
            pairs.push(pair);
        }
        let low = Operand::from(ymm(pairs[0]));
        let high = if pairs.len() > 1 { pairs[1] } else { self.pool.take()? };
        self.emit(add, &[low, low, pairs.get(1).map_or(low, |&pair| ymm(pair).into())]);
        let upper = Operand::from(xmm(high));
        self.emit(Code::VEX_Vextractf128_xmmm128_ymm_imm8, &[upper, low, Operand::Immediate(1)]);
        let sums = Operand::from(xmm(pairs[0]));
        self.emit(Code::VEX_Vaddps_xmm_xmm_xmmm128, &[sums, sums, upper]);
        let memory = self.memory(place.address, place.offset(&group[0]))?;
        self.store_lanes(memory, pairs[0], &Lanes { vector: 0, count: group.len(), limit: None })?;
        self.pool.give_all(&[pairs[0], high]);
        Ok(())
    }

    /// A ymm register whose lanes add up to one destination element.
    fn lane_sums(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        row: &Point,
    ) -> Result<LaneSums, CompileError> {
        let vectors = self.vectors(reduction.operation);
        let whole = vectors.len() == 1 && vectors[0].count == self.set.lanes();
        if let (true, ExpressionNode::Load(Place::Register(place))) = (whole, reduction.expression)
            && reduction.operation.axes.iter().zip(0..).all(|(axis, at)| {
                axis.extent == 1 || Some(at) == reduction.operation.vector || destination.depends_on(at)
            })
        {
            let register = self.vector_register(place, row)?;
            if self.set.bytes < 64 {
                return Ok(LaneSums { register, owned: false });
            }
            let sum = self.pool.take()?;
            self.join_halves(sum, register)?;
            return Ok(LaneSums { register: sum, owned: true });
        }
        let sum = self.pool.take()?;
        self.all_lanes(reduction, destination, sum, row)?;
        if self.set.bytes == 64 {
            self.join_halves(sum, sum)?;
        }
        Ok(LaneSums { register: sum, owned: true })
    }

    /// The lower half of a zmm register plus its upper half, in a ymm register.
    fn join_halves(&mut self, into: u8, register: u8) -> Result<(), CompileError> {
        let upper = self.pool.take()?;
        let operands = [ymm(upper).into(), self.set.register(register).into(), Operand::Immediate(1)];
        self.emit(Code::EVEX_Vextractf32x8_ymmm256_k1z_zmm_imm8, &operands);
        let operands = [ymm(into), ymm(register), ymm(upper)].map(Operand::from);
        self.emit(Code::EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32, &operands);
        self.pool.give(upper);
        Ok(())
    }
}

/// Lanes still to be added up.
struct LaneSums {
    register: u8,
    /// A temporary, not an element of a register buffer.
    owned: bool,
}

/// The first of the points, and those that lie right behind it in memory.
fn neighbours<'a>(place: &MemoryPlace, points: &'a [Point]) -> &'a [Point] {
    let first = place.offset(&points[0]);
    let apart =
        points.iter().zip(0..).position(|(point, at)| place.offset(point) != first + at * ELEMENT_BYTES);
    &points[..apart.unwrap_or(points.len())]
}

/// The combination of nothing.
fn identity(combine: Combine) -> f32 {
    match combine {
        Combine::Sum => 0.0,
        Combine::Product => 1.0,
        Combine::Maximum => f32::NEG_INFINITY,
        Combine::Minimum => f32::INFINITY,
    }
}
