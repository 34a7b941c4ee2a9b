//! The spin barrier of the launch contract.

use iced_x86::{Code, Register};

use super::emitter::Emitter;
use super::frame;
use super::operand::{Memory, Operand};
use crate::artifact::BARRIER_GENERATION_OFFSET;

impl Emitter<'_> {
    /// All workers wait for each other: the last to arrive resets the count and starts the next generation.
    pub(super) fn barrier(&mut self) {
        let (state, generation, arrived) = (Register::RAX, Register::ECX, Register::EDX);
        let arrivals = Memory::new(state, 0);
        let generations = Memory::new(state, BARRIER_GENERATION_OFFSET as i64);
        let (wait, done) = (self.asm.label(), self.asm.label());
        let slot = Memory::new(Register::RSP, frame::BARRIER);
        self.emit(Code::Mov_r64_rm64, &[state.into(), slot.into()]);
        self.emit(Code::Mov_r32_rm32, &[generation.into(), generations.into()]);
        self.emit(Code::Mov_r32_imm32, &[arrived.into(), Operand::Immediate(1)]);
        self.asm.emit_locked(Code::Xadd_rm32_r32, &[arrivals.into(), arrived.into()]);
        self.compare(Register::RDX.into(), self.workers as i64 - 1);
        self.asm.branch(Code::Jne_rel32_64, wait);
        // Stores are not reordered with each other: whoever sees the new generation sees the count reset.
        self.emit(Code::Mov_rm32_imm32, &[arrivals.into(), Operand::Immediate(0)]);
        self.emit(Code::Add_rm32_imm8, &[generations.into(), Operand::Immediate(1)]);
        self.asm.branch(Code::Jmp_rel32_64, done);
        self.asm.bind(wait);
        self.emit(Code::Pause, &[]);
        self.emit(Code::Cmp_r32_rm32, &[generation.into(), generations.into()]);
        self.asm.branch(Code::Je_rel32_64, wait);
        self.asm.bind(done);
    }
}
