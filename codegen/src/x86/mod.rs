//! The x86-64 back end: a legalised program to machine code, for any vector length.
//!
//! `prepare` turns the program into a tree whose addresses and numbers are linear in the loop variables;
//! `loops` walks it and keeps each linear value in a register that is advanced with its loop; one file for
//! each kind of tile instruction writes the vector code. Vector instructions are named by a [`VectorSet`], so
//! that an instruction set is a table.

mod assembler;
#[cfg(test)]
mod assembler_tests;
mod barrier;
mod code;
mod contract;
mod copy;
mod emitter;
mod encoder;
#[cfg(test)]
mod encoder_tests;
mod entry;
mod error_function;
mod exponential;
mod form;
mod frame;
mod guard;
mod lanes;
mod logarithm;
mod loops;
mod map;
mod observed;
mod operand;
mod operation;
mod place;
mod points;
mod prefetch;
mod prepare;
mod reduce;
mod registers;
mod transpose;
mod tree;
mod vector;

use tilewright_ir::Program;
use tilewright_ir::workspace::workspace_layout;

pub(crate) use self::vector::{FewLanes, MaskStyle, VectorSet};
use crate::artifact::{Artifact, EntryPoint};
use crate::error::{CompileError, unsupported};

/// Alignment of entry points, bytes.
const ENTRY_ALIGNMENT: usize = 64;

/// Compiles a legalised program for an instruction set.
pub(crate) fn compile(program: &Program, set: &VectorSet) -> Result<Artifact, CompileError> {
    let Some(workspace) = workspace_layout(program) else {
        return unsupported("a buffer of run-time size");
    };
    let shapes = registers::register_shapes(program, set.lanes())?;
    let mut preparer = prepare::Preparer::new(program);
    let mut entries = Vec::with_capacity(program.entries.len());
    for entry in &program.entries {
        let phases = entry.phases.iter().map(|phase| preparer.phase(phase));
        entries.push(phases.collect::<Result<Vec<_>, _>>()?);
    }
    let classes = preparer.classes;
    let workers = program.workers();
    let mut emitter = emitter::Emitter::new(set, &classes, &shapes, workers);
    let mut bodies = Vec::with_capacity(entries.len());
    for phases in &entries {
        emitter.asm.align(ENTRY_ALIGNMENT);
        bodies.push(emitter.asm.here());
        for (at, phase) in phases.iter().enumerate() {
            if at > 0 && workers > 1 {
                emitter.barrier();
            }
            emitter.body(phase)?;
        }
        emitter.leave_entry();
    }
    let mut points = Vec::with_capacity(entries.len());
    for (entry, body) in program.entries.iter().zip(bodies) {
        emitter.asm.align(ENTRY_ALIGNMENT);
        points.push(EntryPoint { name: entry.name.clone(), offset: emitter.asm.position() });
        emitter.enter_at(body, &workspace);
    }
    Ok(Artifact {
        isa: set.id.to_owned(),
        code: emitter.asm.finish()?,
        entries: points,
        workers: workers as u32,
        workspace_bytes: workspace.bytes,
    })
}
