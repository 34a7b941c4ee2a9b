//! A split reduction: slices with partial sums in workspace, then a phase that adds them.

use super::nest::{Nest, Range, THREAD, cache_loops};
use super::plan::{K, M, N};
use super::tile::{TileAxes, finish, register_buffer};
use crate::affine::{Affine, Index};
use crate::expression::Binary;
use crate::program::{
    Access, Buffer, BufferId, Deal, Dimension, Instruction, Lifetime, Loop, Rest, Statement,
};

/// Column vectors that one step of the summing phase takes.
const VECTORS: u64 = 4;

/// The buffer of partial sums: slice, row, column.
pub(super) fn partial_sums(nest: &mut Nest<'_>) -> BufferId {
    let [m, n] = [M, N].map(|axis| nest.plan.extents[axis] as i64);
    let shape = [nest.plan.split as i64, m, n];
    let partial = Buffer::new("partial", nest.contraction.accumulator, shape, "memory");
    nest.builder.buffer(partial.living(Lifetime::Workspace))
}

/// The phase that computes partial sums, slices dealt to threads.
pub(super) fn slices(nest: &mut Nest<'_>, partial: BufferId) -> Vec<Statement> {
    let plan = nest.plan;
    let k = plan.extents[K] as i64;
    let slice = nest.builder.variable("s");
    let length = plan.slice();
    let start = Affine::from(slice) * length as i64;
    let outer = nest.ranges[K].clone();
    nest.ranges[K] = Range { stops: vec![k.into(), start.clone() + length as i64], start, full: length };
    nest.partial = Some((partial, slice));
    nest.inside_thread = true;
    let body = cache_loops(nest, 0, [false; 3]);
    nest.inside_thread = false;
    nest.partial = None;
    nest.ranges[K] = outer;
    let dimension = Dimension::new(slice, 0, plan.split as i64, 1);
    vec![Loop::new([dimension]).mapped(THREAD, plan.deal).with_body(body).into()]
}

/// The phase that adds the slices and applies the epilogue.
pub(super) fn sum(nest: &mut Nest<'_>, partial: BufferId) -> Vec<Statement> {
    let plan = nest.plan;
    let slice = nest.builder.variable("s");
    let by_rows = plan.extents[M] >= u64::from(plan.workers);
    let whole = nest.ranges.clone();
    let (rows, _) = nest.split(M, "mr", 1);
    let width = (VECTORS * plan.lanes).min(plan.extents[N].next_multiple_of(plan.lanes));
    let (mut columns, _) = nest.split(N, "nr", width);
    columns.rest = Rest::Mask;
    let axes = TileAxes::new(nest);
    let buffer = register_buffer(nest, "acc", &[1, width]);
    let buffer = nest.builder.buffer(buffer);
    let accumulated = axes.accumulator(buffer);
    let part = |of: Affine| {
        let [row, column] = axes.output_position(nest);
        Access::new(partial, [of, row, column])
    };
    let vector = |instruction: Instruction| Statement::from(instruction.vector(axes.column));
    let clipped = || axes.clipped(nest);
    let mut body = vec![buffer.into()];
    body.push(vector(Instruction::copy(clipped(), accumulated.clone(), part(0.into()))));
    let next = accumulated.clone().load().binary(Binary::Add, part(slice.into()).load());
    let add = vector(Instruction::map(clipped(), accumulated.clone(), next));
    let others = Dimension::new(slice, Index::from(1), plan.split as i64, 1);
    body.push(Loop::new([others]).with_body([add]).into());
    if nest.contraction.accumulate {
        let old = accumulated.clone().load().binary(Binary::Add, axes.output(nest).load());
        body.push(vector(Instruction::map(clipped(), accumulated.clone(), old)));
    }
    body.extend(finish(nest, &axes, &accumulated).map(Statement::from));
    body.push(vector(Instruction::copy(clipped(), axes.output(nest), accumulated.clone())));
    nest.ranges = whole;
    let deal = |dimension, dealt: bool, body: Vec<Statement>| -> Statement {
        let repeated = Loop::new([dimension]).with_body(body);
        if dealt { repeated.mapped(THREAD, Deal::Block).into() } else { repeated.into() }
    };
    vec![deal(rows, by_rows, vec![deal(columns, !by_rows, body)])]
}
