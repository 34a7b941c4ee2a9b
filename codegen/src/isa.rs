//! What an instruction set offers: one file an instruction set, one line in [`isas`].

use tilewright_ir::{Limits, MemoryLevel, Program};

use crate::artifact::Artifact;
use crate::error::CompileError;
use crate::x86::VectorSet;
use crate::{avx2, avx512};

/// Sizes of the data caches as one core sees them, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheSizes {
    /// First level, of one core.
    pub l1: u64,
    /// Second level, of one core.
    pub l2: u64,
    /// Third level, shared.
    pub l3: u64,
}

/// An instruction set that programs can be compiled to.
pub trait Isa: Sync {
    /// Name in artifacts and fingerprints.
    fn id(&self) -> &'static str;

    /// Whether the processor that runs this has it.
    fn available(&self) -> bool;

    /// Limits of programs for `workers` threads on a processor with these caches.
    fn limits(&self, workers: u32, caches: &CacheSizes) -> Limits;

    /// Compiles a legalised program.
    ///
    /// # Errors
    /// When the program uses a form that has no instructions here, or too many registers.
    fn compile(&self, program: &Program) -> Result<Artifact, CompileError>;
}

/// Every instruction set, the one for most processors first.
pub fn isas() -> &'static [&'static dyn Isa] {
    &[&avx2::Avx2, &avx512::Avx512]
}

/// The instruction set of this name.
pub fn isa(id: &str) -> Option<&'static dyn Isa> {
    isas().iter().copied().find(|isa| isa.id() == id)
}

/// Most bytes of scratch memory of a CPU kernel.
const WORKSPACE_BYTES: u64 = 1 << 30;
/// Most vector instructions of a CPU kernel: code of at most some 100 kB, and generated in a fraction of a
/// millisecond.
const BODY_INSTRUCTIONS: u32 = 12_000;

/// Limits of a CPU with such vector registers.
pub(crate) fn cpu_limits(set: &VectorSet, workers: u32, caches: &CacheSizes) -> Limits {
    let level = |name: &str, bytes, owner: Option<&str>, strict| MemoryLevel {
        name: name.to_owned(),
        bytes,
        owner: owner.map(str::to_owned),
        strict,
    };
    Limits {
        target: set.id.to_owned(),
        vector_bytes: set.bytes as u64,
        vector_registers: set.registers,
        memory_broadcast: set.embedded_broadcast,
        workers,
        levels: vec![
            level("L1", caches.l1, Some("thread"), false),
            level("L2", caches.l2, Some("thread"), false),
            level("L3", caches.l3, None, false),
            level("memory", u64::MAX, None, false),
        ],
        workspace_bytes: WORKSPACE_BYTES,
        body_instructions: BODY_INSTRUCTIONS,
    }
}
