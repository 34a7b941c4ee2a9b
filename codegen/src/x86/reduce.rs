//! `reduce`: combinations over axes, sums over lanes included.

use iced_x86::Code;
use tilewright_ir::program::Combine;

use super::emitter::Emitter;
use super::encoder::{Memory, Operand};
use super::lanes::Lanes;
use super::map::At;
use super::points::points_along;
use super::tree::{ELEMENT_BYTES, ExpressionNode, MemoryPlace, Operation, Place};
use super::vector::{xmm, ymm};
use crate::error::{CompileError, unsupported};

/// Sums over lanes that are done together.
const GROUP: usize = 4;

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
                        self.move_vector(register, sum);
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
        point: &[u64],
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
        row: &[u64],
    ) -> super::encoder::Label {
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
        row: &[u64],
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
            let both: Vec<u64> = row.iter().zip(&inner).map(|(x, y)| x + y).collect();
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
            let group = rows.get(at..at + GROUP).filter(|_| {
                !guarded && !accumulate && reduction.combine == Combine::Sum && self.pool.available() >= 6
            });
            if let (Some(group), Place::Memory(place)) = (group, destination)
                && neighbours(place, group)
            {
                self.sum_group(reduction, destination, place, group)?;
                at += GROUP;
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
        row: &[u64],
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
        row: &[u64],
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
            self.keep_active(part, lanes)?;
            self.vector_op(self.set.add, sum, sum, part);
            self.pool.give(part);
        }
        Ok(())
    }

    /// Inactive lanes become 0, by way of the frame: this is no inner loop.
    fn keep_active(&mut self, register: u8, lanes: &Lanes) -> Result<(), CompileError> {
        let scratch = Memory::new(iced_x86::Register::RSP, self.frame.scratch());
        self.emit(self.set.store, &[scratch.into(), self.set.register(register).into()]);
        self.load_lanes(register, scratch, lanes);
        Ok(())
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

    /// Four sums over lanes into four neighbouring elements: two levels of horizontal additions.
    fn sum_group(
        &mut self,
        reduction: &Reduction<'_>,
        destination: &Place,
        place: &MemoryPlace,
        group: &[Vec<u64>],
    ) -> Result<(), CompileError> {
        let sums = self.pool.take_all(GROUP)?;
        for (&sum, row) in sums.iter().zip(group) {
            self.all_lanes(reduction, destination, sum, row)?;
            if self.set.bytes == 64 {
                let upper = self.pool.take()?;
                let operands = [ymm(upper).into(), self.set.register(sum).into(), Operand::Byte(1)];
                self.emit(Code::EVEX_Vextractf32x8_ymmm256_k1z_zmm_imm8, &operands);
                let operands = [ymm(sum).into(), ymm(sum).into(), ymm(upper).into()];
                self.emit(Code::EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32, &operands);
                self.pool.give(upper);
            }
        }
        let add = Code::VEX_Vhaddps_ymm_ymm_ymmm256;
        let [a, b, c, d] = [sums[0], sums[1], sums[2], sums[3]].map(|sum| Operand::from(ymm(sum)));
        self.emit(add, &[a, a, b]);
        self.emit(add, &[c, c, d]);
        self.emit(add, &[a, a, c]);
        let upper = Operand::from(xmm(sums[1]));
        self.emit(Code::VEX_Vextractf128_xmmm128_ymm_imm8, &[upper, a, Operand::Byte(1)]);
        let low = Operand::from(xmm(sums[0]));
        self.emit(Code::VEX_Vaddps_xmm_xmm_xmmm128, &[low, low, upper]);
        let memory = self.memory(place.address, place.offset(&group[0]))?;
        self.emit(Code::VEX_Vmovups_xmmm128_xmm, &[memory.into(), low]);
        self.pool.give_all(&sums);
        Ok(())
    }
}

/// Whether points lie one after another in memory.
fn neighbours(place: &MemoryPlace, points: &[Vec<u64>]) -> bool {
    let first = place.offset(&points[0]);
    points.iter().zip(0..).all(|(point, at)| place.offset(point) == first + at * ELEMENT_BYTES)
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
