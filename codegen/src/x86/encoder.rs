//! Collects encoded instructions, and resolves labels and constants.
//!
//! Instructions are built from their parts and encoded at once by iced's encoder; branches and constants that
//! lie ahead get their distance when the code is finished.

use std::collections::BTreeMap;

use iced_x86::{Code, Encoder, Instruction, OpKind, Register};

use super::tree::ClassId;
use crate::error::CompileError;

/// A place in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(u32);

/// A memory operand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    /// Base register; `RIP` for constants.
    pub(super) base: Register,
    /// Bytes added.
    pub(super) displacement: i64,
    /// One element is read and repeated in all lanes.
    pub(super) repeated: bool,
    constant: Option<Label>,
    /// The class whose bias is part of the displacement.
    class: Option<ClassId>,
}

impl Memory {
    /// `[base + displacement]`.
    pub(super) fn new(base: Register, displacement: i64) -> Self {
        Self { base, displacement, repeated: false, constant: None, class: None }
    }

    /// Moves with the bias of a class.
    pub(super) fn biased(self, class: ClassId) -> Self {
        Self { class: Some(class), ..self }
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
    /// An 8-bit immediate.
    Byte(u8),
    /// An immediate of 8 bits, sign-extended to 32.
    Byte32(i32),
    /// An immediate of 8 bits, sign-extended to 64.
    Byte64(i64),
    /// An immediate of 32 bits, sign-extended to 64.
    Long64(i64),
    /// A 32-bit immediate.
    Long(u32),
    /// A 64-bit immediate.
    Quad(i64),
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

/// A read-only constant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Constant {
    /// Aligned to their number.
    Bytes(Vec<u8>),
    /// So many copies of a 32-bit value.
    Repeated { copies: usize, bits: u32 },
}

impl Constant {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Repeated { copies, bits } => bits.to_le_bytes().repeat(*copies),
        }
    }
}

const UNBOUND: u64 = u64::MAX;

/// Code under construction.
pub(super) struct Assembler {
    encoder: Encoder,
    position: u64,
    labels: Vec<u64>,
    /// Offset of a 32-bit distance, offset that it counts from, and where it leads.
    distances: Vec<(usize, u64, Label)>,
    constants: BTreeMap<Constant, Label>,
    failure: Option<CompileError>,
    recording: Option<Recording>,
}

/// Instructions as they were emitted, to be emitted again with other displacements.
#[derive(Default)]
pub(super) struct Recording {
    instructions: Vec<Recorded>,
    /// Whether there was a branch, which cannot be repeated.
    branches: bool,
}

struct Recorded {
    instruction: Instruction,
    constant: Option<Label>,
    class: Option<ClassId>,
}

impl Assembler {
    pub(super) fn new() -> Self {
        Self {
            encoder: Encoder::try_with_capacity(64, 1 << 13).expect("invariant: 64 is a supported bitness"),
            position: 0,
            labels: Vec::new(),
            distances: Vec::new(),
            constants: BTreeMap::new(),
            failure: None,
            recording: None,
        }
    }

    /// Bytes emitted so far.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// A place that is not known yet.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    /// The label is here.
    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.position;
    }

    /// A label that is here.
    pub(super) fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// Appends an instruction.
    pub(super) fn emit(&mut self, code: Code, operands: &[Operand]) {
        self.emit_masked(code, operands, Masking::None);
    }

    /// Appends an instruction that writes only some lanes.
    pub(super) fn emit_masked(&mut self, code: Code, operands: &[Operand], masking: Masking) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        let (mut constant, mut class) = (None, None);
        for (at, operand) in operands.iter().enumerate() {
            if let Operand::Memory(memory) = operand {
                (constant, class) = (memory.constant, memory.class);
            }
            operand_into(&mut instruction, at as u32, *operand);
        }
        match masking {
            Masking::None => {}
            Masking::Zero(mask) => {
                instruction.set_op_mask(mask);
                instruction.set_zeroing_masking(true);
            }
            Masking::Merge(mask) => instruction.set_op_mask(mask),
        }
        if let Some(recording) = &mut self.recording {
            recording.instructions.push(Recorded { instruction, constant, class });
        }
        self.append(instruction, constant);
    }

    fn append(&mut self, mut instruction: Instruction, constant: Option<Label>) {
        let Some(label) = constant else {
            self.encode(&instruction);
            return;
        };
        // A placeholder near by; the distance is filled in when constants have their place.
        instruction.set_memory_displacement64(self.position);
        let start = self.encode(&instruction);
        let at = start as usize + self.encoder.get_constant_offsets().displacement_offset();
        self.distances.push((at, self.position, label));
    }

    /// Starts to record what is emitted.
    pub(super) fn record(&mut self) {
        self.recording = Some(Recording::default());
    }

    /// What was emitted since, when it can be repeated.
    pub(super) fn recorded(&mut self) -> Option<Recording> {
        self.recording.take().filter(|recording| !recording.branches)
    }

    /// Emits a recording again, addresses moved by `shift` of their class.
    pub(super) fn repeat(&mut self, recording: &Recording, shift: impl Fn(ClassId) -> i64) {
        for recorded in &recording.instructions {
            let mut instruction = recorded.instruction;
            if let Some(class) = recorded.class {
                let displacement = instruction.memory_displacement64() as i64 + shift(class);
                if i32::try_from(displacement).is_err() {
                    self.failure.get_or_insert(CompileError::Displacement { bytes: displacement });
                }
                instruction.set_memory_displacement64(displacement as u64);
                instruction.set_memory_displ_size(u32::from(displacement != 0));
            }
            self.append(instruction, recorded.constant);
        }
    }

    /// Appends an instruction with a lock prefix.
    pub(super) fn emit_locked(&mut self, code: Code, operands: &[Operand]) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        for (at, operand) in operands.iter().enumerate() {
            operand_into(&mut instruction, at as u32, *operand);
        }
        instruction.set_has_lock_prefix(true);
        self.encode(&instruction);
    }

    /// Appends a branch with a 32-bit distance.
    pub(super) fn branch(&mut self, code: Code, label: Label) {
        if let Some(recording) = &mut self.recording {
            recording.branches = true;
        }
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        instruction.set_op0_kind(OpKind::NearBranch64);
        instruction.set_near_branch64(self.position);
        self.encode(&instruction);
        self.distances.push((self.position as usize - 4, self.position, label));
    }

    /// Appends and returns where the instruction starts.
    fn encode(&mut self, instruction: &Instruction) -> u64 {
        let start = self.position;
        match self.encoder.encode(instruction, start) {
            Ok(length) => self.position += length as u64,
            Err(error) => {
                let message = format!("{:?}: {error}", instruction.code());
                self.failure.get_or_insert(CompileError::Encoding { message });
            }
        }
        start
    }

    /// A read-only constant, kept once.
    pub(super) fn constant(&mut self, constant: Constant) -> Memory {
        let known = self.constants.get(&constant).copied();
        let label = known.unwrap_or_else(|| {
            let label = self.label();
            self.constants.insert(constant, label);
            label
        });
        Memory { base: Register::RIP, displacement: 0, repeated: false, constant: Some(label), class: None }
    }

    /// Fills up to a multiple of `alignment` with the long no-operations of AMD's and Intel's manuals.
    pub(super) fn align(&mut self, alignment: u64) {
        const NOPS: [&[u8]; 9] = [
            &[0x90],
            &[0x66, 0x90],
            &[0x0f, 0x1f, 0x00],
            &[0x0f, 0x1f, 0x40, 0x00],
            &[0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
            &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
        ];
        let mut missing = (self.position.next_multiple_of(alignment) - self.position) as usize;
        while missing > 0 {
            let length = missing.min(NOPS.len());
            NOPS[length - 1].iter().for_each(|&byte| self.encoder.write_u8(byte));
            self.position += length as u64;
            missing -= length;
        }
    }

    /// The code, an undefined instruction, and the constants.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, CompileError> {
        self.emit(Code::Ud2, &[]);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut code = self.encoder.take_buffer();
        // Widest first, so that all are aligned without gaps.
        let mut constants: Vec<(Vec<u8>, Label)> =
            self.constants.iter().map(|(constant, label)| (constant.bytes(), *label)).collect();
        constants.sort_by_key(|(bytes, _)| std::cmp::Reverse(bytes.len()));
        for (bytes, label) in constants {
            code.resize(code.len().next_multiple_of(bytes.len().next_power_of_two()), 0);
            self.labels[label.0 as usize] = code.len() as u64;
            code.extend_from_slice(&bytes);
        }
        for &(at, from, label) in &self.distances {
            let to = self.labels[label.0 as usize];
            debug_assert_ne!(to, UNBOUND, "a label was never bound");
            let distance = to.wrapping_sub(from) as i64 as i32;
            code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        Ok(code)
    }
}

/// Fills in one operand.
fn operand_into(instruction: &mut Instruction, at: u32, operand: Operand) {
    match operand {
        Operand::Register(register) => {
            instruction.set_op_kind(at, OpKind::Register);
            instruction.set_op_register(at, register);
        }
        Operand::Memory(memory) => {
            instruction.set_op_kind(at, OpKind::Memory);
            instruction.set_memory_base(memory.base);
            instruction.set_memory_displ_size(if memory.base == Register::RIP {
                8
            } else {
                u32::from(memory.displacement != 0)
            });
            instruction.set_memory_displacement64(memory.displacement as u64);
            instruction.set_is_broadcast(memory.repeated);
        }
        Operand::Byte(value) => {
            instruction.set_op_kind(at, OpKind::Immediate8);
            instruction.set_immediate8(value);
        }
        Operand::Byte32(value) => {
            instruction.set_op_kind(at, OpKind::Immediate8to32);
            instruction.set_immediate8to32(value);
        }
        Operand::Byte64(value) => {
            instruction.set_op_kind(at, OpKind::Immediate8to64);
            instruction.set_immediate8to64(value);
        }
        Operand::Long64(value) => {
            instruction.set_op_kind(at, OpKind::Immediate32to64);
            instruction.set_immediate32to64(value);
        }
        Operand::Long(value) => {
            instruction.set_op_kind(at, OpKind::Immediate32);
            instruction.set_immediate32(value);
        }
        Operand::Quad(value) => {
            instruction.set_op_kind(at, OpKind::Immediate64);
            instruction.set_immediate64(value as u64);
        }
    }
}
