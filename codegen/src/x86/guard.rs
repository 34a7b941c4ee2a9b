//! Run-time limits: two versions of code, one for full tiles and one that guards rows and lanes.
//!
//! A limit is tested once before an operation or an innermost loop. Where it does not bind, code without any
//! guard runs; otherwise the limit's value and, for the axis along the lanes, the masks of all its vectors are
//! kept in the frame, rows are guarded by a comparison each, and vectors are read and written under masks.

use iced_x86::{Code, Register};

use super::assembler::{Constant, Label};
use super::emitter::Emitter;
use super::operand::{Memory, Operand};
use super::tree::{AxisNode, Linear, Operation};
use super::vector::MaskStyle;
use crate::error::CompileError;

/// An axis whose limit has to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LimitUse {
    values: Vec<Linear>,
    extent: u64,
    /// Whether lanes run along it.
    lanes: bool,
}

/// A limit that may bind in the code being emitted.
#[derive(Debug, Clone)]
pub(super) struct ActiveLimit {
    of: LimitUse,
    /// Place of `limit`, between 0 and the extent.
    slot: i64,
    /// Places of the masks, by vector along the axis.
    masks: Vec<i64>,
}

/// Number of an active limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LimitId(usize);

/// Adds the limits of an operation.
pub(super) fn collect(operation: &Operation, into: &mut Vec<LimitUse>) {
    for (at, axis) in operation.axes.iter().enumerate() {
        if axis.limits.is_empty() {
            continue;
        }
        let lanes = operation.vector == Some(at);
        let same = |known: &&mut LimitUse| known.values == axis.limits && known.extent == axis.extent;
        match into.iter_mut().find(same) {
            Some(known) => known.lanes |= lanes,
            None => into.push(LimitUse { values: axis.limits.clone(), extent: axis.extent, lanes }),
        }
    }
}

impl LimitUse {
    /// The limits themselves.
    pub(super) fn values(&self) -> &[Linear] {
        &self.values
    }

    pub(super) fn extent(&self) -> u64 {
        self.extent
    }
}

impl Emitter<'_> {
    /// The limit of an axis, when it may bind here.
    pub(super) fn limit(&self, axis: &AxisNode) -> Option<LimitId> {
        let same = |active: &ActiveLimit| active.of.values == axis.limits && active.of.extent == axis.extent;
        if axis.limits.is_empty() { None } else { self.limits.iter().position(same).map(LimitId) }
    }

    /// Branches when point `at` of the limit's axis is inactive.
    pub(super) fn branch_if_inactive(&mut self, limit: LimitId, at: u64, label: Label) {
        let slot = self.limit_place(limit);
        self.compare(slot.into(), at as i64);
        self.asm.branch(Code::Jle_rel32_64, label);
    }

    /// Where the limit's value is.
    pub(super) fn limit_place(&self, limit: LimitId) -> Memory {
        Memory::new(Register::RSP, self.limits[limit.0].slot)
    }

    /// Place of the mask of a vector along the limit's axis.
    pub(super) fn mask(&self, limit: LimitId, vector: usize) -> i64 {
        self.limits[limit.0].masks[vector]
    }

    /// Emits two versions: without the limits, and with them.
    pub(super) fn versions(
        &mut self,
        uses: &[LimitUse],
        fast: &mut dyn FnMut(&mut Self) -> Result<(), CompileError>,
        slow: &mut dyn FnMut(&mut Self) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        if uses.is_empty() {
            return fast(self);
        }
        let binds = |limit: &LimitUse| {
            let constants = limit.values.iter().filter(|value| value.class.is_none());
            constants.map(|value| value.constant).min().is_some_and(|least| least < limit.extent as i64)
        };
        if uses.iter().any(binds) {
            self.activate(uses)?;
            slow(self)?;
            self.limits.clear();
            return Ok(());
        }
        let (guarded, end) = (self.asm.label(), self.asm.label());
        for limit in uses {
            for value in &limit.values {
                self.branch_if_less(*value, limit.extent as i64, guarded);
            }
        }
        fast(self)?;
        self.asm.branch(Code::Jmp_rel32_64, end);
        self.asm.bind(guarded);
        self.activate(uses)?;
        slow(self)?;
        self.limits.clear();
        self.asm.bind(end);
        Ok(())
    }

    /// Makes the limits known to the code that follows: values and masks into the frame.
    pub(super) fn activate(&mut self, uses: &[LimitUse]) -> Result<(), CompileError> {
        for limit in uses {
            let known = self.limits.iter().find(|active| active.of == *limit).cloned();
            let active = known.unwrap_or_else(|| self.new_limit(limit));
            self.evaluate_limit(&active)?;
        }
        Ok(())
    }

    fn new_limit(&mut self, limit: &LimitUse) -> ActiveLimit {
        let vectors = if limit.lanes { (limit.extent as usize).div_ceil(self.set.lanes()) } else { 0 };
        let bytes = self.set.bytes as i64;
        let masks = (0..vectors).map(|_| self.frame.slot(bytes)).collect();
        let active = ActiveLimit { of: limit.clone(), slot: self.frame.slot(8), masks };
        self.limits.push(active.clone());
        active
    }

    fn evaluate_limit(&mut self, active: &ActiveLimit) -> Result<(), CompileError> {
        let [least, other] = [Register::RAX, Register::RCX];
        self.load_constant(least, active.of.extent as i64);
        for value in &active.of.values {
            self.load(other, *value);
            self.emit(Code::Cmp_r64_rm64, &[other.into(), least.into()]);
            self.emit(Code::Cmovl_r64_rm64, &[least.into(), other.into()]);
        }
        self.load_constant(other, 0);
        self.emit(Code::Test_rm64_r64, &[least.into(), least.into()]);
        self.emit(Code::Cmovs_r64_rm64, &[least.into(), other.into()]);
        let slot = Memory::new(Register::RSP, active.slot);
        self.emit(Code::Mov_rm64_r64, &[slot.into(), least.into()]);
        if active.masks.is_empty() {
            return Ok(());
        }
        let all = self.pool.take()?;
        let register = self.set.register(all);
        let lanes = self.set.lanes() as i32;
        for (vector, mask) in (0..).zip(&active.masks) {
            let numbers: Vec<u8> =
                (0..lanes).flat_map(|lane| (vector * lanes + lane).to_le_bytes()).collect();
            let numbers = self.asm.constant(Constant::Bytes(numbers));
            let mask = Memory::new(Register::RSP, *mask);
            self.emit(self.set.broadcast_integer, &[register.into(), slot.into()]);
            match self.set.masks {
                MaskStyle::Vector { .. } => {
                    self.emit(self.set.greater, &[register.into(), register.into(), numbers.into()]);
                    self.emit(self.set.store, &[mask.into(), register.into()]);
                }
                MaskStyle::Opmask => {
                    self.emit(self.set.greater, &[Register::K1.into(), register.into(), numbers.into()]);
                    self.emit(Code::VEX_Kmovw_m16_kr, &[mask.into(), Register::K1.into()]);
                }
            }
        }
        self.pool.give(all);
        Ok(())
    }

    /// Runs `emit` unless this is a worker other than the first.
    pub(super) fn by_first_worker(
        &mut self,
        emit: &mut dyn FnMut(&mut Self) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let skip = self.asm.label();
        let worker = Memory::new(Register::RSP, super::frame::WORKER);
        self.emit(Code::Cmp_rm64_imm8, &[worker.into(), Operand::Immediate(0)]);
        self.asm.branch(Code::Jne_rel32_64, skip);
        emit(self)?;
        self.asm.bind(skip);
        Ok(())
    }
}
