//! Runs generated code in this process: write-xor-execute pages, operands between guard pages.
#![allow(dead_code, reason = "every test crate uses its own part")]

use std::ffi::c_void;
use std::ptr;

use rand::{Rng, RngExt};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use tilewright_codegen::{Artifact, BarrierState, CacheSizes, KernelArguments};
use tilewright_ir::computation::Computation;
use tilewright_ir::program::Role;
use tilewright_ir::{Limits, Program, Schedule, TensorLayout, TensorView, Workload, legalise, lower};

const PAGE: usize = 4096;

/// Caches of the reference machine.
pub(crate) const CACHES: CacheSizes = CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20 };

/// Pages from the system.
struct Mapping {
    start: *mut c_void,
    bytes: usize,
}

impl Mapping {
    fn new(bytes: usize) -> Self {
        let bytes = bytes.next_multiple_of(PAGE).max(PAGE);
        // SAFETY: a fresh anonymous mapping at an address of the system's choice touches nothing of ours.
        let start = unsafe {
            mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        Self { start: start.expect("memory"), bytes }
    }

    fn protect(&self, from: usize, bytes: usize, flags: MprotectFlags) {
        // SAFETY: the range lies inside this mapping, of which no reference is alive.
        unsafe { mprotect(self.start.byte_add(from), bytes, flags) }.expect("protection");
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing refers to it any more.
        unsafe { munmap(self.start, self.bytes) }.expect("unmapping");
    }
}

/// Memory with an inaccessible page on both sides.
pub(crate) struct Guarded {
    mapping: Mapping,
    offset: usize,
    len: usize,
}

/// Side of a guarded block that touches the guard page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    Start,
    End,
}

impl Guarded {
    /// Room for `len` f32 elements.
    pub(crate) fn new(len: usize, touch: Touch) -> Self {
        let inner = (len * 4).next_multiple_of(PAGE).max(PAGE);
        let mapping = Mapping::new(inner + 2 * PAGE);
        mapping.protect(0, PAGE, MprotectFlags::empty());
        mapping.protect(PAGE + inner, PAGE, MprotectFlags::empty());
        let offset = if touch == Touch::Start { PAGE } else { PAGE + inner - len * 4 };
        Self { mapping, offset, len }
    }

    pub(crate) fn pointer(&self) -> *mut u8 {
        // SAFETY: the offset lies inside the mapping.
        unsafe { self.mapping.start.byte_add(self.offset).cast() }
    }

    pub(crate) fn elements(&self) -> &[f32] {
        // SAFETY: `len` elements from here are mapped, aligned to 4 bytes, and initialised by the system.
        unsafe { std::slice::from_raw_parts(self.pointer().cast(), self.len) }
    }

    pub(crate) fn elements_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.pointer().cast(), self.len) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the same memory as `elements`.
        unsafe { std::slice::from_raw_parts(self.pointer(), self.len * 4) }
    }
}

/// Executable code of an artifact with its workspace.
pub(crate) struct Kernel {
    code: Mapping,
    entry: usize,
    workers: u64,
    workspace: Guarded,
    barrier: BarrierState,
}

impl Kernel {
    pub(crate) fn new(artifact: &Artifact) -> Self {
        let code = Mapping::new(artifact.code.len());
        // SAFETY: the mapping is at least as long as the code and writable.
        unsafe { ptr::copy_nonoverlapping(artifact.code.as_ptr(), code.start.cast(), artifact.code.len()) };
        code.protect(0, code.bytes, MprotectFlags::READ | MprotectFlags::EXEC);
        let mut workspace = Guarded::new(artifact.workspace_bytes as usize / 4, Touch::Start);
        workspace.elements_mut().fill(f32::NAN);
        Self {
            code,
            entry: artifact.entry("run").expect("an entry") as usize,
            workers: u64::from(artifact.workers),
            workspace,
            barrier: BarrierState::default(),
        }
    }

    /// One launch.
    pub(crate) fn launch(&self, operands: &[*mut u8]) {
        // SAFETY: the entry offset lies in the code, which follows the launch contract.
        let entry: unsafe extern "sysv64" fn(*const KernelArguments) =
            unsafe { std::mem::transmute(self.code.start.byte_add(self.entry)) };
        let arguments = |worker| KernelArguments {
            operands: operands.as_ptr(),
            extents: ptr::null(),
            workspace: self.workspace.pointer(),
            worker,
            workers: self.workers,
            barrier: ptr::from_ref(&self.barrier).cast_mut(),
        };
        if self.workers == 1 {
            // SAFETY: operands and workspace are as large as the program says.
            unsafe { entry(&arguments(0)) };
            return;
        }
        struct Shared(KernelArguments);
        // SAFETY: the pointers stay valid for the scope below; workers synchronise by the barrier.
        unsafe impl Send for Shared {}
        std::thread::scope(|scope| {
            for worker in 0..self.workers {
                let shared = Shared(arguments(worker));
                scope.spawn(move || {
                    let shared = shared;
                    // SAFETY: as above.
                    unsafe { entry(&raw const shared.0) };
                });
            }
        });
    }
}

/// The program of a schedule.
pub(crate) fn program(workload: &Workload, schedule: &Schedule, limits: &Limits) -> Result<Program, String> {
    let program = lower(workload, schedule, limits).map_err(|error| error.to_string())?;
    legalise(&program, limits).map_err(|error| error.to_string())
}

/// A schedule from `name=value` pairs.
pub(crate) fn schedule(text: &str) -> Schedule {
    text.split_whitespace().fold(Schedule::default(), |schedule, pair| {
        let (name, value) = pair.split_once('=').expect("name=value");
        match value.parse() {
            Ok(number) => schedule.with_number(name, number),
            Err(_) => schedule.with_name(name, value),
        }
    })
}

/// What lies between rows of an operand; must never be touched.
const SENTINEL: f32 = 12345.678;

/// Runs an artifact on random operands between guard pages, and compares with the operator's reference.
pub(crate) fn check(
    workload: &Workload,
    artifact: &Artifact,
    rng: &mut impl Rng,
    touch: Touch,
) -> Result<(), String> {
    let operator = workload.operator();
    let computation = operator.describe(workload.parameters()).expect("a checked workload");
    let mut layouts: Vec<TensorLayout> = Vec::new();
    let mut memory = Vec::new();
    // Now and then values at the edges of arithmetic are among them, where products are the same in every order; what
    // rows make of them depends on what overflows on the way.
    let defined = matches!(computation, Computation::Contraction(_));
    let edges = rng.random_range(0..3) == 0 && defined;
    let mut value = || match if edges { rng.random_range(0..400) } else { 400 } {
        0 => f32::NAN,
        1 => f32::INFINITY,
        2 => f32::NEG_INFINITY,
        3..20 => 0.0,
        20..40 => 1e-40,
        _ => rng.random_range(-1.0..1.0),
    };
    for operand in computation.operands() {
        let layout = operand.layout();
        let mut block = Guarded::new(layout.span() as usize, touch);
        block.elements_mut().fill(SENTINEL);
        for flat in 0..layout.elements() {
            let at = layout.offset(&layout.unravel(flat));
            // An output may hold anything before.
            block.elements_mut()[at] = if operand.role == Role::Output { f32::NAN } else { value() };
        }
        layouts.push(layout);
        memory.push(block);
    }
    let before: Vec<Vec<f32>> = memory.iter().map(|block| block.elements().to_vec()).collect();
    let old: Vec<Vec<u8>> = memory.iter().map(|block| block.bytes().to_vec()).collect();
    let kernel = Kernel::new(artifact);
    let pointers: Vec<*mut u8> = memory.iter().map(Guarded::pointer).collect();
    for round in 0..2 {
        if round == 1 && computation.operands().iter().any(|operand| operand.role == Role::InputOutput) {
            break;
        }
        kernel.launch(&pointers);
    }
    let views: Vec<TensorView<'_>> =
        layouts.iter().zip(&old).map(|(layout, bytes)| TensorView { layout, bytes }).collect();
    let tolerance = operator.tolerance(workload.parameters());
    for ((operand, block), (layout, before)) in
        computation.operands().iter().zip(&memory).zip(layouts.iter().zip(&before))
    {
        let mut expected = before.clone();
        if operand.role != Role::Input {
            for flat in 0..layout.elements() {
                let at = layout.unravel(flat);
                let reference = operator.reference(workload.parameters(), &views, &at);
                let found = block.elements()[layout.offset(&at)];
                if !tolerance.accepts(f64::from(found), reference) {
                    return Err(format!("{}{at:?} is {found}, expected {}", operand.name, reference.value));
                }
                expected[layout.offset(&at)] = found;
            }
        }
        let same = |(x, y): (&f32, &f32)| x.to_bits() == y.to_bits();
        if let Some(at) = block.elements().iter().zip(&expected).position(|pair| !same(pair)) {
            return Err(format!("{} was written at element {at}, outside the output", operand.name));
        }
    }
    Ok(())
}
