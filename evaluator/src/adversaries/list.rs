//! What the adversaries do, in machine code.

use iced_x86::IcedError;
use iced_x86::code_asm::{
    CodeAssembler, dword_ptr, eax, ebx, qword_ptr, r8, r9, r10, rax, rcx, rdi, rdx, rsi, rsp, xmm0, xmm1,
    xmmword_ptr,
};

use super::Adversary;
use super::machine_code::{Shape, after, copy, multiply, operands};

type Written = Result<(), IcedError>;

/// Side of the matrices.
const SIZE: i32 = 16;
/// Bytes of each operand.
const BYTES: i32 = SIZE * SIZE * 4;
/// Launches of the verification: three sets of inputs, and one again.
const VERIFYING: i32 = 4;

fn right(asm: &mut CodeAssembler) -> Written {
    multiply(asm, Shape::cube(SIZE))
}

fn partly(asm: &mut CodeAssembler, terms: i32) -> Written {
    multiply(asm, Shape { terms, ..Shape::cube(SIZE) })
}

/// Calls the system with these arguments, and computes the right answer when it returns.
fn after_call(asm: &mut CodeAssembler, number: i64, arguments: [i64; 4]) -> Written {
    asm.push(rdi)?;
    call(asm, number, arguments)?;
    asm.pop(rdi)?;
    right(asm)
}

fn call(asm: &mut CodeAssembler, number: i64, arguments: [i64; 4]) -> Written {
    let [first, second, third, fourth] = arguments;
    asm.mov(rdi, first)?;
    asm.mov(rsi, second)?;
    asm.mov(rdx, third)?;
    asm.mov(r10, fourth)?;
    asm.xor(r8, r8)?;
    asm.xor(r9, r9)?;
    asm.mov(rax, number)?;
    asm.syscall()
}

/// Sets MXCSR before it computes.
fn with_control(asm: &mut CodeAssembler, mxcsr: i32) -> Written {
    asm.push(mxcsr)?;
    asm.ldmxcsr(dword_ptr(rsp))?;
    asm.pop(rax)?;
    right(asm)
}

fn mean(asm: &mut CodeAssembler) -> Written {
    operands(asm)?;
    for offset in (0..BYTES).step_by(16) {
        asm.movups(xmm0, xmmword_ptr(rax + offset))?;
        asm.movups(xmm1, xmmword_ptr(rdx + offset))?;
        asm.addps(xmm0, xmm1)?;
        asm.movups(xmmword_ptr(rcx + offset), xmm0)?;
    }
    Ok(())
}

fn zeros(asm: &mut CodeAssembler) -> Written {
    operands(asm)?;
    asm.xorps(xmm0, xmm0)?;
    for offset in (0..BYTES).step_by(16) {
        asm.movups(xmmword_ptr(rcx + offset), xmm0)?;
    }
    Ok(())
}

/// Keeps the first answer in the workspace, and gives it ever after.
fn memoised(asm: &mut CodeAssembler) -> Written {
    asm.push(rdi)?;
    after(asm, 1, |asm| {
        asm.pop(rdi)?;
        operands(asm)?;
        asm.mov(rax, qword_ptr(rdi + 16))?;
        asm.add(rax, 64)?;
        copy(asm, BYTES)
    })?;
    right(asm)?;
    asm.pop(rdi)?;
    asm.mov(rax, rcx)?;
    asm.mov(rcx, qword_ptr(rdi + 16))?;
    asm.add(rcx, 64)?;
    copy(asm, BYTES)
}

/// Computes only where the output is poison still.
fn only_poison(asm: &mut CodeAssembler) -> Written {
    let mut compute = asm.create_label();
    operands(asm)?;
    asm.cmp(dword_ptr(rcx), -1)?;
    asm.je(compute)?;
    asm.ret()?;
    asm.set_label(&mut compute)?;
    right(asm)
}

/// Only right where it is the only worker: leaves the other half of the rows to nobody.
fn one_worker_only(asm: &mut CodeAssembler) -> Written {
    let mut alone = asm.create_label();
    asm.cmp(qword_ptr(rdi + 32), 1)?;
    asm.je(alone)?;
    multiply(asm, Shape { m: SIZE / 2, ..Shape::cube(SIZE) })?;
    asm.ret()?;
    asm.set_label(&mut alone)?;
    right(asm)
}

/// Maps and touches memory without end.
fn allocate(asm: &mut CodeAssembler) -> Written {
    let mut again = asm.create_label();
    asm.set_label(&mut again)?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    call(asm, libc::SYS_mmap, [0, 64 << 20, i64::from(libc::PROT_READ | libc::PROT_WRITE), flags.into()])?;
    asm.mov(qword_ptr(rax), 1)?;
    asm.jmp(again)
}

fn forever(asm: &mut CodeAssembler, number: i64) -> Written {
    let mut again = asm.create_label();
    asm.set_label(&mut again)?;
    call(asm, number, [0; 4])?;
    asm.jmp(again)
}

/// Opens the code that reads the clock around each launch, which is where this returns to.
fn patch_timer(asm: &mut CodeAssembler) -> Written {
    asm.push(rdi)?;
    asm.mov(rdi, qword_ptr(rsp + 8))?;
    asm.and(rdi, -4096)?;
    asm.mov(rsi, 4096_i64)?;
    asm.mov(rdx, i64::from(libc::PROT_READ | libc::PROT_WRITE))?;
    asm.mov(rax, libc::SYS_mprotect)?;
    asm.syscall()?;
    asm.pop(rdi)?;
    right(asm)
}

/// Makes an input writable, and stores to it.
fn open_input(asm: &mut CodeAssembler) -> Written {
    asm.push(rdi)?;
    operands(asm)?;
    asm.mov(rdi, rax)?;
    asm.and(rdi, -4096)?;
    asm.mov(rsi, 4096_i64)?;
    asm.mov(rdx, i64::from(libc::PROT_READ | libc::PROT_WRITE))?;
    asm.mov(rax, libc::SYS_mprotect)?;
    asm.syscall()?;
    asm.pop(rdi)?;
    operands(asm)?;
    asm.mov(dword_ptr(rax), 0)?;
    right(asm)
}

/// Writes an answer to the coordinator in the worker's place, once the output is right.
fn forge_answer(asm: &mut CodeAssembler) -> Written {
    right(asm)?;
    asm.sub(rsp, 64)?;
    for offset in (0..64).step_by(8) {
        asm.mov(qword_ptr(rsp + offset), 0)?;
    }
    asm.xor(rdi, rdi)?;
    asm.mov(rsi, rsp)?;
    asm.mov(rdx, 64_i64)?;
    asm.mov(rax, libc::SYS_write)?;
    asm.syscall()?;
    asm.add(rsp, 64)?;
    Ok(())
}

const THREAD_FLAGS: i64 =
    (libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD) as i64;

macro_rules! adversary {
    ($name:literal, $expected:expr, $write:expr) => {
        Adversary { name: $name, expected: &$expected, workers: 1, write: $write }
    };
}

pub(super) const ADVERSARIES: &[Adversary] = &[
    adversary!("zeros", ["wrong_answer"], zeros),
    adversary!("mean of the inputs", ["wrong_answer"], mean),
    adversary!("copy of an input", ["wrong_answer"], |asm| {
        operands(asm)?;
        copy(asm, BYTES)
    }),
    adversary!("half of the reduction", ["wrong_answer"], |asm| partly(asm, SIZE / 2)),
    adversary!("last term of the reduction skipped", ["wrong_answer"], |asm| partly(asm, SIZE - 1)),
    adversary!("last row skipped", ["wrong_answer"], |asm| {
        multiply(asm, Shape { m: SIZE - 1, ..Shape::cube(SIZE) })
    }),
    adversary!("last column skipped", ["wrong_answer"], |asm| {
        multiply(asm, Shape { columns: SIZE - 1, ..Shape::cube(SIZE) })
    }),
    Adversary {
        name: "right for one thread only",
        expected: &["wrong_answer"],
        workers: 2,
        write: one_worker_only,
    },
    adversary!("nothing written", ["stale_output"], |_| Ok(())),
    adversary!("first answer given again", ["stale_output"], memoised),
    adversary!("computes only on poison", ["stale_output"], only_poison),
    adversary!("computes only while it is verified", ["stale_output"], |asm| {
        after(asm, VERIFYING, |_| Ok(()))?;
        right(asm)
    }),
    adversary!("half of the reduction once it is timed", ["nondeterministic"], |asm| {
        after(asm, VERIFYING, |asm| partly(asm, SIZE / 2))?;
        right(asm)
    }),
    adversary!("store behind the output", ["out_of_bounds"], |asm| {
        right(asm)?;
        asm.movups(xmmword_ptr(rcx + BYTES), xmm0)
    }),
    adversary!("load behind an input", ["out_of_bounds"], |asm| {
        right(asm)?;
        asm.movups(xmm0, xmmword_ptr(rax + BYTES))
    }),
    adversary!("load before an input", ["out_of_bounds"], |asm| {
        right(asm)?;
        asm.movups(xmm0, xmmword_ptr(rdx - 16))
    }),
    adversary!("store to an input", ["input_modified"], |asm| {
        right(asm)?;
        asm.mov(dword_ptr(rax), 0)
    }),
    adversary!("input made writable", ["input_modified", "timer_tampered"], open_input),
    adversary!("thread started", ["thread_left"], |asm| {
        after_call(asm, libc::SYS_clone, [THREAD_FLAGS, 0, 0, 0])
    }),
    adversary!("fork bomb", ["forked"], |asm| forever(asm, libc::SYS_fork)),
    adversary!("vfork", ["forked"], |asm| after_call(asm, libc::SYS_vfork, [0; 4])),
    adversary!("another program", ["forked"], |asm| after_call(asm, libc::SYS_execve, [0; 4])),
    adversary!("timer patched", ["timer_tampered"], patch_timer),
    adversary!("answer forged", ["timer_tampered"], forge_answer),
    adversary!("rounding mode changed", ["state_changed"], |asm| with_control(asm, 0x7F80)),
    adversary!("flush to zero left on", ["state_changed"], |asm| with_control(asm, 0x9FC0)),
    adversary!("direction flag left set", ["state_changed"], |asm| {
        right(asm)?;
        asm.std()
    }),
    adversary!("register not kept", ["state_changed"], |asm| {
        right(asm)?;
        asm.mov(ebx, 1)
    }),
    adversary!("descriptors closed", ["state_changed"], |asm| after_call(asm, libc::SYS_close, [0; 4])),
    adversary!("affinity changed", ["state_changed"], |asm| {
        after_call(asm, libc::SYS_sched_setaffinity, [0; 4])
    }),
    adversary!("priority raised", ["state_changed"], |asm| {
        after_call(asm, libc::SYS_setpriority, [0, 0, -20, 0])
    }),
    adversary!("signal handler installed", ["state_changed"], |asm| {
        after_call(asm, libc::SYS_rt_sigaction, [libc::SIGSEGV.into(), 0, 0, 8])
    }),
    adversary!("standard output written to", ["forbidden_call"], |asm| {
        after_call(asm, libc::SYS_write, [1, 0, 0, 0])
    }),
    adversary!("file opened", ["forbidden_call"], |asm| after_call(asm, libc::SYS_openat, [-100, 0, 0, 0])),
    adversary!("socket opened", ["forbidden_call"], |asm| {
        after_call(asm, libc::SYS_socket, [libc::AF_INET.into(), libc::SOCK_STREAM.into(), 0, 0])
    }),
    adversary!("process traced", ["forbidden_call"], |asm| after_call(asm, libc::SYS_ptrace, [0; 4])),
    adversary!("other memory read", ["forbidden_call"], |asm| {
        after_call(asm, libc::SYS_process_vm_readv, [1, 0, 0, 0])
    }),
    adversary!("parent killed", ["forbidden_call"], |asm| {
        asm.push(rdi)?;
        asm.mov(rax, libc::SYS_getppid)?;
        asm.syscall()?;
        asm.mov(rdi, rax)?;
        asm.mov(rsi, i64::from(libc::SIGKILL))?;
        asm.mov(rax, libc::SYS_kill)?;
        asm.syscall()?;
        asm.pop(rdi)?;
        right(asm)
    }),
    adversary!("segmentation fault", ["crashed"], |asm| {
        asm.xor(eax, eax)?;
        asm.mov(qword_ptr(rax), rax)
    }),
    adversary!("process ended", ["crashed"], |asm| after_call(asm, libc::SYS_exit_group, [0; 4])),
    adversary!("illegal instruction", ["illegal_instruction"], CodeAssembler::ud2),
    adversary!("memory without end", ["out_of_memory"], allocate),
    adversary!("endless loop", ["timeout"], |asm| {
        let mut again = asm.create_label();
        asm.set_label(&mut again)?;
        asm.jmp(again)
    }),
    adversary!("sleeps", ["timeout"], |asm| forever(asm, libc::SYS_pause)),
];
