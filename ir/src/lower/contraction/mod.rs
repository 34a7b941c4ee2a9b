//! The contraction family: tiled sums of products with packing, epilogue, threads and split reduction.
//!
//! The loops, outermost first: slices of the reduction (`threads=k`), cache tiles in the chosen order (each
//! with its thread loop before it), register tiles in the chosen order, the reduction. Packed copies stand
//! right inside the innermost loop that they depend on. Compare Goto & van de Geijn, Anatomy of
//! High-Performance Matrix Multiplication (2008), and BLIS; here order, packing and threads are free.

mod default;
mod nest;
mod pack;
mod plan;
mod split;
mod starts;
mod tile;
mod turn;

use crate::builder::ProgramBuilder;
use crate::computation::Contraction;
use crate::limits::{Illegal, Limits};
use crate::program::{Count, Program, Tensor};
use crate::schedule::Schedule;

pub(crate) use default::default_schedule;
pub(crate) use starts::starting_schedules;

/// Lowers a contraction.
pub(super) fn lower(
    contraction: &Contraction,
    name: &str,
    schedule: &Schedule,
    limits: &Limits,
) -> Result<Program, Illegal> {
    let plan = plan::Plan::read(contraction, schedule, limits)?;
    let halves = turn::Halves::of(&plan, contraction, limits)?;
    let mut builder = ProgramBuilder::new(name);
    let tensors = contraction
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
    if plan.workers > 1 {
        builder.resource(nest::THREAD, Count::Fixed(u64::from(plan.workers)));
    }
    Ok(nest::build(contraction, &plan, halves.as_ref(), builder, tensors))
}
