//! One instruction to bytes.
//!
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: chapter 2 (REX, VEX and EVEX
//! prefixes, compressed displacements). Always the shortest encoding of the form.

use iced_x86::Register;

use super::code::Code;
use super::form::{Encoding, Fields, Form, Map, Tail};
use super::operand::{Masking, Memory, Operand};

/// What goes into the fields of an instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    /// `ModRM.reg`, 0 to 31.
    pub(super) register: u32,
    /// `vvvv`, 0 to 31.
    pub(super) vector: u32,
    /// The register in `ModRM.rm` or the opcode, or the base of the memory operand.
    pub(super) base: u32,
    pub(super) memory: Option<&'a Memory>,
    pub(super) masking: Masking,
    /// Immediate or register behind the address; 0 for what is filled in later.
    pub(super) tail: i64,
}

impl<'a> Parts<'a> {
    /// Finds the operands of a form; `None` when they do not fit it.
    #[inline]
    pub(super) fn of(form: &Form, operands: &'a [Operand], masking: Masking) -> Option<Self> {
        use Operand::Register as In;
        let (operands, tail) = match (form.tail, operands) {
            (Tail::None | Tail::Distance, operands) => (operands, 0),
            (Tail::Immediate(_), [operands @ .., Operand::Immediate(value)]) => (operands, *value),
            (Tail::Register, [operands @ .., In(register)]) => (operands, i64::from(number(*register) << 4)),
            _ => return None,
        };
        let extension = u32::from(form.extension);
        let (register, vector, last) = match (form.fields, operands) {
            (Fields::None, []) => {
                return Some(Self { register: 0, vector: 0, base: 0, memory: None, masking, tail });
            }
            (Fields::O | Fields::M, [last]) => (extension, 0, last),
            (Fields::RM, [In(register), last]) | (Fields::MR, [last, In(register)]) => {
                (number(*register), 0, last)
            }
            (Fields::RVM, [In(register), In(vector), last])
            | (Fields::MVR, [last, In(vector), In(register)]) => (number(*register), number(*vector), last),
            (Fields::VM, [In(vector), last]) => (extension, number(*vector), last),
            _ => return None,
        };
        let (base, memory) = match last {
            In(register) => (number(*register), None),
            Operand::Memory(memory) if form.fields != Fields::O => (number(memory.base), Some(memory)),
            _ => return None,
        };
        Some(Self { register, vector, base, memory, masking, tail })
    }

    /// `ModRM.reg` and `ModRM.rm`.
    fn operand(&self) -> u8 {
        ((self.register & 7) << 3 | self.base & 7) as u8
    }
}

fn number(register: Register) -> u32 {
    register.number() as u32
}

/// Where an address stands in the code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Position of its `ModRM`.
    pub(super) start: usize,
    /// Position behind its displacement.
    pub(super) end: usize,
}

/// Appends an instruction; returns where its address stands, when it has one. Displacements beyond 32 bits
/// wrap around.
#[inline]
pub(super) fn encode(code: &mut Code, form: &Form, parts: &Parts<'_>) -> Place {
    let (head, length) = match form.encoding {
        Encoding::Legacy => legacy(form, parts),
        Encoding::Vex => vex(form, parts),
        Encoding::Evex => evex(form, parts),
    };
    let mut start = 0;
    match parts.memory {
        None if matches!(form.fields, Fields::None | Fields::O) => code.append(head, length),
        None => code.append(head | u64::from(0xc0 | parts.operand()) << (8 * length), length + 1),
        Some(memory) => {
            code.append(head, length);
            start = code.len();
            let displacement = memory.displacement as i32;
            if memory.base == Register::RIP {
                let operand = u64::from((parts.register & 7) << 3 | 5);
                code.append(operand | u64::from(displacement as u32) << 8, 5);
            } else {
                append_address(code, parts.operand(), displacement, scale(form, memory));
            }
        }
    }
    let end = code.len();
    match form.tail {
        Tail::None => {}
        Tail::Register => code.append(parts.tail as u64 & 0xff, 1),
        Tail::Distance => code.append(0, 4),
        Tail::Immediate(8) => code.append(parts.tail as u64, 8),
        Tail::Immediate(bytes) => {
            let mask = (1 << (8 * bytes)) - 1;
            code.append(parts.tail as u64 & mask, bytes.into());
        }
    }
    Place { start, end }
}

/// Binary logarithm of what 8-bit displacements of an instruction count in.
pub(super) fn scale(form: &Form, memory: &Memory) -> u8 {
    if memory.repeated { 2 } else { form.scale }
}

/// Appends `ModRM`, `SIB` and displacement of `[base + displacement]`; `fields` are `ModRM.reg` and the low
/// bits of the base as they stand in `ModRM`.
pub(super) fn append_address(code: &mut Code, fields: u8, displacement: i32, scale: u8) {
    let base = fields & 7;
    let compressed = displacement >> scale;
    let (mode, bytes, value) = if displacement == 0 && base != 5 {
        (0, 0, 0)
    } else if compressed << scale == displacement && i8::try_from(compressed).is_ok() {
        (0x40, 1, u32::from(compressed as u8))
    } else {
        (0x80, 4, displacement as u32)
    };
    let (operand, length) = if base == 4 { (0x2400, 2) } else { (0, 1) };
    let operand = operand | u64::from(mode | fields);
    code.append(operand | u64::from(value) << (8 * length), length + bytes);
}

fn legacy(form: &Form, parts: &Parts<'_>) -> (u64, usize) {
    const PREFIXES: [u64; 4] = [0, 0x66, 0xf3, 0xf2];
    let in_opcode = if form.fields == Fields::O { parts.base & 7 } else { 0 };
    let (mut word, mut length) = (u64::from(form.opcode) + u64::from(in_opcode), 1);
    if form.map != Map::Short {
        (word, length) = (word << 8 | 0x0f, 2);
    }
    let extended = u32::from(form.wide) << 3 | parts.register >> 3 << 2 | parts.base >> 3;
    if extended != 0 {
        (word, length) = (word << 8 | u64::from(0x40 | extended), length + 1);
    }
    if form.prefix != 0 {
        (word, length) = (word << 8 | PREFIXES[usize::from(form.prefix & 3)], length + 1);
    }
    (word, length)
}

fn vex(form: &Form, parts: &Parts<'_>) -> (u64, usize) {
    let register = (!parts.register & 8) << 4;
    let rest = (!parts.vector & 15) << 3 | u32::from(form.length) << 2 | u32::from(form.prefix);
    let opcode = u64::from(form.opcode);
    if parts.base < 8 && form.map == Map::Escape {
        return (0xc5 | u64::from(register | rest) << 8 | opcode << 16, 3);
    }
    let map = register | 0x40 | (!parts.base & 8) << 2 | form.map as u32;
    (0xc4 | u64::from(map) << 8 | u64::from(rest) << 16 | opcode << 24, 4)
}

fn evex(form: &Form, parts: &Parts<'_>) -> (u64, usize) {
    let (mask, zeroing) = match parts.masking {
        Masking::None => (0, 0),
        Masking::Zero(mask) => (number(mask), 0x80),
        Masking::Merge(mask) => (number(mask), 0),
    };
    let repeated = u32::from(parts.memory.is_some_and(|memory| memory.repeated));
    let (register, vector, base) = (!parts.register, !parts.vector, !parts.base);
    let map = (register & 8) << 4 | (base & 16) << 2 | (base & 8) << 2 | register & 16 | form.map as u32;
    let source = u32::from(form.wide) << 7 | (vector & 15) << 3 | 4 | u32::from(form.prefix);
    let lanes = zeroing | u32::from(form.length) << 5 | repeated << 4 | (vector & 16) >> 1 | mask;
    let low = u64::from(0x62 | map << 8 | source << 16 | lanes << 24);
    (low | u64::from(form.opcode) << 32, 5)
}
