//! Plain matrix multiplications in scalar machine code, right and subtly wrong.

use iced_x86::IcedError;
use iced_x86::code_asm::{
    CodeAssembler, dword_ptr, qword_ptr, r8, r9, r10, r11, rax, rcx, rdi, rdx, rsi, xmm0, xmm1, xmmword_ptr,
};

/// Assembles what a closure writes, with `ret` at the end.
pub(crate) fn code(
    write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> Result<Vec<u8>, IcedError> {
    let mut asm = CodeAssembler::new(64)?;
    write(&mut asm)?;
    asm.ret()?;
    asm.assemble(0)
}

/// Loads the addresses of A, B and C into rax, rdx and rcx.
pub(crate) fn operands(asm: &mut CodeAssembler) -> Result<(), IcedError> {
    asm.mov(rsi, qword_ptr(rdi))?;
    asm.mov(rax, qword_ptr(rsi))?;
    asm.mov(rdx, qword_ptr(rsi + 8))?;
    asm.mov(rcx, qword_ptr(rsi + 16))?;
    Ok(())
}

/// Extents and row distances of a multiplication.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) m: i32,
    pub(crate) n: i32,
    /// Length of A's rows.
    pub(crate) k: i32,
    /// Terms that are summed.
    pub(crate) terms: i32,
    /// Columns that are computed.
    pub(crate) columns: i32,
    pub(crate) ldc: i32,
    pub(crate) accumulate: bool,
}

impl Shape {
    pub(crate) fn cube(size: i32) -> Self {
        Self { m: size, n: size, k: size, terms: size, columns: size, ldc: size, accumulate: false }
    }
}

/// C ← A·B, element by element; leaves the addresses in rax, rdx and rcx.
pub(crate) fn multiply(asm: &mut CodeAssembler, shape: Shape) -> Result<(), IcedError> {
    let Shape { m, n, k, terms, columns, ldc, accumulate } = shape;
    operands(asm)?;
    // r8 counts rows, r9 columns, r10 terms; rsi walks along a row of A, r11 down a column of B.
    let (mut row, mut column, mut term) = (asm.create_label(), asm.create_label(), asm.create_label());
    asm.xor(r8, r8)?;
    asm.set_label(&mut row)?;
    asm.xor(r9, r9)?;
    asm.set_label(&mut column)?;
    asm.imul_3(rsi, r8, 4 * k)?;
    asm.add(rsi, rax)?;
    asm.lea(r11, qword_ptr(rdx + r9 * 4))?;
    asm.imul_3(rdi, r8, 4 * ldc)?;
    asm.add(rdi, rcx)?;
    if accumulate {
        asm.movss(xmm0, dword_ptr(rdi + r9 * 4))?;
    } else {
        asm.xorps(xmm0, xmm0)?;
    }
    asm.xor(r10, r10)?;
    asm.set_label(&mut term)?;
    asm.movss(xmm1, dword_ptr(rsi + r10 * 4))?;
    asm.mulss(xmm1, dword_ptr(r11))?;
    asm.addss(xmm0, xmm1)?;
    asm.add(r11, 4 * n)?;
    asm.inc(r10)?;
    asm.cmp(r10, terms)?;
    asm.jl(term)?;
    asm.movss(dword_ptr(rdi + r9 * 4), xmm0)?;
    asm.inc(r9)?;
    asm.cmp(r9, columns)?;
    asm.jl(column)?;
    asm.inc(r8)?;
    asm.cmp(r8, m)?;
    asm.jl(row)?;
    Ok(())
}

/// Copies 16-byte pieces from rax + 0, 16, … to rcx + 0, 16, …
pub(crate) fn copy(asm: &mut CodeAssembler, bytes: i32) -> Result<(), IcedError> {
    for offset in (0..bytes).step_by(16) {
        asm.movups(xmm0, xmmword_ptr(rax + offset))?;
        asm.movups(xmmword_ptr(rcx + offset), xmm0)?;
    }
    Ok(())
}

/// From the launch with this number on, counted in the workspace, does something else and returns; rdi is kept.
pub(crate) fn after(
    asm: &mut CodeAssembler,
    launches: i32,
    then: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> Result<(), IcedError> {
    let mut go_on = asm.create_label();
    let mut counted = asm.create_label();
    asm.mov(rsi, qword_ptr(rdi + 16))?;
    // The workspace starts as poison, so what is counted is what is added to the first value found.
    asm.cmp(dword_ptr(rsi + 4), 0x5EED)?;
    asm.je(counted)?;
    asm.mov(dword_ptr(rsi + 4), 0x5EED)?;
    asm.mov(dword_ptr(rsi), 0)?;
    asm.set_label(&mut counted)?;
    asm.inc(dword_ptr(rsi))?;
    asm.cmp(dword_ptr(rsi), launches)?;
    asm.jle(go_on)?;
    then(asm)?;
    asm.ret()?;
    asm.set_label(&mut go_on)?;
    asm.nop()?;
    Ok(())
}
