//! Operands of instructions.

use iced_x86::Register;

use super::assembler::Label;
use super::tree::ClassId;

/// What the displacement of a memory operand depends on beside its own value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    None,
    /// The distance to a constant of the program, known when the code is finished.
    Constant(Label),
    /// The class whose bias is part of the displacement.
    Class(ClassId),
}

/// A memory operand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    /// Base register; `RIP` for constants.
    pub(super) base: Register,
    /// Bytes added.
    pub(super) displacement: i64,
    /// One element is read and repeated in all lanes.
    pub(super) repeated: bool,
    pub(super) anchor: Anchor,
}

impl Memory {
    /// `[base + displacement]`.
    pub(super) fn new(base: Register, displacement: i64) -> Self {
        Self { base, displacement, repeated: false, anchor: Anchor::None }
    }

    /// A constant of the program.
    pub(super) fn constant(label: Label) -> Self {
        Self { anchor: Anchor::Constant(label), ..Self::new(Register::RIP, 0) }
    }

    /// Moves with the bias of a class.
    pub(super) fn biased(self, class: ClassId) -> Self {
        Self { anchor: Anchor::Class(class), ..self }
    }

    /// The memory so many bytes further on.
    pub(super) fn plus(self, bytes: i64) -> Self {
        Self { displacement: self.displacement + bytes, ..self }
    }

    /// Read as one element for all lanes.
    pub(super) fn repeated(self) -> Self {
        Self { repeated: true, ..self }
    }
}

/// An operand of an instruction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operand {
    Register(Register),
    Memory(Memory),
    /// As many low bytes of it as the form of the instruction has.
    Immediate(i64),
}

impl From<Register> for Operand {
    fn from(register: Register) -> Self {
        Self::Register(register)
    }
}

impl From<Memory> for Operand {
    fn from(memory: Memory) -> Self {
        Self::Memory(memory)
    }
}

/// Lanes that an EVEX instruction writes, by the opmask register that holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Masking {
    None,
    /// Other lanes become zero.
    Zero(Register),
    /// Other lanes keep their value.
    Merge(Register),
}
