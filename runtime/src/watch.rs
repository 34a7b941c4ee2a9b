//! Calls a kernel and compares what the calling convention says it must leave alone.
//!
//! A kernel that leaves flush-to-zero on changes the results of whatever runs next on its thread, and one that
//! does not keep a callee-saved register makes its caller wrong in ways that show anywhere. System V ABI for
//! x86-64, sections 3.2.1 and 3.2.3.

use std::fmt;

use tilewright_codegen::KernelArguments;

use crate::KernelEntry;

/// Control bits of MXCSR at the start of a thread: all exceptions masked, to nearest, no flush to zero.
const MXCSR: u32 = 0x1F80;
/// The bits of MXCSR that are control and not sticky flags.
const MXCSR_CONTROL: u32 = 0xFFC0;
/// The x87 control word at the start of a thread.
const X87: u16 = 0x037F;
/// The direction flag.
const DIRECTION: u64 = 1 << 10;

/// What the callee-saved registers hold during a watched call, in the order of [`REGISTERS`].
const SENTINELS: [u64; 6] = [
    0x5EED_0001_A5A5_C3C3,
    0x5EED_0002_A5A5_C3C3,
    0x5EED_0003_A5A5_C3C3,
    0x5EED_0004_A5A5_C3C3,
    0x5EED_0005_A5A5_C3C3,
    0x5EED_0006_A5A5_C3C3,
];
const REGISTERS: [&str; 6] = ["rbx", "rbp", "r12", "r13", "r14", "r15"];

/// State that a kernel did not leave as it found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disturbance {
    /// Control bits of MXCSR afterwards (rounding, flush to zero, masks), where they are others.
    pub mxcsr: Option<u32>,
    /// The x87 control word afterwards, where it is another.
    pub x87: Option<u16>,
    /// Whether string instructions run backwards now.
    pub direction: bool,
    /// Bit `i` is set when the `i`-th callee-saved register was not kept: rbx, rbp, r12 to r15.
    pub registers: u8,
    /// Whether the stack pointer is another.
    pub stack: bool,
}

impl Disturbance {
    const NONE: Self = Self { mxcsr: None, x87: None, direction: false, registers: 0, stack: false };

    fn found(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(mxcsr) = self.mxcsr {
            parts.push(format!("MXCSR is {mxcsr:#06x} instead of {MXCSR:#06x}"));
        }
        if let Some(x87) = self.x87 {
            parts.push(format!("the x87 control word is {x87:#06x} instead of {X87:#06x}"));
        }
        if self.direction {
            parts.push("the direction flag is set".to_owned());
        }
        let lost = REGISTERS.iter().enumerate().filter(|(at, _)| self.registers >> at & 1 == 1);
        for (_, name) in lost {
            parts.push(format!("register {name} was not kept"));
        }
        if self.stack {
            parts.push("the stack pointer was not kept".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

/// What a call has left, in the layout that [`call`] stores.
#[repr(C)]
#[derive(Default)]
struct Record {
    /// Stack pointer before.
    stack: u64,
    mxcsr: u32,
    x87: u16,
    padding: u16,
    flags: u64,
    registers: [u64; 6],
    /// Stack pointer after.
    stack_after: u64,
}

/// Calls the kernel; the floating-point control state, the direction flag and the registers that it should have
/// kept are put right afterwards, whatever it did to them.
///
/// # Safety
/// As calling the entry.
pub(crate) unsafe fn watched(entry: KernelEntry, arguments: *const KernelArguments) -> Option<Disturbance> {
    let mut record = Record::default();
    // SAFETY: the record has the layout that `call` expects; the rest is the caller's word.
    unsafe { call(entry, arguments, &raw mut record) };
    let control = record.mxcsr & MXCSR_CONTROL;
    let mut registers = 0;
    for (at, (found, wanted)) in record.registers.iter().zip(&SENTINELS).enumerate() {
        registers |= u8::from(found != wanted) << at;
    }
    Disturbance {
        mxcsr: (control != MXCSR).then_some(control),
        x87: (record.x87 != X87).then_some(record.x87),
        direction: record.flags & DIRECTION != 0,
        registers,
        stack: record.stack != record.stack_after,
    }
    .found()
}

/// Compares the floating-point control state and the direction flag of this thread with those of a fresh one, and
/// puts them right.
pub fn settle() -> Option<Disturbance> {
    let (mut mxcsr, mut x87) = (0_u32, 0_u16);
    let (right_mxcsr, right_x87) = (MXCSR, X87);
    let flags: u64;
    // SAFETY: stores to two variables and a register; the state set is that in which every thread starts.
    unsafe {
        std::arch::asm!(
            "stmxcsr [{mxcsr}]",
            "fnstcw [{x87}]",
            "pushfq",
            "pop {flags}",
            "cld",
            "ldmxcsr [{right_mxcsr}]",
            "fldcw [{right_x87}]",
            mxcsr = in(reg) &raw mut mxcsr,
            x87 = in(reg) &raw mut x87,
            flags = out(reg) flags,
            right_mxcsr = in(reg) &raw const right_mxcsr,
            right_x87 = in(reg) &raw const right_x87,
        );
    }
    let control = mxcsr & MXCSR_CONTROL;
    Disturbance {
        mxcsr: (control != MXCSR).then_some(control),
        x87: (x87 != X87).then_some(x87),
        direction: flags & DIRECTION != 0,
        ..Disturbance::NONE
    }
    .found()
}

/// Fills the callee-saved registers with the sentinels, calls the entry, and stores to the record what it left.
#[unsafe(naked)]
unsafe extern "sysv64" fn call(entry: KernelEntry, arguments: *const KernelArguments, record: *mut Record) {
    core::arch::naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        // The seventh makes the stack aligned for the call.
        "push rdx",
        "mov [rdx], rsp",
        "mov rax, rdi",
        "mov rdi, rsi",
        "movabs rbx, {s0}",
        "movabs rbp, {s1}",
        "movabs r12, {s2}",
        "movabs r13, {s3}",
        "movabs r14, {s4}",
        "movabs r15, {s5}",
        "call rax",
        "mov rdx, [rsp]",
        "stmxcsr [rdx + 8]",
        "fnstcw [rdx + 12]",
        "pushfq",
        "pop rax",
        "mov [rdx + 16], rax",
        "cld",
        "mov [rdx + 24], rbx",
        "mov [rdx + 32], rbp",
        "mov [rdx + 40], r12",
        "mov [rdx + 48], r13",
        "mov [rdx + 56], r14",
        "mov [rdx + 64], r15",
        "mov [rdx + 72], rsp",
        "mov rsp, [rdx]",
        "push {x87}",
        "fldcw [rsp]",
        "push {mxcsr}",
        "ldmxcsr [rsp]",
        "add rsp, 16",
        "pop rdx",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
        s0 = const SENTINELS[0],
        s1 = const SENTINELS[1],
        s2 = const SENTINELS[2],
        s3 = const SENTINELS[3],
        s4 = const SENTINELS[4],
        s5 = const SENTINELS[5],
        mxcsr = const MXCSR,
        x87 = const X87,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExecutableCode;
    use crate::testing::{artifact, no_arguments};

    fn left_by(code: &[u8]) -> Option<Disturbance> {
        let mut code = code.to_vec();
        code.push(0xC3);
        let code = ExecutableCode::load(&artifact(code, 1, 0)).unwrap();
        // SAFETY: each code below changes registers only and returns.
        let found = unsafe { watched(code.entry("run").unwrap(), &no_arguments()) };
        assert_eq!(settle(), None, "what was found was put right");
        found
    }

    #[test]
    fn a_kernel_that_keeps_the_rules_disturbs_nothing() {
        assert_eq!(left_by(&[]), None);
        // push rbx; xor ebx, ebx; pop rbx
        assert_eq!(left_by(&[0x53, 0x31, 0xDB, 0x5B]), None);
        // cvtsi2sd xmm0, rdi; sqrtsd xmm0, xmm0: raises the sticky flag of inexact results
        assert_eq!(left_by(&[0xF2, 0x48, 0x0F, 0x2A, 0xC7, 0xF2, 0x0F, 0x51, 0xC0]), None);
    }

    #[test]
    fn each_register_that_is_not_kept_is_named() {
        let lost = |code: &[u8]| left_by(code).unwrap().to_string();
        assert_eq!(lost(&[0x31, 0xDB]), "register rbx was not kept");
        assert_eq!(lost(&[0x31, 0xED]), "register rbp was not kept");
        assert_eq!(lost(&[0x45, 0x31, 0xE4]), "register r12 was not kept");
        assert_eq!(
            lost(&[0x45, 0x31, 0xFF, 0x4D, 0x31, 0xF6]),
            "register r14 was not kept, register r15 was not kept"
        );
    }

    #[test]
    fn control_state_is_noticed_and_put_right() {
        // std
        assert_eq!(left_by(&[0xFD]).unwrap().to_string(), "the direction flag is set");
        // push 0x9FC0; ldmxcsr [rsp]; pop rax: flush to zero and denormals are zero
        let flushing = left_by(&[0x68, 0xC0, 0x9F, 0, 0, 0x0F, 0xAE, 0x14, 0x24, 0x58]).unwrap();
        assert_eq!(flushing.mxcsr, Some(0x9FC0));
        // push 0x0F7F; fldcw [rsp]; pop rax: rounds towards zero
        let rounding = left_by(&[0x68, 0x7F, 0x0F, 0, 0, 0xD9, 0x2C, 0x24, 0x58]).unwrap();
        assert_eq!(rounding.x87, Some(0x0F7F));
    }
}
