//! Threaded kernels give the same bits however their threads are placed, paused and repeated, and kernels of several
//! user threads do not meet.
//!
//! That a program has no race at all is for the interpreter to say, which knows of every two accesses what orders them
//! (`ir/tests/lowering.rs`, `ir/tests/examples/planted.rs`).
#![expect(clippy::unwrap_used, reason = "a failed set-up is a failed test")]
#![expect(clippy::print_stdout, reason = "says what is skipped")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};
use tilewright_codegen::{Artifact, BarrierState, CacheSizes, Isa, KernelArguments, isas};
use tilewright_ir::computation::Operand;
use tilewright_ir::{Schedule, TensorView, Workload, legalise, lower};
use tilewright_runtime::{ExecutableCode, Launcher, LoadedKernel, Operands, Pool, usable_processors};

const CACHES: CacheSizes = CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20 };
const WORKLOADS: [&str; 3] = [
    "matmul:m=37,n=53,k=41,dtype=f32",
    "matmul:m=50,n=96,k=64,dtype=f32,layout=tn",
    "matmul:m=29,n=70,k=33,dtype=f32,epilogue=bias+silu",
];

/// A stream of numbers that needs no generator's crate.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// Tiles that cut every axis, dealt to threads along `threads`.
fn schedule(threads: &str) -> Schedule {
    let tiled = Schedule::default()
        .with_number("register.m", 4)
        .with_number("register.n", 16)
        .with_number("tile.m", 12)
        .with_number("tile.n", 32)
        .with_number("tile.k", 16)
        .with_name("pack.a", "tile")
        .with_name("pack.b", "tile");
    if threads == "none" { tiled } else { tiled.with_name("threads", threads) }
}

fn compile(isa: &dyn Isa, workload: &Workload, schedule: &Schedule, workers: u32) -> Option<Artifact> {
    let limits = isa.limits(workers, &CACHES);
    let program = lower(workload, schedule, &limits).and_then(|program| legalise(&program, &limits)).ok()?;
    isa.compile(&program).ok()
}

/// Operands with values of both signs; the output is NaN.
struct Buffers {
    workload: Workload,
    inputs: Vec<Vec<f32>>,
}

impl Buffers {
    fn new(workload: &str, seed: u64) -> Self {
        let workload: Workload = workload.parse().unwrap();
        let computation = workload.operator().describe(workload.parameters()).unwrap();
        let mut numbers = Numbers(seed);
        let mut real = |_| (numbers.next() % 20_001) as f32 / 7e3 - 1.4;
        let lengths = computation.operands().iter().map(|operand| operand.layout().span());
        let inputs = lengths.map(|length| (0..length).map(&mut real).collect()).collect();
        Self { workload, inputs }
    }

    /// The bits that `launch` leaves in the output, at position 2.
    fn output(&self, launch: impl FnOnce(&Operands)) -> Vec<u32> {
        let mut operands = self.inputs.clone();
        operands[2].fill(f32::NAN);
        let tensors = operands.iter_mut().map(|operand| operand.as_mut_ptr().cast()).collect();
        launch(&Operands { tensors, extents: Vec::new() });
        operands[2].iter().map(|value| value.to_bits()).collect()
    }

    fn assert_right(&self, bits: &[u32]) {
        let (operator, parameters) = (self.workload.operator(), self.workload.parameters());
        let computation = operator.describe(parameters).unwrap();
        let layouts: Vec<_> = computation.operands().iter().map(Operand::layout).collect();
        let bytes: Vec<Vec<u8>> = self
            .inputs
            .iter()
            .map(|values| values.iter().flat_map(|value| value.to_ne_bytes()).collect())
            .collect();
        let views: Vec<TensorView<'_>> =
            layouts.iter().zip(&bytes).map(|(layout, bytes)| TensorView { layout, bytes }).collect();
        let tolerance = operator.tolerance(parameters);
        for flat in 0..layouts[2].elements() {
            let at = layouts[2].unravel(flat);
            let found = f32::from_bits(bits[layouts[2].offset(&at)]);
            let reference = operator.reference(parameters, &views, &at);
            assert!(tolerance.accepts(found.into(), reference), "{} at {at:?}: {found}", self.workload);
        }
    }
}

fn on_pool(buffers: &Buffers, pool: &Pool, kernel: &LoadedKernel) -> Vec<u32> {
    // SAFETY: the operands have the sizes of the workload that the kernel was compiled for.
    buffers.output(|operands| unsafe { Launcher::new(pool).run(kernel, operands) }.unwrap())
}

/// One launch by threads that start after pauses of their own, each on a processor drawn for it.
fn with_pauses(buffers: &Buffers, artifact: &Artifact, numbers: &mut Numbers) -> Vec<u32> {
    let code = ExecutableCode::load(artifact).unwrap();
    let entry = code.entry("run").unwrap();
    let mut workspace = vec![f64::NAN; artifact.workspace_bytes as usize / 8 + 16];
    let aligned = workspace.as_mut_ptr().cast::<u8>();
    // SAFETY: there are 128 bytes more than the workspace needs.
    let aligned = unsafe { aligned.add(aligned.align_offset(64)) };
    let barrier = BarrierState::default();
    let processors = usable_processors();
    struct Shared(KernelArguments);
    // SAFETY: all that it points to outlives the scope below, and the kernel's workers keep apart by themselves.
    unsafe impl Send for Shared {}
    buffers.output(|operands| {
        thread::scope(|scope| {
            for worker in 0..u64::from(artifact.workers) {
                let shared = Shared(KernelArguments {
                    operands: operands.tensors.as_ptr(),
                    extents: operands.extents.as_ptr(),
                    workspace: aligned,
                    worker,
                    workers: artifact.workers.into(),
                    barrier: (&raw const barrier).cast_mut(),
                });
                let pause = Duration::from_micros(numbers.next() % 300);
                let processor = processors[numbers.next() as usize % processors.len()];
                scope.spawn(move || {
                    let shared = shared;
                    let mut set = CpuSet::new();
                    set.set(processor);
                    sched_setaffinity(None, &set).unwrap();
                    thread::sleep(pause);
                    // SAFETY: arguments of the launch contract, see above.
                    unsafe { entry(&raw const shared.0) };
                });
            }
        });
    })
}

fn available() -> impl Iterator<Item = &'static dyn Isa> {
    isas().iter().copied().filter(|isa| {
        if !isa.available() {
            println!("skipped: this processor has no {}", isa.id());
        }
        isa.available()
    })
}

/// The order of summation is the program's, not the threads': where only rows and columns are dealt out, any number of
/// threads gives the bits of one; where the reduction is, the same number gives the same bits every time.
// U042, U045
#[test]
fn threads_pauses_and_placements_change_no_bit() {
    let mut numbers = Numbers(1);
    let mut compared = 0;
    for isa in available() {
        for text in WORKLOADS {
            let buffers = Buffers::new(text, 3);
            let alone = compile(isa, &buffers.workload, &schedule("none"), 1).expect("a legal schedule");
            let pool = Pool::new(1).unwrap();
            let alone = on_pool(&buffers, &pool, &LoadedKernel::load(&alone).unwrap());
            buffers.assert_right(&alone);
            drop(pool);
            for threads in ["m.outer", "n.outer", "m.inner", "n.inner", "k"] {
                for workers in 2..=4 {
                    let compiled = compile(isa, &buffers.workload, &schedule(threads), workers);
                    let Some(artifact) = compiled else { continue };
                    let pool = Pool::new(workers as usize).unwrap();
                    let kernel = LoadedKernel::load(&artifact).unwrap();
                    let first = on_pool(&buffers, &pool, &kernel);
                    buffers.assert_right(&first);
                    let wanted = if threads == "k" { &first } else { &alone };
                    let crowded = workers as usize > usable_processors().len();
                    for _ in 0..if crowded { 2 } else { 100 } {
                        assert!(on_pool(&buffers, &pool, &kernel) == *wanted, "{text} {threads} {workers}");
                    }
                    drop(pool);
                    // Threads that share a processor wait for the scheduler at every barrier.
                    for _ in 0..if crowded { 1 } else { 3 } {
                        let found = with_pauses(&buffers, &artifact, &mut numbers);
                        assert!(found == *wanted, "{text} {threads} on {workers} threads with pauses");
                    }
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} threaded kernels compared");
    assert!(compared >= 20 || isas().iter().all(|isa| !isa.available()), "{compared} threaded kernels");
}

/// The same while other threads take the processors away at random.
#[test]
fn a_busy_machine_changes_no_bit() {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 0..3 {
            let stop = &stop;
            scope.spawn(move || {
                let mut numbers = Numbers(seed);
                while !stop.load(Ordering::Relaxed) {
                    (0..numbers.next() % 200_000).for_each(|_| std::hint::spin_loop());
                    thread::sleep(Duration::from_micros(numbers.next() % 400));
                }
            });
        }
        for isa in available() {
            let buffers = Buffers::new(WORKLOADS[1], 5);
            let Some(artifact) = compile(isa, &buffers.workload, &schedule("m.outer"), 2) else { continue };
            let pool = Pool::new(2).unwrap();
            let kernel = LoadedKernel::load(&artifact).unwrap();
            let first = on_pool(&buffers, &pool, &kernel);
            buffers.assert_right(&first);
            for _ in 0..300 {
                assert!(on_pool(&buffers, &pool, &kernel) == first);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// Two user threads launch one artifact at once, each with a pool and a workspace of its own, on different data.
#[test]
fn kernels_of_several_user_threads_share_nothing() {
    for isa in available() {
        for (threads, workers) in [("none", 1), ("m.outer", 2), ("k", 2)] {
            let all: Vec<Buffers> = (0..3).map(|seed| Buffers::new(WORKLOADS[0], 11 + seed)).collect();
            let compiled = compile(isa, &all[0].workload, &schedule(threads), workers);
            let Some(artifact) = compiled else { continue };
            assert!(
                artifact.workspace_bytes > 0,
                "packed tiles need a workspace, or there is nothing to share"
            );
            let wanted: Vec<Vec<u32>> = all
                .iter()
                .map(|buffers| {
                    let pool = Pool::new(workers as usize).unwrap();
                    on_pool(buffers, &pool, &LoadedKernel::load(&artifact).unwrap())
                })
                .collect();
            let together = Barrier::new(all.len());
            thread::scope(|scope| {
                for (buffers, wanted) in all.iter().zip(&wanted) {
                    let (artifact, together) = (&artifact, &together);
                    scope.spawn(move || {
                        let pool = Pool::new(workers as usize).unwrap();
                        let kernel = LoadedKernel::load(artifact).unwrap();
                        together.wait();
                        for _ in 0..if workers == 1 { 300 } else { 20 } {
                            assert!(on_pool(buffers, &pool, &kernel) == *wanted, "{threads}");
                        }
                    });
                }
            });
        }
    }
}
