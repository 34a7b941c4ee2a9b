//! Packing that transposes: blocks of 8 rows by 4 columns turned in registers.
//!
//! A *row* is contiguous in the source, a *column* in the destination. The lower half of a ymm register takes
//! four elements of row i, the upper half four of row i + 4; a 4×4 transposition inside the halves (the
//! unpack network of the Intel 64 Optimization Reference Manual, §15.11) leaves one column in each register.
//! Loading halves needs no shuffles, so a block costs 8 of them for 32 elements.

use iced_x86::Code;

use super::assembler::{Constant, Label};
use super::emitter::Emitter;
use super::guard::LimitId;
use super::operand::{Memory, Operand};
use super::points::{Point, points_along};
use super::tree::{ELEMENT_BYTES, MemoryPlace, Operation};
use super::vector::{xmm, ymm};
use crate::error::CompileError;

const ROWS: u64 = 8;
const COLUMNS: u64 = 4;
/// Registers that the VEX encoding reaches.
const VEX_REGISTERS: u8 = 16;
/// Registers that a block takes: four of data, four on the way, one to spare, two masks.
const REGISTERS: usize = 11;
const SPARE: usize = 8;
const ROW_MASK: usize = 9;
const COLUMN_MASK: usize = 10;

/// Which axis is which.
pub(super) struct TransposePlan {
    row: Side,
    column: Side,
    /// Whether inactive points become 0; they are left alone otherwise.
    padded: bool,
}

/// One of the two axes that change places.
struct Side {
    axis: usize,
    limit: Option<LimitId>,
}

/// A block's place and size.
struct Block {
    point: Point,
    rows: u64,
    columns: u64,
}

impl Emitter<'_> {
    /// Whether and how a copy can be done by transposing blocks.
    pub(super) fn plan_transpose(
        &self,
        operation: &Operation,
        destination: &MemoryPlace,
        source: &MemoryPlace,
        pad: Option<f32>,
    ) -> Option<TransposePlan> {
        let origin = Point::default();
        let contiguous = |place: &MemoryPlace, other: &MemoryPlace| {
            (0..operation.axes.len()).find(|&axis| {
                let extent = operation.axes[axis].extent as usize;
                extent > 1
                    && place.stride(&origin, axis, extent) == Some(ELEMENT_BYTES)
                    && other.stride(&origin, axis, extent).is_some_and(|stride| stride != ELEMENT_BYTES)
            })
        };
        let side = |axis: usize| Side { axis, limit: self.limit(&operation.axes[axis]) };
        // The row axis is contiguous in the destination, the column axis in the source.
        let row = side(contiguous(destination, source)?);
        let column = side(contiguous(source, destination)?);
        let free = (0..VEX_REGISTERS).filter(|&register| self.pool.is_free(register)).count();
        let others_limited = (0..operation.axes.len())
            .any(|axis| axis != row.axis && axis != column.axis && side(axis).limit.is_some());
        let limited = row.limit.is_some() || column.limit.is_some();
        let suitable =
            free >= REGISTERS && !others_limited && !(limited && pad.is_some_and(|pad| pad != 0.0));
        suitable.then_some(TransposePlan { row, column, padded: pad.is_some() })
    }

    /// Copies in blocks.
    pub(super) fn transpose(
        &mut self,
        operation: &Operation,
        destination: &MemoryPlace,
        source: &MemoryPlace,
        plan: &TransposePlan,
    ) -> Result<(), CompileError> {
        let (row_axis, column_axis) = (plan.row.axis, plan.column.axis);
        let extents = operation.extents();
        let registers = self.pool.take_all(REGISTERS)?;
        for start in points_along(&extents, |axis| axis != row_axis && axis != column_axis) {
            let end = self.asm.label();
            for row in (0..extents[row_axis]).step_by(ROWS as usize) {
                self.begin(&plan.row, plan.padded, row, end);
                if let (Some(limit), false) = (plan.row.limit, plan.padded) {
                    self.active_lanes(registers[ROW_MASK], limit, row);
                }
                let next_rows = self.asm.label();
                for column in (0..extents[column_axis]).step_by(COLUMNS as usize) {
                    self.begin(&plan.column, plan.padded, column, next_rows);
                    if let Some(limit) = plan.column.limit {
                        self.active_lanes(registers[COLUMN_MASK], limit, column);
                    }
                    let mut point = start;
                    point[row_axis] = row;
                    point[column_axis] = column;
                    let block = Block {
                        point,
                        rows: ROWS.min(extents[row_axis] - row),
                        columns: COLUMNS.min(extents[column_axis] - column),
                    };
                    self.load_block(source, plan, &block, &registers)?;
                    shuffle(self, &registers);
                    self.store_block(destination, plan, &block, &registers, next_rows)?;
                }
                self.asm.bind(next_rows);
            }
            self.asm.bind(end);
        }
        self.pool.give_all(&registers);
        Ok(())
    }

    /// Leaves for `end` when nothing from `at` on is active and nothing is to become 0.
    fn begin(&mut self, side: &Side, padded: bool, at: u64, end: Label) {
        if let (Some(limit), false) = (side.limit, padded) {
            self.branch_if_inactive(limit, at, end);
        }
    }

    /// A vector mask of the active points of eight from `first` on.
    fn active_lanes(&mut self, register: u8, limit: LimitId, first: u64) {
        let numbers = (first as i32..).take(ROWS as usize).flat_map(i32::to_le_bytes).collect();
        let numbers = self.asm.constant(Constant::Bytes(numbers));
        let (mask, limit) = (ymm(register).into(), self.limit_place(limit).into());
        self.emit(Code::VEX_Vpbroadcastd_ymm_xmmm32, &[mask, limit]);
        self.emit(Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, &[mask, mask, numbers.into()]);
    }

    fn load_block(
        &mut self,
        source: &MemoryPlace,
        plan: &TransposePlan,
        block: &Block,
        registers: &[u8],
    ) -> Result<(), CompileError> {
        let mask = plan.column.limit.map(|_| registers[COLUMN_MASK]);
        for at in 0..4 {
            let register = registers[at as usize];
            let skip = self.asm.label();
            if at >= block.rows || plan.row.limit.is_some() {
                self.zero(register);
            }
            for (row, upper) in [(at, false), (at + 4, true)] {
                if row >= block.rows {
                    break;
                }
                let mut point = block.point;
                point[plan.row.axis] += row;
                if let Some(limit) = plan.row.limit {
                    self.branch_if_inactive(limit, point[plan.row.axis], skip);
                }
                let memory = self.memory(source.address, source.offset(&point))?;
                if !upper {
                    self.load_quarter(register, memory, block.columns, mask);
                    continue;
                }
                let quarter = if block.columns == COLUMNS && mask.is_none() {
                    memory.into()
                } else {
                    self.load_quarter(registers[SPARE], memory, block.columns, mask);
                    xmm(registers[SPARE]).into()
                };
                let full = ymm(register).into();
                let operands = [full, full, quarter, Operand::Immediate(1)];
                self.emit(Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8, &operands);
            }
            self.asm.bind(skip);
        }
        Ok(())
    }

    /// Stores the columns of a block; leaves for `end` at the first inactive one that is to be left alone.
    fn store_block(
        &mut self,
        destination: &MemoryPlace,
        plan: &TransposePlan,
        block: &Block,
        registers: &[u8],
        end: Label,
    ) -> Result<(), CompileError> {
        for at in 0..block.columns {
            let mut point = block.point;
            point[plan.column.axis] += at;
            if at > 0 {
                self.begin(&plan.column, plan.padded, point[plan.column.axis], end);
            }
            let memory = self.memory(destination.address, destination.offset(&point))?;
            let register = registers[at as usize];
            let full = ymm(register).into();
            if plan.row.limit.is_some() && !plan.padded {
                let mask = ymm(registers[ROW_MASK]).into();
                self.emit(Code::VEX_Vmaskmovps_m256_ymm_ymm, &[memory.into(), mask, full]);
            } else if block.rows == ROWS {
                self.emit(Code::VEX_Vmovups_ymmm256_ymm, &[memory.into(), full]);
            } else {
                self.store_pieces(memory, register, block.rows as usize)?;
            }
        }
        Ok(())
    }

    /// Loads up to four elements into an xmm register, those that a mask lets through when there is one.
    fn load_quarter(&mut self, register: u8, memory: Memory, count: u64, mask: Option<u8>) {
        let low: Operand = xmm(register).into();
        if let Some(mask) = mask {
            self.emit(Code::VEX_Vmaskmovps_xmm_xmm_m128, &[low, xmm(mask).into(), memory.into()]);
            return;
        }
        match count {
            1 => self.emit(Code::VEX_Vmovss_xmm_m32, &[low, memory.into()]),
            2 => self.emit(Code::VEX_Vmovsd_xmm_m64, &[low, memory.into()]),
            3 => {
                self.emit(Code::VEX_Vmovsd_xmm_m64, &[low, memory.into()]);
                let operands = [low, low, memory.plus(8).into(), Operand::Immediate(0x20)];
                self.emit(Code::VEX_Vinsertps_xmm_xmm_xmmm32_imm8, &operands);
            }
            _ => self.emit(Code::VEX_Vmovups_xmm_xmmm128, &[low, memory.into()]),
        }
    }
}

/// Turns the 4×4 blocks in both halves of the first four registers; the next four are used on the way.
fn shuffle(emitter: &mut Emitter<'_>, registers: &[u8]) {
    let (low, high) = (Code::VEX_Vunpcklps_ymm_ymm_ymmm256, Code::VEX_Vunpckhps_ymm_ymm_ymmm256);
    let (low_pairs, high_pairs) = (Code::VEX_Vunpcklpd_ymm_ymm_ymmm256, Code::VEX_Vunpckhpd_ymm_ymm_ymmm256);
    let steps = [
        (low, 4, 0, 1),
        (high, 5, 0, 1),
        (low, 6, 2, 3),
        (high, 7, 2, 3),
        (low_pairs, 0, 4, 6),
        (high_pairs, 1, 4, 6),
        (low_pairs, 2, 5, 7),
        (high_pairs, 3, 5, 7),
    ];
    for (code, to, first, second) in steps {
        let [to, first, second] = [to, first, second].map(|at: usize| ymm(registers[at]).into());
        emitter.emit(code, &[to, first, second]);
    }
}
