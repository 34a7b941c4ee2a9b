//! The row-wise family: passes over the columns of a row, with values of the row between them.
//!
//! A stage is computed in the first pass in which everything that it reads is known. A value of each column that
//! a later pass reads again is kept in a buffer, or computed again.

mod body;
mod passes;
mod plan;

use crate::builder::ProgramBuilder;
use crate::limits::{Illegal, Limits};
use crate::program::{Count, Program, Tensor};
use crate::row_wise::RowWise;
use crate::schedule::Schedule;

use passes::Passes;
use plan::{Plan, Threads};

/// Resource that CPU loops are dealt to.
const THREAD: &str = "thread";

/// Lowers a computation.
pub(super) fn lower(
    computation: &RowWise,
    name: &str,
    schedule: &Schedule,
    limits: &Limits,
) -> Result<Program, Illegal> {
    let passes = Passes::of(computation);
    let plan = Plan::read(computation, schedule, limits)?;
    let mut builder = ProgramBuilder::new(name);
    let tensors = computation
        .operands
        .iter()
        .map(|operand| {
            builder.tensor(Tensor {
                name: operand.name.clone(),
                data_type: operand.data_type,
                shape: operand.shape.iter().map(|&extent| (extent as i64).into()).collect(),
                strides: operand.strides.clone(),
                role: operand.role,
            })
        })
        .collect();
    if plan.threads != Threads::None {
        builder.resource(THREAD, Count::Fixed(u64::from(limits.workers)));
    }
    Ok(body::build(computation, &passes, &plan, builder, tensors))
}

/// Below so many elements a second thread costs more than it brings.
const SHARED_ELEMENTS: u64 = 1 << 14;

/// Rows to threads where there are enough, four vectors at a time where registers suffice.
pub(super) fn default_schedule(computation: &RowWise, limits: &Limits) -> Schedule {
    let (rows, columns) = (computation.rows(), computation.columns());
    let mut schedule = Schedule::default();
    let workers = u64::from(limits.workers);
    if workers > 1 && rows * columns >= SHARED_ELEMENTS {
        if rows >= workers {
            schedule = schedule.with_name("threads", "rows");
        } else if computation.is_element_wise() {
            schedule = schedule.with_name("threads", "columns");
        }
    }
    let wished = columns.div_ceil(limits.lanes(4).max(1)).min(4);
    let fits = |vectors: &u64| computation.registers_needed(*vectors) <= limits.vector_registers;
    let vectors = [4, 2, 1].into_iter().filter(|&vectors| vectors <= wished).find(fits).unwrap_or(1);
    if vectors > 1 { schedule.with_number("vectors", vectors) } else { schedule }
}
