//! Every form, byte for byte as another encoder has it, and read back by another decoder.

use iced_x86::{Code as Instruction, Decoder, DecoderOptions, Encoder, OpCodeOperandKind, OpKind, Register};

use super::code::Code;
use super::encoder::{Parts, encode};
use super::form::{FORMS, Form, form};
use super::operand::{Masking, Memory, Operand};

const POSITION: u64 = 0x1000;

/// Registers that take different bits, up to the last one that the form reaches.
fn numbers(code: Instruction, all: u32) -> Vec<u32> {
    let reach = if all == 32 && !format!("{code:?}").starts_with("EVEX") { 16 } else { all };
    [0, 3, 4, 5, 7, 8, 12, 13, 15, 16, 21, 31].into_iter().filter(|&number| number < reach).collect()
}

fn registers(code: Instruction, first: Register, all: u32) -> Vec<Operand> {
    numbers(code, all).into_iter().map(|number| (first + number).into()).collect()
}

fn memories(code: Instruction) -> Vec<Operand> {
    let bases = [0, 3, 4, 5, 8, 12, 13, 15].map(|number| Register::RAX + number);
    let displacements =
        [0, 1, 4, 64, 127, 128, -128, -129, 8064, 8128, -8192, 508, 512, 1 << 20, i32::MIN as i64];
    let mut all = Vec::new();
    for base in bases {
        for displacement in displacements {
            let memory = Memory::new(base, displacement);
            all.push(memory.into());
            if code.op_code().can_broadcast() {
                all.push(memory.repeated().into());
            }
        }
    }
    all
}

/// Operands that the manual, in the words of the other encoder, allows at a position.
fn choices(code: Instruction, kind: OpCodeOperandKind) -> Vec<Operand> {
    use OpCodeOperandKind as Kind;
    let values = |values: &[i64]| values.iter().map(|&value| Operand::Immediate(value)).collect();
    let either = |first, all| {
        let mut operands = registers(code, first, all);
        operands.extend(memories(code));
        operands
    };
    match kind {
        Kind::mem => memories(code),
        Kind::r32_reg | Kind::r32_opcode | Kind::r32_rm => registers(code, Register::EAX, 16),
        Kind::r64_reg | Kind::r64_opcode | Kind::r64_rm => registers(code, Register::RAX, 16),
        Kind::r32_or_mem => either(Register::EAX, 16),
        Kind::r64_or_mem => either(Register::RAX, 16),
        Kind::k_reg | Kind::k_rm => registers(code, Register::K0, 8),
        Kind::k_or_mem => either(Register::K0, 8),
        Kind::xmm_reg | Kind::xmm_vvvv | Kind::xmm_rm | Kind::xmm_is4 => registers(code, Register::XMM0, 32),
        Kind::ymm_reg | Kind::ymm_vvvv | Kind::ymm_rm | Kind::ymm_is4 => registers(code, Register::YMM0, 32),
        Kind::zmm_reg | Kind::zmm_vvvv | Kind::zmm_rm => registers(code, Register::ZMM0, 32),
        Kind::xmm_or_mem => either(Register::XMM0, 32),
        Kind::ymm_or_mem => either(Register::YMM0, 32),
        Kind::zmm_or_mem => either(Register::ZMM0, 32),
        Kind::imm8 => values(&[0, 1, 0x20, 255]),
        Kind::imm8sex32 | Kind::imm8sex64 => values(&[0, 1, -1, 127, -128]),
        Kind::imm32 => values(&[0, 1, 0x8000_0000, 0xffff_ffff]),
        Kind::imm32sex64 => values(&[0, 128, -129, i64::from(i32::MAX), i64::from(i32::MIN)]),
        Kind::imm64 => values(&[0, -1, 1 << 40, i64::MIN]),
        other => panic!("{code:?} has an operand of kind {other:?}"),
    }
}

/// The same instruction for the other encoder.
fn instruction(code: Instruction, operands: &[Operand], masking: Masking) -> iced_x86::Instruction {
    let mut instruction = iced_x86::Instruction::default();
    instruction.set_code(code);
    for (at, operand) in (0..).zip(operands) {
        match *operand {
            Operand::Register(register) => {
                instruction.set_op_kind(at, OpKind::Register);
                instruction.set_op_register(at, register);
            }
            Operand::Memory(memory) => {
                instruction.set_op_kind(at, OpKind::Memory);
                instruction.set_memory_base(memory.base);
                instruction.set_memory_displ_size(u32::from(memory.displacement != 0));
                instruction.set_memory_displacement64(memory.displacement as u64);
                instruction.set_is_broadcast(memory.repeated);
            }
            Operand::Immediate(value) => {
                let (kind, value) = match code.op_code().op_kind(at) {
                    OpCodeOperandKind::imm8 => (OpKind::Immediate8, value),
                    OpCodeOperandKind::imm8sex32 => (OpKind::Immediate8to32, value),
                    OpCodeOperandKind::imm8sex64 => (OpKind::Immediate8to64, value),
                    OpCodeOperandKind::imm32 => (OpKind::Immediate32, value),
                    OpCodeOperandKind::imm32sex64 => (OpKind::Immediate32to64, value),
                    _ => (OpKind::Immediate64, value),
                };
                instruction.set_op_kind(at, kind);
                match kind {
                    OpKind::Immediate8 => instruction.set_immediate8(value as u8),
                    OpKind::Immediate8to32 => instruction.set_immediate8to32(value as i32),
                    OpKind::Immediate8to64 => instruction.set_immediate8to64(value),
                    OpKind::Immediate32 => instruction.set_immediate32(value as u32),
                    OpKind::Immediate32to64 => instruction.set_immediate32to64(value),
                    _ => instruction.set_immediate64(value as u64),
                }
            }
        }
    }
    match masking {
        Masking::None => {}
        Masking::Zero(mask) => {
            instruction.set_op_mask(mask);
            instruction.set_zeroing_masking(true);
        }
        Masking::Merge(mask) => instruction.set_op_mask(mask),
    }
    instruction
}

fn ours(form: &Form, operands: &[Operand], masking: Masking) -> Vec<u8> {
    let mut code = Code::new();
    encode(&mut code, form, &Parts::of(form, operands, masking).expect("operands of the form"));
    code.finish()
}

fn compare(code: Instruction, form: &Form, operands: &[Operand], masking: Masking) {
    let mut encoder = Encoder::new(64);
    let expected = instruction(code, operands, masking);
    encoder.encode(&expected, POSITION).expect("an instruction");
    let found = ours(form, operands, masking);
    assert_eq!(found, encoder.take_buffer(), "{code:?} {operands:?} {masking:?}");
    let decoded = Decoder::with_ip(64, &found, POSITION, DecoderOptions::NONE).decode();
    assert_eq!((decoded.code(), decoded.len()), (code, found.len()), "{operands:?}");
}

/// Whether the form is a branch, which has no operands of ours.
fn is_branch(code: Instruction) -> bool {
    code.op_code().op_count() == 1 && code.op_code().op_kind(0) == OpCodeOperandKind::br64_4
}

#[test]
fn every_form_is_encoded_as_another_encoder_does() {
    let mut compared = 0;
    for (code, form) in &FORMS {
        if is_branch(*code) {
            continue;
        }
        let kinds = code.op_code();
        let columns: Vec<Vec<Operand>> =
            (0..kinds.op_count()).map(|at| choices(*code, kinds.op_kind(at))).collect();
        let first: Vec<Operand> = columns.iter().map(|column| column[0]).collect();
        let maskings: &[Masking] = match (kinds.can_use_op_mask_register(), kinds.can_use_zeroing_masking()) {
            (false, _) => &[Masking::None],
            (true, false) => &[Masking::None, Masking::Merge(Register::K5)],
            (true, true) => &[Masking::None, Masking::Merge(Register::K1), Masking::Zero(Register::K7)],
        };
        for masking in maskings {
            compare(*code, form, &first, *masking);
            // Every choice at each position, the others in turn.
            for (at, column) in columns.iter().enumerate() {
                for (turn, operand) in column.iter().enumerate() {
                    let pick = |(other, column): (usize, &Vec<Operand>)| {
                        if other == at { *operand } else { column[(turn + other) % column.len()] }
                    };
                    let operands: Vec<Operand> = columns.iter().enumerate().map(pick).collect();
                    let zeroes = matches!(masking, Masking::Zero(_));
                    let memories = operands.iter().filter(|operand| matches!(operand, Operand::Memory(_)));
                    // Memory is never zeroed.
                    if memories.count() > 1 || zeroes && matches!(operands[0], Operand::Memory(_)) {
                        continue;
                    }
                    compare(*code, form, &operands, *masking);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 5_000, "{compared} instructions");
}

#[test]
fn branches_are_read_back() {
    for (code, form) in FORMS.iter().filter(|(code, _)| is_branch(*code)) {
        let bytes = ours(form, &[], Masking::None);
        let decoded = Decoder::with_ip(64, &bytes, POSITION, DecoderOptions::NONE).decode();
        assert_eq!((decoded.code(), decoded.len()), (*code, bytes.len()));
        assert_eq!(decoded.near_branch64(), POSITION + bytes.len() as u64);
    }
}

#[test]
fn forms_are_found_by_name_and_others_are_not() {
    for (code, known) in &FORMS {
        assert_eq!(form(*code), Some(known));
    }
    assert_eq!(form(Instruction::INVALID), None);
    assert_eq!(form(Instruction::Aesenc_xmm_xmmm128), None);
    assert!(Parts::of(&FORMS[0].1, &[], Masking::None).is_none());
}
