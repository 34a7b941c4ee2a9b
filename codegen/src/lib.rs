//! Tilewright's code generators: a legalised program in, an artifact out; one file per instruction set.
//!
//! [`isas`] lists them; [`Isa::compile`] turns a program into position-independent machine code under the
//! launch contract of [`KernelArguments`]. Nothing here runs code: loading and launching is the runtime's.
#![forbid(unsafe_code)]

mod artifact;
mod avx2;
mod avx512;
mod disassemble;
mod error;
mod isa;
mod x86;

pub use artifact::{
    Artifact, BARRIER_GENERATION_OFFSET, BarrierState, EntryPoint, KernelArguments, WORKSPACE_ALIGNMENT,
};
pub use disassemble::disassemble;
pub use error::CompileError;
pub use isa::{CacheSizes, Isa, isa, isas};
