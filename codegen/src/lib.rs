//! Tilewright's code generators: a legalised program in, an artifact out; one file per instruction set.
mod artifact;

pub use artifact::{
    Artifact, BARRIER_GENERATION_OFFSET, BarrierState, EntryPoint, KernelArguments, WORKSPACE_ALIGNMENT,
};
