//! State of code generation, and the integer instructions around the vector code.

use iced_x86::{Code, Register};

use super::assembler::{Assembler, Label};
use super::frame::Frame;
use super::guard::ActiveLimit;
use super::observed::Observed;
use super::operand::{Memory, Operand};
use super::registers::{Pool, RegisterShape};
use super::tree::{Class, ClassId, Linear};
use super::vector::VectorSet;
use crate::error::CompileError;

/// General registers that hold counters and addresses, those of the innermost loops first: the very first is
/// a counter and never a base, the last one takes a byte more as a base.
const LOCATIONS: [Register; 11] = [
    Register::R13,
    Register::RBX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R14,
    Register::R15,
    Register::R12,
];

/// Scratch register for data.
pub(super) const DATA: Register = Register::RBP;

/// Scratch registers for addresses: never hold anything across statements.
const SCRATCH: [Register; 3] = [Register::RAX, Register::RCX, Register::RDX];

/// Where a counter or a class is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    Register(Register),
    /// Bytes from the stack pointer.
    Slot(i64),
}

impl Location {
    pub(super) fn operand(self) -> Operand {
        match self {
            Self::Register(register) => register.into(),
            Self::Slot(offset) => Memory::new(Register::RSP, offset).into(),
        }
    }
}

/// Code generation of one program.
pub(super) struct Emitter<'a> {
    pub(super) asm: Assembler,
    /// Instructions of full width.
    pub(super) full: &'a VectorSet,
    /// Instructions of the width in use: narrower for the last, partial vector of an axis.
    pub(super) set: &'a VectorSet,
    pub(super) classes: &'a [Class],
    /// Where each class is now.
    pub(super) locations: Vec<Option<Location>>,
    /// Bytes that an unrolled copy of a body is ahead of each class.
    pub(super) bias: Vec<i64>,
    pub(super) frame: Frame,
    pub(super) pool: Pool,
    pub(super) shapes: &'a [Option<RegisterShape>],
    /// Registers of the buffers that are alive.
    pub(super) buffers: Vec<Vec<u8>>,
    /// Of the buffers that are alive: whether partial writes must keep the other lanes.
    pub(super) observed: Vec<Observed>,
    /// Limits that bind in the code being emitted.
    pub(super) limits: Vec<ActiveLimit>,
    /// Addresses that the current operation has in scratch registers.
    pub(super) pinned: Vec<(ClassId, Register)>,
    /// Lanes of the constant opmasks in use.
    pub(super) opmasks: Vec<usize>,
    pub(super) workers: u64,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        set: &'a VectorSet,
        classes: &'a [Class],
        shapes: &'a [Option<RegisterShape>],
        workers: u64,
    ) -> Self {
        Self {
            asm: Assembler::new(),
            full: set,
            set,
            classes,
            locations: vec![None; classes.len()],
            bias: vec![0; classes.len()],
            frame: Frame::new(classes.len()),
            pool: Pool::new(set.registers),
            shapes,
            buffers: vec![Vec::new(); shapes.len()],
            observed: vec![Observed::default(); shapes.len()],
            limits: Vec::new(),
            pinned: Vec::new(),
            opmasks: Vec::new(),
            workers,
        }
    }

    pub(super) fn emit(&mut self, code: Code, operands: &[Operand]) {
        self.asm.emit(code, operands);
    }

    /// Location by its number in the tree.
    pub(super) fn location(&mut self, number: usize) -> Location {
        match LOCATIONS.get(number) {
            Some(register) => Location::Register(*register),
            None => Location::Slot(self.frame.loop_slot(number - LOCATIONS.len())),
        }
    }

    /// Where a class is.
    pub(super) fn class(&mut self, class: ClassId) -> Location {
        match self.locations[class] {
            Some(location) => location,
            // Bases are put into the frame by the entry.
            None => Location::Slot(self.frame.base_slot(class)),
        }
    }

    /// `register ← linear`.
    pub(super) fn load(&mut self, register: Register, linear: Linear) {
        let Some(class) = linear.class else {
            self.load_constant(register, linear.constant);
            return;
        };
        let constant = linear.constant + self.bias[class];
        match self.class(class) {
            Location::Register(from) if constant != 0 && i32::try_from(constant).is_ok() => {
                self.emit(Code::Lea_r64_m, &[register.into(), Memory::new(from, constant).into()]);
            }
            location => {
                self.emit(Code::Mov_r64_rm64, &[register.into(), location.operand()]);
                self.add(Location::Register(register), constant);
            }
        }
    }

    pub(super) fn load_constant(&mut self, register: Register, value: i64) {
        if value == 0 {
            let low = register.full_register32();
            self.emit(Code::Xor_r32_rm32, &[low.into(), low.into()]);
        } else if let Ok(value) = u32::try_from(value) {
            self.emit(
                Code::Mov_r32_imm32,
                &[register.full_register32().into(), Operand::Immediate(value.into())],
            );
        } else {
            self.emit(Code::Mov_r64_imm64, &[register.into(), Operand::Immediate(value)]);
        }
    }

    /// `location ← location + value`.
    pub(super) fn add(&mut self, location: Location, value: i64) {
        if value == 0 {
        } else if i8::try_from(value).is_ok() {
            self.emit(Code::Add_rm64_imm8, &[location.operand(), Operand::Immediate(value)]);
        } else if i32::try_from(value).is_ok() {
            self.emit(Code::Add_rm64_imm32, &[location.operand(), Operand::Immediate(value)]);
        } else {
            self.emit(Code::Mov_r64_imm64, &[DATA.into(), Operand::Immediate(value)]);
            self.emit(Code::Add_rm64_r64, &[location.operand(), DATA.into()]);
        }
    }

    /// Stores a register.
    pub(super) fn store(&mut self, location: Location, register: Register) {
        if location != Location::Register(register) {
            self.emit(Code::Mov_rm64_r64, &[location.operand(), register.into()]);
        }
    }

    /// `location ← linear`.
    pub(super) fn set(&mut self, location: Location, linear: Linear) {
        match location {
            Location::Register(register) => self.load(register, linear),
            Location::Slot(_) => {
                self.load(Register::RAX, linear);
                self.store(location, Register::RAX);
            }
        }
    }

    /// Compares with a constant.
    pub(super) fn compare(&mut self, operand: Operand, value: i64) {
        if i8::try_from(value).is_ok() {
            self.emit(Code::Cmp_rm64_imm8, &[operand, Operand::Immediate(value)]);
        } else {
            // Extents and limits stay below 2^31, see the operators' bounds.
            self.emit(Code::Cmp_rm64_imm32, &[operand, Operand::Immediate(value)]);
        }
    }

    /// Compares a linear value with a constant and branches when it is less.
    pub(super) fn branch_if_less(&mut self, linear: Linear, than: i64, label: Label) {
        let Some(class) = linear.class else {
            if linear.constant < than {
                self.asm.branch(Code::Jmp_rel32_64, label);
            }
            return;
        };
        let than = than - linear.constant;
        let operand = self.class(class).operand();
        if i32::try_from(than).is_ok() {
            self.compare(operand, than);
        } else {
            self.load_constant(Register::RAX, than);
            self.emit(Code::Cmp_rm64_r64, &[operand, Register::RAX.into()]);
        }
        self.asm.branch(Code::Jl_rel32_64, label);
    }

    /// The memory `bytes` from an address.
    pub(super) fn memory(&mut self, address: Linear, bytes: i64) -> Result<Memory, CompileError> {
        let Some(class) = address.class else {
            return Err(CompileError::Encoding { message: "an address without a base".to_owned() });
        };
        let displacement = address.constant + bytes + self.bias[class];
        if i32::try_from(displacement).is_err() {
            return Err(CompileError::Displacement { bytes: displacement });
        }
        let base = match self.pinned.iter().find(|pinned| pinned.0 == class) {
            Some(pinned) => pinned.1,
            None => match self.class(class) {
                Location::Register(register) => register,
                Location::Slot(slot) => {
                    let from = Memory::new(Register::RSP, slot);
                    self.emit(Code::Mov_r64_rm64, &[Register::RAX.into(), from.into()]);
                    Register::RAX
                }
            },
        };
        Ok(Memory::new(base, displacement).biased(class))
    }

    /// Brings addresses that live in the frame into scratch registers for the length of one operation.
    pub(super) fn pin(&mut self, addresses: impl Iterator<Item = Linear>) {
        self.pinned.clear();
        for class in addresses.filter_map(|address| address.class) {
            if self.pinned.iter().any(|pinned| pinned.0 == class) || self.pinned.len() + 1 >= SCRATCH.len() {
                continue;
            }
            if let Location::Slot(slot) = self.class(class) {
                let register = SCRATCH[self.pinned.len() + 1];
                let from = Memory::new(Register::RSP, slot);
                self.emit(Code::Mov_r64_rm64, &[register.into(), from.into()]);
                self.pinned.push((class, register));
            }
        }
    }
}
