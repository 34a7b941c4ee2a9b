//! `copy`: between registers and memory, and packing from memory to memory.

use iced_x86::Code;

use super::emitter::{DATA, Emitter};
use super::operand::Operand;
use super::points::{Point, points};
use super::tree::{MemoryPlace, Operation, Place};
use crate::error::{CompileError, unsupported};

impl Emitter<'_> {
    /// `destination ← source`, and `pad` at inactive points.
    pub(super) fn copy(
        &mut self,
        operation: &Operation,
        destination: &Place,
        source: &Place,
        pad: Option<f32>,
    ) -> Result<(), CompileError> {
        let width = self.set.lanes();
        match (destination, source) {
            (Place::Memory(destination), Place::Memory(source)) => {
                return self.pack(operation, destination, source, pad);
            }
            (Place::Register(_), _) if pad.is_some_and(|pad| pad != 0.0) => {
                return unsupported("a register buffer padded with other values than 0");
            }
            (Place::Memory(_), Place::Register(_)) if pad.is_some() => {
                return unsupported("a padded copy out of registers");
            }
            _ => {}
        }
        let vectors = self.vectors(operation);
        for row in operation.rows() {
            if pad.is_some()
                && let Place::Register(destination) = destination
            {
                for lanes in &vectors {
                    let point = operation.at_vector(&row, lanes, width);
                    let register = self.vector_register(destination, &point)?;
                    self.zero(register);
                }
            }
            let guard = self.guard_row(operation, &row);
            for lanes in &vectors {
                let point = operation.at_vector(&row, lanes, width);
                match (destination, source) {
                    (Place::Register(destination), Place::Memory(source)) => {
                        let register = self.vector_register(destination, &point)?;
                        let kept = if pad.is_some() { lanes.whole(width) } else { *lanes };
                        self.write_register(destination, register, &kept, &mut |emitter, into| {
                            emitter.load_place(operation, into, source, &point, lanes, pad.is_some())
                        })?;
                    }
                    (Place::Memory(destination), Place::Register(source)) => {
                        let register = self.vector_register(source, &point)?;
                        self.store_place(operation, destination, register, &point, lanes)?;
                    }
                    (Place::Register(destination), Place::Register(source)) => {
                        let from = self.vector_register(source, &point)?;
                        let to = self.vector_register(destination, &point)?;
                        self.write_register(destination, to, lanes, &mut |emitter, into| {
                            emitter.move_vector(into, from);
                            Ok(())
                        })?;
                    }
                    (Place::Memory(_), Place::Memory(_)) => {}
                }
            }
            self.bind_guard(guard);
        }
        Ok(())
    }

    fn pack(
        &mut self,
        operation: &Operation,
        destination: &MemoryPlace,
        source: &MemoryPlace,
        pad: Option<f32>,
    ) -> Result<(), CompileError> {
        if self.can_copy_straight(operation, destination, source, pad) {
            return self.copy_straight(operation, destination, source, pad);
        }
        if let Some(plan) = self.plan_transpose(operation, destination, source, pad) {
            return self.transpose(operation, destination, source, &plan);
        }
        self.copy_elements(operation, destination, source, pad)
    }

    fn can_copy_straight(
        &self,
        operation: &Operation,
        destination: &MemoryPlace,
        source: &MemoryPlace,
        pad: Option<f32>,
    ) -> bool {
        let width = self.set.lanes();
        let contiguous = operation.vector.is_some()
            && self.vectors(operation).iter().all(|lanes| {
                let point = operation.at_vector(&Point::default(), lanes, width);
                [destination, source].into_iter().all(|place| {
                    operation.lane_stride(place, &point, lanes) == Some(super::tree::ELEMENT_BYTES)
                })
            });
        contiguous && self.pool.available() > 1 && pad.unwrap_or(0.0) == 0.0
    }

    /// Both contiguous along the lanes.
    fn copy_straight(
        &mut self,
        operation: &Operation,
        destination: &MemoryPlace,
        source: &MemoryPlace,
        pad: Option<f32>,
    ) -> Result<(), CompileError> {
        let width = self.set.lanes();
        let vectors = self.vectors(operation);
        let register = self.pool.take()?;
        for row in operation.rows() {
            let guard = self.guard_row(operation, &row);
            for lanes in &vectors {
                let point = operation.at_vector(&row, lanes, width);
                self.load_place(operation, register, source, &point, lanes, pad.is_some())?;
                let written = if pad.is_some() { lanes.whole(lanes.count) } else { *lanes };
                self.store_place(operation, destination, register, &point, &written)?;
            }
            let (Some(skip), Some(_)) = (guard, pad) else {
                self.bind_guard(guard);
                continue;
            };
            let end = self.asm.label();
            self.asm.branch(Code::Jmp_rel32_64, end);
            self.asm.bind(skip);
            self.zero(register);
            for lanes in &vectors {
                let point = operation.at_vector(&row, lanes, width);
                self.store_place(operation, destination, register, &point, &lanes.whole(lanes.count))?;
            }
            self.asm.bind(end);
        }
        self.pool.give(register);
        Ok(())
    }

    /// One element after another.
    fn copy_elements(
        &mut self,
        operation: &Operation,
        destination: &MemoryPlace,
        source: &MemoryPlace,
        pad: Option<f32>,
    ) -> Result<(), CompileError> {
        for point in points(&operation.extents()) {
            let mut skip = None;
            for (axis, &at) in operation.axes.iter().zip(&point) {
                if let Some(limit) = self.limit(axis) {
                    let label = *skip.get_or_insert_with(|| self.asm.label());
                    self.branch_if_inactive(limit, at, label);
                }
            }
            let data = DATA.full_register32();
            let from = self.memory(source.address, source.offset(&point))?;
            self.emit(Code::Mov_r32_rm32, &[data.into(), from.into()]);
            let to = self.memory(destination.address, destination.offset(&point))?;
            self.emit(Code::Mov_rm32_r32, &[to.into(), data.into()]);
            let (Some(skip), Some(pad)) = (skip, pad) else {
                self.bind_guard(skip);
                continue;
            };
            let end = self.asm.label();
            self.asm.branch(Code::Jmp_rel32_64, end);
            self.asm.bind(skip);
            let to = self.memory(destination.address, destination.offset(&point))?;
            self.emit(Code::Mov_rm32_imm32, &[to.into(), Operand::Immediate(pad.to_bits().into())]);
            self.asm.bind(end);
        }
        Ok(())
    }
}
