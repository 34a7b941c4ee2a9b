//! The machine code of adversaries for tests, where a refusal of the assembler is a failed test.

use iced_x86::code_asm::CodeAssembler;

use crate::machine_code;
pub(crate) use crate::machine_code::Shape;

/// Assembles what a closure writes, with `ret` at the end.
pub(crate) fn code(write: impl FnOnce(&mut CodeAssembler)) -> Vec<u8> {
    let written = machine_code::code(|asm| {
        write(asm);
        Ok(())
    });
    written.unwrap()
}

/// As [`machine_code::operands`].
pub(crate) fn operands(asm: &mut CodeAssembler) {
    machine_code::operands(asm).unwrap();
}

/// As [`machine_code::multiply`].
pub(crate) fn multiply(asm: &mut CodeAssembler, shape: Shape) {
    machine_code::multiply(asm, shape).unwrap();
}

/// As [`machine_code::copy`].
pub(crate) fn copy(asm: &mut CodeAssembler, bytes: i32) {
    machine_code::copy(asm, bytes).unwrap();
}

/// As [`machine_code::after`], doing nothing.
pub(crate) fn stop_after(asm: &mut CodeAssembler, launches: i32) {
    stop_after_with(asm, launches, |_| {});
}

/// As [`machine_code::after`].
pub(crate) fn stop_after_with(asm: &mut CodeAssembler, launches: i32, then: impl FnOnce(&mut CodeAssembler)) {
    let written = machine_code::after(asm, launches, |asm| {
        then(asm);
        Ok(())
    });
    written.unwrap();
}
