//! Whether a program fits the memory and the code size of a target.

use crate::limits::{Illegal, Limits};
use crate::program::{Operation, Program, Statement};
use crate::workspace::{buffer_bytes, workspace_layout};

/// Checks strict levels, the workspace and the number of unrolled instructions.
pub(super) fn check(program: &Program, limits: &Limits) -> Result<(), Illegal> {
    for level in limits.levels.iter().filter(|level| level.strict) {
        let needed =
            program.buffers.iter().filter(|buffer| buffer.level == level.name).filter_map(buffer_bytes).sum();
        if needed > level.bytes {
            return Err(Illegal::Capacity { level: level.name.clone(), needed, available: level.bytes });
        }
    }
    if let Some(layout) = workspace_layout(program)
        && layout.bytes > limits.workspace_bytes
    {
        return Err(Illegal::Capacity {
            level: "workspace".to_owned(),
            needed: layout.bytes,
            available: limits.workspace_bytes,
        });
    }
    let bodies = program.entries.iter().flat_map(|entry| &entry.phases);
    let needed = bodies.map(|phase| unrolled(phase, limits)).sum::<u64>();
    if needed > u64::from(limits.body_instructions) {
        return Err(Illegal::Body { needed: needed as u32, available: limits.body_instructions });
    }
    Ok(())
}

/// Vector operations that are written out, unrolled loop bodies counted once for each copy.
fn unrolled(body: &[Statement], limits: &Limits) -> u64 {
    body.iter()
        .map(|statement| match statement {
            Statement::Buffer(_) | Statement::Barrier { .. } => 0,
            Statement::Loop(repeated) => u64::from(repeated.unroll) * unrolled(&repeated.body, limits),
            Statement::When { then, otherwise, .. } => unrolled(then, limits) + unrolled(otherwise, limits),
            Statement::Instruction(instruction) => {
                let weight = if matches!(instruction.operation, Operation::Map { .. }) { 8 } else { 1 };
                let lanes = limits.lanes(4).max(1);
                let points = instruction.axes.iter().map(|axis| {
                    if instruction.vector == Some(axis.variable) {
                        axis.extent.div_ceil(lanes)
                    } else {
                        axis.extent
                    }
                });
                weight * points.product::<u64>()
            }
        })
        .sum()
}
