//! Every worker runs exactly once a launch, whatever sleeps in between, and the barrier holds.

use std::time::Duration;

use iced_x86::code_asm::{CodeAssembler, dword_ptr, eax, qword_ptr, r8, r9, rax, rcx, rdi, rdx, rsi};
use tilewright_codegen::{Artifact, BARRIER_GENERATION_OFFSET};

use super::*;
use crate::testing::artifact;

/// Each worker adds 1 to the counter that its operand points to.
fn counting(workers: u32) -> Artifact {
    let mut asm = CodeAssembler::new(64).unwrap();
    asm.mov(rax, qword_ptr(rdi + 24)).unwrap();
    asm.mov(rdx, qword_ptr(rdi)).unwrap();
    asm.mov(rdx, qword_ptr(rdx + rax * 8)).unwrap();
    asm.add(qword_ptr(rdx), 1).unwrap();
    asm.ret().unwrap();
    artifact(asm.assemble(0).unwrap(), workers, 0)
}

/// The barrier of the contract; the arguments are in `rdi`.
fn emit_barrier(asm: &mut CodeAssembler) {
    let (mut wait, mut done) = (asm.create_label(), asm.create_label());
    asm.mov(rcx, qword_ptr(rdi + 40)).unwrap();
    asm.mov(r8, qword_ptr(rdi + 32)).unwrap();
    asm.mov(eax, dword_ptr(rcx + BARRIER_GENERATION_OFFSET)).unwrap();
    asm.mov(r9, rax).unwrap();
    asm.mov(eax, 1).unwrap();
    asm.lock().xadd(dword_ptr(rcx), eax).unwrap();
    asm.add(rax, 1).unwrap();
    asm.cmp(rax, r8).unwrap();
    asm.jne(wait).unwrap();
    asm.mov(dword_ptr(rcx), 0).unwrap();
    asm.lock().add(dword_ptr(rcx + BARRIER_GENERATION_OFFSET), 1).unwrap();
    asm.jmp(done).unwrap();
    asm.set_label(&mut wait).unwrap();
    asm.pause().unwrap();
    asm.mov(eax, dword_ptr(rcx + BARRIER_GENERATION_OFFSET)).unwrap();
    asm.cmp(rax, r9).unwrap();
    asm.je(wait).unwrap();
    asm.set_label(&mut done).unwrap();
    asm.nop().unwrap();
}

/// Operand 0 holds one number for each worker. `rounds` times (extent 0): each worker adds 1 to its own
/// number; barrier; it adds the sum of all numbers to its element of operand 1; barrier.
fn summing(workers: u32, final_barrier: bool) -> Artifact {
    let mut asm = CodeAssembler::new(64).unwrap();
    let (mut round, mut sum) = (asm.create_label(), asm.create_label());
    asm.mov(rax, qword_ptr(rdi + 8)).unwrap();
    asm.mov(r10(), qword_ptr(rax)).unwrap();
    asm.set_label(&mut round).unwrap();
    asm.mov(rdx, qword_ptr(rdi)).unwrap();
    asm.mov(rsi, qword_ptr(rdx)).unwrap();
    asm.mov(rax, qword_ptr(rdi + 24)).unwrap();
    asm.add(qword_ptr(rsi + rax * 8), 1).unwrap();
    emit_barrier(&mut asm);
    asm.mov(rdx, qword_ptr(rdi)).unwrap();
    asm.mov(rsi, qword_ptr(rdx)).unwrap();
    asm.mov(rdx, qword_ptr(rdx + 8)).unwrap();
    asm.mov(rax, qword_ptr(rdi + 24)).unwrap();
    asm.mov(rcx, qword_ptr(rdi + 32)).unwrap();
    asm.set_label(&mut sum).unwrap();
    asm.mov(r8, qword_ptr(rsi + rcx * 8 - 8)).unwrap();
    asm.add(qword_ptr(rdx + rax * 8), r8).unwrap();
    asm.dec(rcx).unwrap();
    asm.jne(sum).unwrap();
    if final_barrier {
        emit_barrier(&mut asm);
    }
    asm.dec(r10()).unwrap();
    asm.jne(round).unwrap();
    asm.ret().unwrap();
    artifact(asm.assemble(0).unwrap(), workers, 0)
}

fn r10() -> iced_x86::code_asm::AsmRegister64 {
    iced_x86::code_asm::r10
}

/// One counter for each worker, far from the others.
struct Counters(Vec<[u64; 16]>);

impl Counters {
    fn new(workers: usize) -> Self {
        Self(vec![[0; 16]; workers])
    }

    fn operands(&mut self) -> Operands {
        Operands { tensors: self.0.iter_mut().map(|one| one.as_mut_ptr().cast()).collect(), extents: vec![] }
    }

    fn values(&self) -> Vec<u64> {
        self.0.iter().map(|one| one[0]).collect()
    }
}

fn check_rounds(pool: &Pool, workers: u32, rounds: u64, launches: u64) {
    let kernel = LoadedKernel::load(&summing(workers, true)).unwrap();
    let mut numbers = vec![0_u64; workers as usize];
    let mut sums = numbers.clone();
    let tensors = vec![numbers.as_mut_ptr().cast(), sums.as_mut_ptr().cast()];
    let operands = Operands { tensors, extents: vec![rounds as i64] };
    for _ in 0..launches {
        // SAFETY: both operands hold one number for each worker, as the kernel expects.
        unsafe { pool.launch(&kernel, &operands) }.unwrap();
    }
    let total = rounds * launches;
    assert!(numbers.iter().all(|&number| number == total));
    let expected = u64::from(workers) * total * (total + 1) / 2;
    assert!(sums.iter().all(|&sum| sum == expected), "{sums:?} instead of {expected}");
}

#[test]
fn each_worker_runs_exactly_once_a_launch() {
    for threads in [1, 2, 3, 5] {
        let pool = Pool::new(threads).unwrap();
        assert_eq!(pool.threads(), threads);
        let kernel = LoadedKernel::load(&counting(threads as u32)).unwrap();
        let mut counters = Counters::new(threads);
        let operands = counters.operands();
        for _ in 0..10_000 {
            // SAFETY: there is one counter for each worker.
            unsafe { pool.launch(&kernel, &operands) }.unwrap();
        }
        assert_eq!(counters.values(), vec![10_000; threads]);
    }
}

#[test]
fn launches_of_all_widths_interleave_with_sleeping_workers() {
    let threads = 4;
    let pool = Pool::new(threads).unwrap();
    let kernels: Vec<_> = (1..=threads as u32).map(|n| LoadedKernel::load(&counting(n)).unwrap()).collect();
    let mut counters = Counters::new(threads);
    let operands = counters.operands();
    let mut expected = vec![0; threads];
    let mut state = 1_u32;
    for launch in 0..10_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let workers = 1 + (state >> 16) as usize % threads;
        // SAFETY: there is one counter for each worker.
        unsafe { pool.launch(&kernels[workers - 1], &operands) }.unwrap();
        expected[..workers].iter_mut().for_each(|count| *count += 1);
        match launch % 500 {
            // Long enough for workers to fall asleep, and about as long as it takes them.
            7 => thread::sleep(Duration::from_millis(2)),
            8..40 => (0..(state >> 8) % 40_000).for_each(|_| spin_loop()),
            _ => {}
        }
    }
    assert_eq!(counters.values(), expected);
}

#[test]
fn the_barrier_separates_rounds() {
    check_rounds(&Pool::new(1).unwrap(), 1, 50, 10);
    // Where workers share a processor, every barrier waits for the scheduler.
    let crowded = usable_processors().len() < 2;
    check_rounds(&Pool::new(2).unwrap(), 2, 50, if crowded { 1 } else { 200 });
    check_rounds(&Pool::new(4).unwrap(), 3, 5, 4);
}

#[test]
fn pools_of_several_threads_do_not_disturb_each_other() {
    let users: Vec<_> = (0..3)
        .map(|_| {
            thread::spawn(|| {
                for _ in 0..10 {
                    let pool = Pool::new(2).unwrap();
                    let kernel = LoadedKernel::load(&counting(2)).unwrap();
                    let mut counters = Counters::new(2);
                    let operands = counters.operands();
                    for _ in 0..50 {
                        // SAFETY: there is one counter for each worker.
                        unsafe { pool.launch(&kernel, &operands) }.unwrap();
                    }
                    assert_eq!(counters.values(), [50, 50]);
                }
            })
        })
        .collect();
    for user in users {
        user.join().unwrap();
    }
}

#[test]
fn a_barrier_left_open_is_reported_and_put_right() {
    // Only worker 0 arrives, and goes on without waiting.
    let mut asm = CodeAssembler::new(64).unwrap();
    let mut out = asm.create_label();
    asm.cmp(qword_ptr(rdi + 24), 0).unwrap();
    asm.jne(out).unwrap();
    asm.mov(rcx, qword_ptr(rdi + 40)).unwrap();
    asm.lock().add(dword_ptr(rcx), 1).unwrap();
    asm.set_label(&mut out).unwrap();
    asm.ret().unwrap();
    let pool = Pool::new(2).unwrap();
    let faulty = LoadedKernel::load(&artifact(asm.assemble(0).unwrap(), 2, 0)).unwrap();
    // SAFETY: the kernel touches the barrier only.
    let answer = unsafe { pool.launch(&faulty, &Operands::default()) };
    assert!(matches!(answer, Err(RuntimeError::BarrierLeftOpen { arrived: 1 })));
    check_rounds(&pool, 2, 10, 10);
}

#[test]
fn impossible_numbers_of_workers_are_refused() {
    assert!(matches!(Pool::new(0), Err(RuntimeError::Workers { asked: 0, .. })));
    let pool = Pool::new(2).unwrap();
    for workers in [0, 3] {
        let kernel = LoadedKernel::load(&counting(workers)).unwrap();
        // SAFETY: refused before anything runs.
        let answer = unsafe { pool.launch(&kernel, &Operands::default()) };
        assert!(matches!(answer, Err(RuntimeError::Workers { available: 2, .. })));
    }
}
