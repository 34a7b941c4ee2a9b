//! What is wrong must be found, named rightly, and found again in a fresh worker.

use iced_x86::code_asm::{
    dword_ptr, eax, edi, qword_ptr, r8, rax, rcx, rdi, rdx, rsi, rsp, xmm0, xmmword_ptr,
};
use tilewright_evaluator::{isolation, run_adversaries};
use tilewright_journal::EvalError;

use crate::assembled::{Shape, code, copy, multiply, operands, stop_after, stop_after_with};
use crate::support::{Rig, Test};

const SMALL: &str = "matmul:m=16,n=16,k=16,dtype=f32";
const BYTES: i32 = 16 * 16 * 4;

pub(crate) const TESTS: &[Test] = &[
    ("wrong_answers_are_found", wrong_answers_are_found),
    ("one_wrong_element_of_a_large_output_is_found", one_wrong_element_of_a_large_output_is_found),
    ("strays_are_named_by_operand", strays_are_named_by_operand),
    ("stores_between_rows_are_found", stores_between_rows_are_found),
    ("old_values_must_be_used", old_values_must_be_used),
    ("crashes_are_told_apart", crashes_are_told_apart),
    ("endless_loops_are_ended", endless_loops_are_ended),
    ("work_must_be_done_in_timed_launches_too", work_must_be_done_in_timed_launches_too),
    ("every_adversary_is_rejected_under_its_kind", every_adversary_is_rejected_under_its_kind),
    ("workers_are_confined", workers_are_confined),
];

fn every_adversary_is_rejected_under_its_kind() {
    let executable = std::env::current_exe().unwrap();
    let outcomes = run_adversaries(&executable).unwrap();
    assert!(outcomes.len() > 35);
    let passed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.is_as_expected()).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

fn workers_are_confined() {
    let isolation = isolation(&std::env::current_exe().unwrap()).unwrap();
    println!("{isolation:?}");
    // Where the system offers nothing, that is said.
    assert!(isolation.is_complete() || !isolation.refused.is_empty());
    assert!(isolation.applied.contains(&"no_new_privileges"));
}

fn is_wrong(error: &EvalError) -> bool {
    matches!(error, EvalError::WrongAnswer { tensor, .. } if tensor == "c")
}

// U002, U007
fn wrong_answers_are_found() {
    let mut rig = Rig::scripted(SMALL);
    let nothing = code(|_| {});
    let error = rig.failure(nothing, 0);
    assert!(matches!(&error, EvalError::StaleOutput(_)), "{error}");
    let zeros = code(|asm| {
        operands(asm);
        asm.xorps(xmm0, xmm0).unwrap();
        for offset in (0..BYTES).step_by(16) {
            asm.movups(xmmword_ptr(rcx + offset), xmm0).unwrap();
        }
    });
    let input = code(|asm| {
        operands(asm);
        copy(asm, BYTES);
    });
    let half = code(|asm| multiply(asm, Shape { terms: 8, ..Shape::cube(16) }));
    let last_term = code(|asm| multiply(asm, Shape { terms: 15, ..Shape::cube(16) }));
    let last_row = code(|asm| multiply(asm, Shape { m: 15, ..Shape::cube(16) }));
    for wrong in [zeros, input, half, last_term, last_row] {
        let error = rig.failure(wrong, 0);
        assert!(is_wrong(&error), "{error}");
    }
    // The same runner still takes what is right.
    let measurement = rig.success(code(|asm| multiply(asm, Shape::cube(16))), 0);
    let verification = measurement.verification.unwrap();
    assert_eq!((verification.method.as_str(), verification.elements), ("full", 3 * 256));
    assert_eq!(verification.inputs, ["integer", "heavy_tailed", "structured"]);
    assert!(verification.max_error <= verification.tolerance && verification.max_error > 0.0);
}

fn one_wrong_element_of_a_large_output_is_found() {
    let mut rig = Rig::scripted("matmul:m=160,n=160,k=160,dtype=f32");
    let right = rig.success(code(|asm| multiply(asm, Shape::cube(160))), 0);
    let verification = right.verification.unwrap();
    assert_eq!(verification.method, "freivalds+sampled");
    assert!(verification.miss_probability < 1e-6);
    // A single element: a sample of 200 among 25,600 would hardly meet it.
    let error = rig.failure(
        code(|asm| {
            multiply(asm, Shape::cube(160));
            asm.mov(eax, dword_ptr(rcx + 4 * (77 * 160 + 93))).unwrap();
            asm.xor(eax, 1 << 16).unwrap();
            asm.mov(dword_ptr(rcx + 4 * (77 * 160 + 93)), eax).unwrap();
        }),
        0,
    );
    assert!(is_wrong(&error), "{error}");
}

// U002
fn strays_are_named_by_operand() {
    let mut rig = Rig::scripted(SMALL);
    let strays: [(&str, Vec<u8>); 5] = [
        (
            "0 bytes behind the end of `c`",
            code(|asm| {
                multiply(asm, Shape::cube(16));
                asm.movups(xmmword_ptr(rcx + BYTES), xmm0).unwrap();
            }),
        ),
        (
            "0 bytes behind the end of `a`",
            code(|asm| {
                multiply(asm, Shape::cube(16));
                asm.movups(xmm0, xmmword_ptr(rax + (BYTES - 12))).unwrap();
            }),
        ),
        (
            "16 bytes before `b`",
            code(|asm| {
                multiply(asm, Shape::cube(16));
                asm.movups(xmm0, xmmword_ptr(rdx - 16)).unwrap();
            }),
        ),
        (
            "store to input `a`",
            code(|asm| {
                multiply(asm, Shape::cube(16));
                asm.mov(dword_ptr(rax + 8), 0).unwrap();
            }),
        ),
        (
            "store to input `b`",
            code(|asm| {
                multiply(asm, Shape::cube(16));
                asm.mov(dword_ptr(rdx), 0).unwrap();
            }),
        ),
    ];
    for (place, stray) in strays {
        let error = rig.failure(stray, 0);
        assert!(
            matches!(&error, EvalError::OutOfBounds(text) | EvalError::InputModified(text) if text == place),
            "{error} instead of {place}"
        );
    }
    let behind_workspace = code(|asm| {
        asm.mov(rsi, qword_ptr(rdi + 16)).unwrap();
        asm.mov(dword_ptr(rsi + 1000), 1).unwrap();
        multiply(asm, Shape::cube(16));
    });
    let error = rig.failure(behind_workspace, 1000);
    assert!(matches!(error, EvalError::OutOfBounds(_)), "{error}");
}

fn stores_between_rows_are_found() {
    let mut rig = Rig::scripted("matmul:m=16,n=16,k=16,dtype=f32,ldc=20");
    let shape = Shape { ldc: 20, ..Shape::cube(16) };
    rig.success(code(|asm| multiply(asm, shape)), 0);
    let error = rig.failure(
        code(|asm| {
            multiply(asm, shape);
            asm.mov(dword_ptr(rcx + 4 * (3 * 20 + 17)), 0).unwrap();
        }),
        0,
    );
    assert!(matches!(error, EvalError::OutOfBounds(_)), "{error}");
}

// U015
fn old_values_must_be_used() {
    let mut rig = Rig::scripted("matmul:m=16,n=16,k=16,dtype=f32,accumulate=true");
    let shape = Shape { accumulate: true, ..Shape::cube(16) };
    rig.success(code(|asm| multiply(asm, shape)), 0);
    let error = rig.failure(code(|asm| multiply(asm, Shape::cube(16))), 0);
    assert!(is_wrong(&error), "{error}");
}

// U047, U052, U053, U058, U162
fn crashes_are_told_apart() {
    let mut rig = Rig::scripted(SMALL);
    let undefined = rig.failure(code(|asm| asm.ud2().unwrap()), 0);
    assert_eq!(undefined, EvalError::IllegalInstruction);
    let null = rig.failure(
        code(|asm| {
            asm.xor(r8, r8).unwrap();
            asm.mov(qword_ptr(r8), rax).unwrap();
        }),
        0,
    );
    assert_eq!(null, EvalError::Crashed { signal: libc::SIGSEGV });
    // The handler cannot run on this stack.
    let stack = rig.failure(
        code(|asm| {
            asm.xor(rsp, rsp).unwrap();
            asm.push(rax).unwrap();
        }),
        0,
    );
    assert_eq!(stack, EvalError::Crashed { signal: libc::SIGSEGV });
    let division = rig.failure(
        code(|asm| {
            asm.xor(rdx, rdx).unwrap();
            asm.xor(r8, r8).unwrap();
            asm.div(r8).unwrap();
        }),
        0,
    );
    assert_eq!(division, EvalError::Crashed { signal: libc::SIGFPE });
    let breakpoint = rig.failure(code(|asm| asm.int3().unwrap()), 0);
    assert_eq!(breakpoint, EvalError::Crashed { signal: libc::SIGTRAP });
    // exit_group(7)
    let exit = rig.failure(
        code(|asm| {
            asm.mov(eax, 231).unwrap();
            asm.mov(edi, 7).unwrap();
            asm.syscall().unwrap();
        }),
        0,
    );
    assert_eq!(exit, EvalError::Crashed { signal: 0 });
    rig.success(code(|asm| multiply(asm, Shape::cube(16))), 0);
}

// U046, U048, U056, U057
fn endless_loops_are_ended() {
    let mut rig = Rig::scripted(SMALL);
    let endless = code(|asm| {
        let mut again = asm.create_label();
        asm.set_label(&mut again).unwrap();
        asm.pause().unwrap();
        asm.jmp(again).unwrap();
    });
    let error = rig.failure(endless, 0);
    assert!(matches!(error, EvalError::Timeout { .. }), "{error}");
    rig.success(code(|asm| multiply(asm, Shape::cube(16))), 0);
}

// U006, U010
fn work_must_be_done_in_timed_launches_too() {
    let mut rig = Rig::scripted(SMALL);
    let lazy = |launches: i32| {
        code(|asm| {
            stop_after(asm, launches);
            multiply(asm, Shape::cube(16));
        })
    };
    rig.success(lazy(i32::MAX), 64);
    // Enough for the verification: three sets, and repetitions.
    let error = rig.failure(lazy(5), 64);
    assert!(matches!(error, EvalError::StaleOutput(_)), "{error}");
    // Half of the work is done when it is looked at for speed.
    let hasty = code(|asm| {
        stop_after_with(asm, 5, |asm| multiply(asm, Shape { terms: 8, ..Shape::cube(16) }));
        multiply(asm, Shape::cube(16));
    });
    let error = rig.failure(hasty, 64);
    assert!(matches!(error, EvalError::Nondeterministic(_)), "{error}");
}
