//! What a code generator hands over: bytes, entry points, and the memory contract of a launch.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes of workspace alignment that every launch guarantees (one page).
pub const WORKSPACE_ALIGNMENT: usize = 4096;

/// The single argument of every kernel entry, passed by pointer (System V: in `rdi`).
///
/// The entry is `unsafe extern "sysv64" fn(*const KernelArguments)`, called once by each worker of the
/// launch at the same time, each with its own `worker` number and otherwise equal fields. It keeps all
/// callee-saved registers and leaves the floating-point control state as it found it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KernelArguments {
    /// One pointer for each tensor of the program, in the program's order.
    pub operands: *const *mut u8,
    /// Run-time extents, in the program's order; may be null when there are none.
    pub extents: *const i64,
    /// Scratch memory of [`Artifact::workspace_bytes`], aligned to [`WORKSPACE_ALIGNMENT`], shared by all workers.
    pub workspace: *mut u8,
    /// This worker's number, `0..workers`.
    pub worker: u64,
    /// Number of workers of this launch; must equal [`Artifact::workers`].
    pub workers: u64,
    /// Barrier shared by the workers; may be null when `workers == 1`.
    pub barrier: *mut BarrierState,
}

/// Memory of the barrier that generated code waits on.
///
/// Arriving: `arrived.fetch_add(1)`; the last of `workers` stores 0 to `arrived` and then adds 1 to
/// `generation`; the others spin (with `pause`) until `generation` changes. Both counters start at any
/// value of `generation` and `arrived == 0`, and may be reused by any number of launches.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct BarrierState {
    /// Workers that have arrived in this generation.
    pub arrived: std::sync::atomic::AtomicU32,
    padding: [u32; 15],
    /// Counts completed barriers.
    pub generation: std::sync::atomic::AtomicU32,
    padding_end: [u32; 15],
}

/// Byte offset of [`BarrierState::generation`].
pub const BARRIER_GENERATION_OFFSET: usize = 64;

/// A named place where a launch enters the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryPoint {
    /// Name in the program, `run` for the main one.
    pub name: String,
    /// Offset in [`Artifact::code`], bytes.
    pub offset: u64,
}

/// Position-independent machine code of one program, with all that a launch needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Identifier of the instruction set it needs, as in the list of ISAs.
    pub isa: String,
    /// Code and read-only constants; executable once mapped, at any 64-byte aligned address.
    pub code: Vec<u8>,
    /// Where to enter.
    pub entries: Vec<EntryPoint>,
    /// Number of workers that every launch must have.
    pub workers: u32,
    /// Bytes of shared scratch memory that a launch needs.
    pub workspace_bytes: u64,
}

impl Artifact {
    /// SHA-256 of the code bytes, in lower-case hexadecimal.
    pub fn sha256(&self) -> String {
        let mut text = String::with_capacity(64);
        for byte in Sha256::digest(&self.code) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// Offset of the entry of this name.
    pub fn entry(&self, name: &str) -> Option<u64> {
        self.entries.iter().find(|entry| entry.name == name).map(|entry| entry.offset)
    }
}
