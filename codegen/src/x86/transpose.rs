//! Packing that transposes: blocks of 8 rows by 4 columns turned in registers.
//!
//! A *row* is contiguous in the source, a *column* in the destination. The lower half of a ymm register takes
//! four elements of row i, the upper half four of row i + 4; a 4×4 transposition inside the halves (the
//! unpack network of the Intel 64 Optimization Reference Manual, §15.11) leaves one column in each register.
//! Loading halves needs no shuffles, so a block costs 8 of them for 32 elements.

use iced_x86::Code;

use super::emitter::Emitter;
use super::operand::{Memory, Operand};
use super::points::{Point, points_along};
use super::tree::{ELEMENT_BYTES, MemoryPlace, Operation};
use super::vector::{xmm, ymm};
use crate::error::CompileError;

const ROWS: u64 = 8;
const COLUMNS: u64 = 4;
/// Registers that the VEX encoding reaches.
const VEX_REGISTERS: u8 = 16;

/// Which axis is which.
pub(super) struct TransposePlan {
    /// Contiguous in the destination.
    row_axis: usize,
    /// Contiguous in the source.
    column_axis: usize,
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
        let row_axis = contiguous(destination, source)?;
        let column_axis = contiguous(source, destination)?;
        let free = (0..VEX_REGISTERS).filter(|&register| self.pool.is_free(register)).count();
        let limited = |axis: usize| self.limit(&operation.axes[axis]).is_some();
        let others_limited = (0..operation.axes.len()).any(|axis| axis != row_axis && limited(axis));
        let rows_limited_without_zeros = limited(row_axis) && pad != Some(0.0);
        let suitable = free >= 10 && !others_limited && !rows_limited_without_zeros;
        suitable.then_some(TransposePlan { row_axis, column_axis })
    }

    /// Copies in blocks; inactive rows count as zeros.
    pub(super) fn transpose(
        &mut self,
        operation: &Operation,
        destination: &MemoryPlace,
        source: &MemoryPlace,
        plan: &TransposePlan,
    ) -> Result<(), CompileError> {
        let (row_axis, column_axis) = (plan.row_axis, plan.column_axis);
        let extents = operation.extents();
        let registers = self.pool.take_all(9)?;
        for start in points_along(&extents, |axis| axis != row_axis && axis != column_axis) {
            for row in (0..extents[row_axis]).step_by(ROWS as usize) {
                for column in (0..extents[column_axis]).step_by(COLUMNS as usize) {
                    let mut point = start;
                    point[row_axis] = row;
                    point[column_axis] = column;
                    let block = Block {
                        point,
                        rows: ROWS.min(extents[row_axis] - row),
                        columns: COLUMNS.min(extents[column_axis] - column),
                    };
                    self.load_block(operation, source, plan, &block, &registers)?;
                    shuffle(self, &registers);
                    for at in 0..block.columns {
                        let mut point = block.point;
                        point[column_axis] += at;
                        let memory = self.memory(destination.address, destination.offset(&point))?;
                        let register = registers[at as usize];
                        if block.rows == ROWS {
                            self.emit(Code::VEX_Vmovups_ymmm256_ymm, &[memory.into(), ymm(register).into()]);
                        } else {
                            self.store_pieces(memory, register, block.rows as usize)?;
                        }
                    }
                }
            }
        }
        self.pool.give_all(&registers);
        Ok(())
    }

    fn load_block(
        &mut self,
        operation: &Operation,
        source: &MemoryPlace,
        plan: &TransposePlan,
        block: &Block,
        registers: &[u8],
    ) -> Result<(), CompileError> {
        let limit = self.limit(&operation.axes[plan.row_axis]);
        let spare = registers[8];
        for at in 0..4 {
            let register = registers[at as usize];
            let skip = self.asm.label();
            if at >= block.rows || limit.is_some() {
                self.zero(register);
            }
            for (row, upper) in [(at, false), (at + 4, true)] {
                if row >= block.rows {
                    break;
                }
                let mut point = block.point;
                point[plan.row_axis] += row;
                if let Some(limit) = limit {
                    self.branch_if_inactive(limit, point[plan.row_axis], skip);
                }
                let memory = self.memory(source.address, source.offset(&point))?;
                if !upper {
                    self.load_quarter(register, memory, block.columns);
                } else if block.columns == COLUMNS {
                    let full = ymm(register).into();
                    let operands = [full, full, memory.into(), Operand::Immediate(1)];
                    self.emit(Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8, &operands);
                } else {
                    self.load_quarter(spare, memory, block.columns);
                    let full = ymm(register).into();
                    let operands = [full, full, xmm(spare).into(), Operand::Immediate(1)];
                    self.emit(Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8, &operands);
                }
            }
            self.asm.bind(skip);
        }
        Ok(())
    }

    /// Loads up to four elements into an xmm register.
    fn load_quarter(&mut self, register: u8, memory: Memory, count: u64) {
        let low: Operand = xmm(register).into();
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
