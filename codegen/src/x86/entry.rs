//! Entry points: saving registers, building the frame, finding operands and buffers.

use iced_x86::{Code, Register};
use tilewright_ir::workspace::WorkspaceLayout;

use super::assembler::Label;
use super::emitter::{Emitter, Location};
use super::frame;
use super::lanes::OPMASKS;
use super::operand::{Memory, Operand};
use super::tree::Base;
use crate::artifact::KernelArguments;

/// Registers that a System V function must keep.
const CALLEE_SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

impl Emitter<'_> {
    /// The end of an entry's body.
    pub(super) fn leave_entry(&mut self) {
        self.emit(Code::VEX_Vzeroupper, &[]);
        let caller = Memory::new(Register::RSP, frame::CALLER_STACK);
        self.emit(Code::Mov_r64_rm64, &[Register::RSP.into(), caller.into()]);
        for register in CALLEE_SAVED.iter().rev() {
            self.emit(Code::Pop_r64, &[(*register).into()]);
        }
        self.emit(Code::Retnq, &[]);
    }

    /// The start of an entry; stands behind its body, when the frame's size and the bases are known.
    pub(super) fn enter_at(&mut self, body: Label, workspace: &WorkspaceLayout) {
        let (arguments, value, base, worker) = (Register::RDI, Register::RAX, Register::RDX, Register::RCX);
        let argument = |offset: usize| Memory::new(arguments, offset as i64);
        let slot = |offset| Memory::new(Register::RSP, offset);
        for register in CALLEE_SAVED {
            self.emit(Code::Push_r64, &[register.into()]);
        }
        self.emit(Code::Mov_r64_rm64, &[value.into(), Register::RSP.into()]);
        let bytes = self.frame.bytes();
        self.emit(Code::Sub_rm64_imm32, &[Register::RSP.into(), Operand::Immediate(bytes)]);
        self.emit(Code::And_rm64_imm8, &[Register::RSP.into(), Operand::Immediate(-64)]);
        self.emit(Code::Mov_rm64_r64, &[slot(frame::CALLER_STACK).into(), value.into()]);
        let of_worker = argument(std::mem::offset_of!(KernelArguments, worker));
        self.emit(Code::Mov_r64_rm64, &[worker.into(), of_worker.into()]);
        self.emit(Code::Mov_rm64_r64, &[slot(frame::WORKER).into(), worker.into()]);
        let barrier = argument(std::mem::offset_of!(KernelArguments, barrier));
        self.emit(Code::Mov_r64_rm64, &[value.into(), barrier.into()]);
        self.emit(Code::Mov_rm64_r64, &[slot(frame::BARRIER).into(), value.into()]);

        let operands = argument(std::mem::offset_of!(KernelArguments, operands));
        let scratch = argument(std::mem::offset_of!(KernelArguments, workspace));
        let bases: Vec<_> = self.frame.bases().collect();
        for (class, at) in bases {
            match self.classes[class].base {
                Base::Number => {}
                Base::Tensor(number) => {
                    let pointer = Memory::new(value, i64::from(number) * 8);
                    self.emit(Code::Mov_r64_rm64, &[value.into(), operands.into()]);
                    self.emit(Code::Mov_r64_rm64, &[base.into(), pointer.into()]);
                }
                Base::Buffer(number) => {
                    let placement = workspace.placements[number as usize].as_ref();
                    let (offset, stride) =
                        placement.map_or((0, 0), |place| (place.offset, place.worker_stride));
                    self.emit(Code::Mov_r64_rm64, &[base.into(), scratch.into()]);
                    self.add(Location::Register(base), offset as i64);
                    if stride > 0 {
                        self.load_constant(value, stride as i64);
                        self.emit(Code::Imul_r64_rm64, &[value.into(), worker.into()]);
                        self.emit(Code::Add_r64_rm64, &[base.into(), value.into()]);
                    }
                }
            }
            self.emit(Code::Mov_rm64_r64, &[slot(at).into(), base.into()]);
        }
        for (number, lanes) in self.opmasks.clone().into_iter().enumerate() {
            self.load_opmask(OPMASKS[number], lanes);
        }
        self.asm.branch(Code::Jmp_rel32_64, body);
    }
}
