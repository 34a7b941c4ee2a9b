//! Loads and stores of whole and partial vectors.

use iced_x86::{Code, Register};

use super::assembler::Constant;
use super::emitter::{DATA, Emitter};
use super::guard::LimitId;
use super::operand::{Masking, Memory, Operand};
use super::points::{Point, points_along};
use super::tree::{ELEMENT_BYTES, MemoryPlace, Operation};
use super::vector::{MaskStyle, xmm, ymm};
use crate::error::CompileError;

/// Opmask registers of constant masks.
pub(super) const OPMASKS: [Register; 6] =
    [Register::K2, Register::K3, Register::K4, Register::K5, Register::K6, Register::K7];

/// The active part of one vector of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    /// Number of the vector along its axis.
    pub(super) vector: usize,
    /// Lanes that exist.
    pub(super) count: usize,
    /// Limit that may switch off more of them.
    pub(super) limit: Option<LimitId>,
}

impl Operation {
    /// Bytes between lanes; 0: one element for all; `None`: they are not equally far apart.
    pub(super) fn lane_stride(&self, place: &MemoryPlace, point: &Point, lanes: &Lanes) -> Option<i64> {
        match self.vector {
            Some(axis) => place.stride(point, axis, lanes.count),
            None => Some(ELEMENT_BYTES),
        }
    }

    /// Extents of all axes.
    pub(super) fn extents(&self) -> Point {
        std::array::from_fn(|axis| self.axes.get(axis).map_or(1, |axis| axis.extent))
    }

    /// Points of the axes that do not run along the lanes.
    pub(super) fn rows(&self) -> Vec<Point> {
        points_along(&self.extents(), |axis| Some(axis) != self.vector)
    }

    /// A row's point moved to the start of a vector.
    pub(super) fn at_vector(&self, row: &Point, lanes: &Lanes, width: usize) -> Point {
        let mut point = *row;
        if let Some(axis) = self.vector {
            point[axis] = (lanes.vector * width) as u64;
        }
        point
    }
}

impl Emitter<'_> {
    /// The vectors along the lane axis; a scalar operation has one of one lane.
    pub(super) fn vectors(&self, operation: &Operation) -> Vec<Lanes> {
        let Some(axis) = operation.vector else { return vec![Lanes { vector: 0, count: 1, limit: None }] };
        let width = self.set.lanes();
        let extent = operation.axes[axis].extent as usize;
        let limit = self.limit(&operation.axes[axis]);
        (0..extent.div_ceil(width))
            .map(|vector| Lanes { vector, count: width.min(extent - vector * width), limit })
            .collect()
    }

    /// Uses instructions as narrow as a vector with a known number of lanes allows, until [`Self::widen`].
    pub(super) fn narrow(&mut self, lanes: Option<Lanes>) {
        let known = lanes.filter(|lanes| lanes.limit.is_none());
        self.set = known.map_or(self.full, |lanes| self.full.narrowest(lanes.count));
    }

    /// Uses instructions of full width again.
    pub(super) fn widen(&mut self) {
        self.set = self.full;
    }

    /// Loads the elements of a vector. Lanes that are not active become 0, except that memory with room is
    /// read whole when `exact` is not asked for.
    pub(super) fn load_place(
        &mut self,
        operation: &Operation,
        into: u8,
        place: &MemoryPlace,
        point: &Point,
        lanes: &Lanes,
        exact: bool,
    ) -> Result<(), CompileError> {
        let set = self.set;
        self.narrow(Some(*lanes));
        match operation.lane_stride(place, point, lanes) {
            Some(0) => {
                let memory = self.memory(place.address, place.offset(point))?;
                let register = self.set.register(into);
                self.emit(self.set.broadcast, &[register.into(), memory.into()]);
            }
            Some(ELEMENT_BYTES) => {
                let memory = self.memory(place.address, place.offset(point))?;
                // One or two elements are one load anyway, and it can get them from the stores before it.
                let few = lanes.limit.is_none() && lanes.count <= 2;
                let lanes = if place.room && !exact && !few {
                    Lanes { count: self.set.lanes(), limit: None, ..*lanes }
                } else {
                    *lanes
                };
                self.load_lanes(into, memory, &lanes);
            }
            _ => self.gather(operation, into, place, point, lanes)?,
        }
        self.set = set;
        Ok(())
    }

    /// Stores the active elements of a vector.
    pub(super) fn store_place(
        &mut self,
        operation: &Operation,
        place: &MemoryPlace,
        from: u8,
        point: &Point,
        lanes: &Lanes,
    ) -> Result<(), CompileError> {
        let set = self.set;
        self.narrow(Some(*lanes));
        if operation.lane_stride(place, point, lanes) == Some(ELEMENT_BYTES) || lanes.count == 1 {
            let memory = self.memory(place.address, place.offset(point))?;
            self.store_lanes(memory, from, lanes)?;
        } else {
            self.scatter(operation, place, from, point, lanes)?;
        }
        self.set = set;
        Ok(())
    }

    /// Loads neighbouring elements; inactive lanes become 0.
    pub(super) fn load_lanes(&mut self, into: u8, memory: Memory, lanes: &Lanes) {
        let register = self.set.register(into);
        if let Some(limit) = lanes.limit {
            match self.set.masks {
                MaskStyle::Vector { load, .. } => {
                    let mask = Memory::new(Register::RSP, self.mask(limit, lanes.vector));
                    self.emit(self.set.load, &[register.into(), mask.into()]);
                    self.emit(load, &[register.into(), register.into(), memory.into()]);
                }
                MaskStyle::Opmask => {
                    let mask = self.limit_opmask(limit, lanes.vector);
                    self.load_masked(register, memory, mask);
                }
            }
            return;
        }
        if lanes.count == self.set.lanes() {
            self.emit(self.set.load, &[register.into(), memory.into()]);
            return;
        }
        let narrowest = self.full.narrowest(lanes.count);
        match (lanes.count, self.set.masks) {
            (1, _) => self.emit(self.set.few.load_one, &[xmm(into).into(), memory.into()]),
            (2, _) => self.emit(self.set.few.load_two, &[xmm(into).into(), memory.into()]),
            // Loads clear the lanes that they leave out.
            (count, _) if count == narrowest.lanes() => {
                self.emit(narrowest.load, &[narrowest.register(into).into(), memory.into()]);
            }
            (count, MaskStyle::Opmask) => {
                let mask = self.constant_opmask(count);
                self.load_masked(register, memory, mask);
            }
            (count, MaskStyle::Vector { load, .. }) => {
                let mask = self.constant_mask(count);
                self.emit(self.set.load, &[register.into(), mask.into()]);
                self.emit(load, &[register.into(), register.into(), memory.into()]);
            }
        }
    }

    /// `destination ← value` in the active lanes, the others kept.
    pub(super) fn blend(&mut self, destination: u8, value: u8, lanes: &Lanes) -> Result<(), CompileError> {
        self.widen();
        let [to, from] = [destination, value].map(|number| self.set.register(number));
        match self.set.masks {
            MaskStyle::Vector { blend, .. } => {
                let memory = match lanes.limit {
                    Some(limit) => Memory::new(Register::RSP, self.mask(limit, lanes.vector)),
                    None => self.constant_mask(lanes.count),
                };
                let mask = self.pool.take()?;
                let mask_register = self.set.register(mask);
                self.emit(self.set.load, &[mask_register.into(), memory.into()]);
                self.emit(blend, &[to.into(), to.into(), from.into(), mask_register.into()]);
                self.pool.give(mask);
            }
            MaskStyle::Opmask => {
                let mask = match lanes.limit {
                    Some(limit) => self.limit_opmask(limit, lanes.vector),
                    None => self.constant_opmask(lanes.count),
                };
                self.asm.emit_masked(self.set.copy, &[to.into(), from.into()], Masking::Merge(mask));
            }
        }
        Ok(())
    }

    /// Puts the mask of a limit into an opmask register.
    fn limit_opmask(&mut self, limit: LimitId, vector: usize) -> Register {
        let mask = Memory::new(Register::RSP, self.mask(limit, vector));
        self.emit(Code::VEX_Kmovw_kr_km16, &[Register::K1.into(), mask.into()]);
        Register::K1
    }

    fn load_masked(&mut self, register: Register, memory: Memory, mask: Register) {
        let operands = [register.into(), memory.into()];
        self.asm.emit_masked(self.set.load, &operands, Masking::Zero(mask));
    }

    /// An opmask register with the first `count` lanes. The entry loads the first few of them once and for all.
    fn constant_opmask(&mut self, count: usize) -> Register {
        let known = self.opmasks.iter().position(|&known| known == count);
        if known.is_none() && self.opmasks.len() < OPMASKS.len() {
            self.opmasks.push(count);
            return OPMASKS[self.opmasks.len() - 1];
        }
        known.map_or_else(
            || {
                self.load_opmask(Register::K1, count);
                Register::K1
            },
            |known| OPMASKS[known],
        )
    }

    /// Puts a mask of the first `count` lanes into an opmask register.
    pub(super) fn load_opmask(&mut self, mask: Register, count: usize) {
        let data = DATA.full_register32();
        self.emit(Code::Mov_r32_imm32, &[data.into(), Operand::Immediate((1 << count) - 1)]);
        self.emit(Code::VEX_Kmovw_kr_r32, &[mask.into(), data.into()]);
    }

    /// A vector mask of the first `count` lanes.
    pub(super) fn constant_mask(&mut self, count: usize) -> Memory {
        let bytes: Vec<u8> = (0..self.set.bytes).map(|at| if at < count * 4 { 0xff } else { 0 }).collect();
        self.asm.constant(Constant::Bytes(bytes))
    }

    /// Stores neighbouring elements.
    pub(super) fn store_lanes(
        &mut self,
        memory: Memory,
        from: u8,
        lanes: &Lanes,
    ) -> Result<(), CompileError> {
        let register = self.set.register(from);
        if lanes.limit.is_none() && lanes.count == self.set.lanes() {
            self.emit(self.set.store, &[memory.into(), register.into()]);
            return Ok(());
        }
        if lanes.limit.is_none() {
            let narrowest = self.full.narrowest(lanes.count);
            let (code, register) = match lanes.count {
                1 => (self.set.few.store_one, Some(xmm(from))),
                2 => (self.set.few.store_two, Some(xmm(from))),
                count => (narrowest.store, (count == narrowest.lanes()).then(|| narrowest.register(from))),
            };
            if let Some(register) = register {
                self.emit(code, &[memory.into(), register.into()]);
                return Ok(());
            }
        }
        match (self.set.masks, lanes.limit) {
            (MaskStyle::Opmask, limit) => {
                let mask = match limit {
                    Some(limit) => self.limit_opmask(limit, lanes.vector),
                    None => self.constant_opmask(lanes.count),
                };
                let operands = [memory.into(), register.into()];
                self.asm.emit_masked(self.set.store, &operands, Masking::Merge(mask));
                Ok(())
            }
            (MaskStyle::Vector { .. }, None) if lanes.count <= 4 || self.pool.available() > 0 => {
                self.store_pieces(memory, from, lanes.count)
            }
            (MaskStyle::Vector { store, .. }, limit) => {
                let mask = match limit {
                    Some(limit) => Memory::new(Register::RSP, self.mask(limit, lanes.vector)),
                    None => self.constant_mask(lanes.count),
                };
                let temporary = self.pool.take()?;
                let mask_register = self.set.register(temporary);
                self.emit(self.set.load, &[mask_register.into(), mask.into()]);
                self.emit(store, &[memory.into(), mask_register.into(), register.into()]);
                self.pool.give(temporary);
                Ok(())
            }
        }
    }

    /// Stores the first `count` lanes of a ymm register in pieces of 4, 2 and 1: masked stores are slow on
    /// AMD processors (tens of micro-operations, Agner Fog's instruction tables).
    pub(super) fn store_pieces(
        &mut self,
        memory: Memory,
        from: u8,
        count: usize,
    ) -> Result<(), CompileError> {
        let (mut memory, mut left, mut source) = (memory, count, from);
        let mut taken = None;
        if left >= 4 {
            self.emit(Code::VEX_Vmovups_xmmm128_xmm, &[memory.into(), xmm(source).into()]);
            memory = memory.plus(16);
            left -= 4;
            if left > 0 {
                let high = self.pool.take()?;
                let operands = [xmm(high).into(), ymm(source).into(), Operand::Immediate(1)];
                self.emit(Code::VEX_Vextractf128_xmmm128_ymm_imm8, &operands);
                taken = Some(high);
                source = high;
            }
        }
        let mut lane = 0;
        if left >= 2 {
            self.emit(Code::VEX_Vmovlps_m64_xmm, &[memory.into(), xmm(source).into()]);
            memory = memory.plus(8);
            left -= 2;
            lane = 2;
        }
        if left == 1 {
            let code = if lane == 0 { Code::VEX_Vmovss_m32_xmm } else { Code::VEX_Vextractps_rm32_xmm_imm8 };
            if lane == 0 {
                self.emit(code, &[memory.into(), xmm(source).into()]);
            } else {
                self.emit(code, &[memory.into(), xmm(source).into(), Operand::Immediate(lane)]);
            }
        }
        if let Some(high) = taken {
            self.pool.give(high);
        }
        Ok(())
    }

    /// Loads elements that are apart, one after another, through the frame.
    fn gather(
        &mut self,
        operation: &Operation,
        into: u8,
        place: &MemoryPlace,
        point: &Point,
        lanes: &Lanes,
    ) -> Result<(), CompileError> {
        let scratch = Memory::new(Register::RSP, self.frame.scratch());
        let end = self.asm.label();
        let register = self.set.register(into);
        self.each_lane(operation, point, lanes, end, &mut |emitter, lane, at| {
            let memory = emitter.memory(place.address, place.offset(at))?;
            let to = scratch.plus(lane as i64 * ELEMENT_BYTES);
            emitter.move_element(to, memory);
            Ok(())
        })?;
        self.asm.bind(end);
        self.emit(self.set.load, &[register.into(), scratch.into()]);
        Ok(())
    }

    /// Stores to elements that are apart.
    fn scatter(
        &mut self,
        operation: &Operation,
        place: &MemoryPlace,
        from: u8,
        point: &Point,
        lanes: &Lanes,
    ) -> Result<(), CompileError> {
        let scratch = Memory::new(Register::RSP, self.frame.scratch());
        let end = self.asm.label();
        self.emit(self.set.store, &[scratch.into(), self.set.register(from).into()]);
        self.each_lane(operation, point, lanes, end, &mut |emitter, lane, at| {
            let from = scratch.plus(lane as i64 * ELEMENT_BYTES);
            let memory = emitter.memory(place.address, place.offset(at))?;
            emitter.move_element(memory, from);
            Ok(())
        })?;
        self.asm.bind(end);
        Ok(())
    }

    /// Moves one element from memory to memory.
    pub(super) fn move_element(&mut self, to: Memory, from: Memory) {
        self.emit(Code::Mov_r32_rm32, &[DATA.full_register32().into(), from.into()]);
        self.emit(Code::Mov_rm32_r32, &[to.into(), DATA.full_register32().into()]);
    }

    fn each_lane(
        &mut self,
        operation: &Operation,
        point: &Point,
        lanes: &Lanes,
        end: super::assembler::Label,
        emit: &mut dyn FnMut(&mut Self, usize, &Point) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let mut at = *point;
        for lane in 0..lanes.count {
            if let Some(axis) = operation.vector {
                at[axis] = point[axis] + lane as u64;
            }
            if let Some(limit) = lanes.limit {
                self.branch_if_inactive(limit, (lanes.vector * self.set.lanes() + lane) as u64, end);
            }
            emit(self, lane, &at)?;
        }
        Ok(())
    }
}
