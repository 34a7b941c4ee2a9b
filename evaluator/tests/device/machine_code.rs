//! Plain matrix multiplications in scalar machine code, right and subtly wrong.

use iced_x86::code_asm::{
    CodeAssembler, dword_ptr, eax, qword_ptr, r8, r9, r10, r11, rax, rcx, rdi, rdx, rsi, xmm0, xmm1,
    xmmword_ptr,
};

/// Assembles what a closure writes, with `ret` at the end.
pub(crate) fn code(write: impl FnOnce(&mut CodeAssembler)) -> Vec<u8> {
    let mut asm = CodeAssembler::new(64).unwrap();
    write(&mut asm);
    asm.ret().unwrap();
    asm.assemble(0).unwrap()
}

/// Loads the addresses of A, B and C into rax, rdx and rcx.
pub(crate) fn operands(asm: &mut CodeAssembler) {
    asm.mov(rsi, qword_ptr(rdi)).unwrap();
    asm.mov(rax, qword_ptr(rsi)).unwrap();
    asm.mov(rdx, qword_ptr(rsi + 8)).unwrap();
    asm.mov(rcx, qword_ptr(rsi + 16)).unwrap();
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
    pub(crate) ldc: i32,
    pub(crate) accumulate: bool,
}

impl Shape {
    pub(crate) fn cube(size: i32) -> Self {
        Self { m: size, n: size, k: size, terms: size, ldc: size, accumulate: false }
    }
}

/// C ← A·B, element by element; leaves the addresses in rax, rdx and rcx.
pub(crate) fn multiply(asm: &mut CodeAssembler, shape: Shape) {
    let Shape { m, n, k, terms, ldc, accumulate } = shape;
    operands(asm);
    // r8 counts rows, r9 columns, r10 terms; rsi walks along a row of A, r11 down a column of B.
    let (mut row, mut column, mut term) = (asm.create_label(), asm.create_label(), asm.create_label());
    asm.xor(r8, r8).unwrap();
    asm.set_label(&mut row).unwrap();
    asm.xor(r9, r9).unwrap();
    asm.set_label(&mut column).unwrap();
    asm.imul_3(rsi, r8, 4 * k).unwrap();
    asm.add(rsi, rax).unwrap();
    asm.lea(r11, qword_ptr(rdx + r9 * 4)).unwrap();
    asm.imul_3(rdi, r8, 4 * ldc).unwrap();
    asm.add(rdi, rcx).unwrap();
    if accumulate {
        asm.movss(xmm0, dword_ptr(rdi + r9 * 4)).unwrap();
    } else {
        asm.xorps(xmm0, xmm0).unwrap();
    }
    asm.xor(r10, r10).unwrap();
    asm.set_label(&mut term).unwrap();
    asm.movss(xmm1, dword_ptr(rsi + r10 * 4)).unwrap();
    asm.mulss(xmm1, dword_ptr(r11)).unwrap();
    asm.addss(xmm0, xmm1).unwrap();
    asm.add(r11, 4 * n).unwrap();
    asm.inc(r10).unwrap();
    asm.cmp(r10, terms).unwrap();
    asm.jl(term).unwrap();
    asm.movss(dword_ptr(rdi + r9 * 4), xmm0).unwrap();
    asm.inc(r9).unwrap();
    asm.cmp(r9, n).unwrap();
    asm.jl(column).unwrap();
    asm.inc(r8).unwrap();
    asm.cmp(r8, m).unwrap();
    asm.jl(row).unwrap();
}

/// Copies 16-byte pieces from rax + 0, 16, … to rcx + 0, 16, …
pub(crate) fn copy(asm: &mut CodeAssembler, bytes: i32) {
    for offset in (0..bytes).step_by(16) {
        asm.movups(xmm0, xmmword_ptr(rax + offset)).unwrap();
        asm.movups(xmmword_ptr(rcx + offset), xmm0).unwrap();
    }
}

/// Returns at once from the launch with this number on, counted in the workspace; rdi is kept.
pub(crate) fn stop_after(asm: &mut CodeAssembler, launches: i32) {
    let mut go_on = asm.create_label();
    asm.mov(rsi, qword_ptr(rdi + 16)).unwrap();
    // The workspace starts as poison, so what is counted is what is added to the first value found.
    asm.mov(eax, dword_ptr(rsi + 4)).unwrap();
    asm.cmp(eax, 0x5EED).unwrap();
    let mut counted = asm.create_label();
    asm.je(counted).unwrap();
    asm.mov(dword_ptr(rsi + 4), 0x5EED).unwrap();
    asm.mov(dword_ptr(rsi), 0).unwrap();
    asm.set_label(&mut counted).unwrap();
    asm.inc(dword_ptr(rsi)).unwrap();
    asm.cmp(dword_ptr(rsi), launches).unwrap();
    asm.jle(go_on).unwrap();
    asm.ret().unwrap();
    asm.set_label(&mut go_on).unwrap();
    asm.nop().unwrap();
}
