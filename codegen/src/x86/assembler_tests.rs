//! Labels, constants, and code that is emitted again.

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Register};

use super::assembler::{Assembler, Constant};
use super::operand::{Memory, Operand};

fn decoded(code: &[u8]) -> Vec<Instruction> {
    let all = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    all.into_iter().take_while(|instruction| instruction.code() != Code::Ud2).collect()
}

/// A multiply-add of an element in memory, one of a constant, and one of registers.
fn body(asm: &mut Assembler, shift: i64) {
    let memory = Memory::new(Register::R12, 100 + shift).biased(3).repeated();
    let fixed = Memory::new(Register::RSI, 8).biased(1);
    let constant = asm.constant(Constant::Repeated { copies: 8, bits: 7 });
    let code = Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er;
    asm.emit_vectors(code, [31, 2, 0], Some(memory));
    asm.emit_vectors(Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256, [9, 2, 0], Some(constant));
    asm.emit_vectors(code, [1, 17, 30], None);
    asm.emit(Code::Add_rm64_imm32, &[fixed.into(), Operand::Immediate(1000)]);
    asm.emit(Code::Cmp_rm64_imm8, &[memory_of(shift).into(), Operand::Immediate(-3)]);
}

fn memory_of(shift: i64) -> Memory {
    Memory::new(Register::RBP, shift).biased(3)
}

#[test]
fn repeated_code_is_the_code_emitted_anew() {
    let shifts = [0, 4, 128, -100, 1 << 20, -5];
    let mut anew = Assembler::new();
    for shift in shifts {
        body(&mut anew, shift);
    }
    let mut repeating = Assembler::new();
    repeating.record();
    body(&mut repeating, 0);
    let recording = repeating.recorded().expect("code without branches");
    for shift in &shifts[1..] {
        repeating.repeat(&recording, |class| if class == 3 { *shift } else { 0 });
    }
    assert_eq!(repeating.finish().expect("code"), anew.finish().expect("code"));
}

#[test]
fn code_with_branches_is_not_repeated() {
    let mut asm = Assembler::new();
    asm.record();
    let label = asm.here();
    asm.branch(Code::Jmp_rel32_64, label);
    assert!(asm.recorded().is_none());
}

#[test]
fn branches_and_constants_are_reached() {
    let mut asm = Assembler::new();
    let (ahead, behind) = (asm.label(), asm.here());
    let first = asm.constant(Constant::Repeated { copies: 1, bits: 1 });
    let second = asm.constant(Constant::Bytes((0..32).collect()));
    let again = asm.constant(Constant::Repeated { copies: 1, bits: 1 });
    asm.branch(Code::Jle_rel32_64, ahead);
    asm.emit(Code::Imul_r64_rm64_imm32, &[Register::RAX.into(), first.into(), Operand::Immediate(9)]);
    asm.emit(Code::VEX_Vmovups_ymm_ymmm256, &[Register::YMM9.into(), second.into()]);
    asm.emit(Code::VEX_Vbroadcastss_ymm_m32, &[Register::YMM1.into(), again.into()]);
    asm.branch(Code::Jmp_rel32_64, behind);
    asm.align(64);
    asm.bind(ahead);
    let code = asm.finish().expect("code");
    let instructions = decoded(&code);
    assert_eq!(instructions[0].near_branch64(), 64);
    let places = [1, 2, 3].map(|at: usize| instructions[at].ip_rel_memory_address() as usize);
    assert_eq!(places[0], places[2]);
    assert_eq!(code[places[0]..][..4], [1, 0, 0, 0]);
    assert_eq!(places[1] % 32, 0);
    assert_eq!(code[places[1]..][..32], (0..32).collect::<Vec<u8>>());
    assert_eq!(instructions[4].near_branch64(), 0);
}

#[test]
fn what_cannot_be_encoded_is_an_error() {
    let operands = |displacement| [Register::RAX.into(), Memory::new(Register::RBX, displacement).into()];
    let attempt = |code, displacement| {
        let mut asm = Assembler::new();
        asm.emit(code, &operands(displacement));
        asm.finish()
    };
    assert!(attempt(Code::Mov_r64_rm64, 1 << 30).is_ok());
    assert!(attempt(Code::Mov_r64_rm64, 1 << 31).is_err());
    assert!(attempt(Code::Aesenc_xmm_xmmm128, 0).is_err());
    let mut asm = Assembler::new();
    asm.emit(Code::Mov_r64_rm64, &[Register::RAX.into()]);
    assert!(asm.finish().is_err());
}

#[test]
fn code_of_any_length_is_kept() {
    let mut asm = Assembler::new();
    for at in 0..20_000 {
        asm.emit(Code::Mov_r64_imm64, &[Register::R9.into(), Operand::Immediate(at << 33)]);
    }
    let code = asm.finish().expect("code");
    let instructions = decoded(&code);
    assert_eq!(instructions.len(), 20_000);
    assert!((0..).zip(&instructions).all(|(at, instruction)| instruction.immediate64() == at << 33));
}
