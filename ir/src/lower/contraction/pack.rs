//! Packed copies of the factors.

use super::nest::{Nest, THREAD};
use super::plan::{AXIS_NAMES, K, M, Plan, Vector};
use crate::affine::{Affine, Variable};
use crate::computation::Operand;
use crate::program::{
    Access, Axis, Buffer, BufferId, Deal, Dimension, Instruction, Layout, Lifetime, Loop, Operation,
    Prefetch, Rest, Statement,
};

/// A packed copy in scope: a buffer with the reduction axis and the operand's other axis.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    buffer: BufferId,
    /// What index 0 of (other axis, reduction axis) stands for.
    origin: [Affine; 2],
}

impl Packed {
    /// The element at absolute positions of the other axis and the reduction.
    pub(super) fn access(&self, plan: &Plan, side: usize, other: Affine, reduction: Affine) -> Access {
        let indices = [other - self.origin[0].clone(), reduction - self.origin[1].clone()];
        Access::new(self.buffer, in_storage_order(plan, side, indices))
    }
}

/// The right factor is kept as [reduction, other] where lanes run along the other axis; everything else as
/// [other, reduction].
fn in_storage_order<T>(plan: &Plan, side: usize, [other, reduction]: [T; 2]) -> [T; 2] {
    if side != M && plan.vector == Vector::Columns { [reduction, other] } else { [other, reduction] }
}

/// Whether copies write zeros where a tile is not full.
fn pads(plan: &Plan, side: usize) -> bool {
    plan.rest[side] == Rest::Pad || plan.rest[K] == Rest::Pad
}

/// Reduction steps that one packing instruction copies.
fn copy_steps(nest: &Nest<'_>) -> u64 {
    let plan = nest.plan;
    if plan.vector == Vector::Reduction { plan.register[K] } else { plan.lanes.min(nest.ranges[K].full) }
}

/// Elements of the other axis that one packing instruction copies: a register tile's, but where the copy turns
/// rows of the reduction into columns only a vector of them, with the reduction as the innermost loop. So few
/// rows are read at a time, each from its beginning to its end, which is what prefetchers and the ways of L1
/// can follow. A padding copy writes whole tiles: strips beyond the last row would pad nothing.
fn copy_width(nest: &Nest<'_>, side: usize) -> u64 {
    let (plan, operand) = (nest.plan, operand(nest, side));
    let turns = plan.vector == Vector::Columns && operand.stride_of(K) == 1 && operand.stride_of(side) != 1;
    let whole = plan.register[side];
    if turns && !pads(plan, side) && whole.is_multiple_of(plan.lanes) { plan.lanes } else { whole }
}

fn buffer(nest: &Nest<'_>, side: usize, level: &str, lifetime: Lifetime) -> Buffer {
    let plan = nest.plan;
    let others = nest.ranges[side].full.next_multiple_of(plan.register[side]);
    // A padding copy writes whole instructions.
    let steps = if pads(plan, side) { copy_steps(nest) } else { plan.register[K] };
    let reductions = nest.ranges[K].full.next_multiple_of(steps);
    let layout = match plan.vector {
        // Lanes run along the reduction: rows of it stay contiguous.
        Vector::Reduction => Layout::RowMajor,
        _ => Layout::Panels { dimension: usize::from(side != M), width: plan.register[side] },
    };
    let name = if side == M { "ap" } else { "bp" };
    let shape = in_storage_order(plan, side, [others, reductions]).map(|extent| extent as i64);
    let buffer =
        Buffer::new(name, operand(nest, side).data_type, shape, level).laid_out(layout).living(lifetime);
    if nest.inside_thread && plan.workers > 1 { buffer.owned_by(THREAD) } else { buffer }
}

fn operand<'a>(nest: &Nest<'a>, side: usize) -> &'a Operand {
    let contraction = nest.contraction;
    &contraction.operands[if side == M { contraction.left } else { contraction.right }]
}

/// The element of an unpacked factor at absolute positions.
pub(super) fn operand_access(nest: &Nest<'_>, side: usize, other: &Affine, reduction: &Affine) -> Access {
    let contraction = nest.contraction;
    let position = if side == M { contraction.left } else { contraction.right };
    let place = |index: &Affine| {
        index
            .substitute(Variable(side as u32), &(Affine::from(PLACE_OTHER)))
            .substitute(Variable(K as u32), &Affine::from(PLACE_REDUCTION))
            .substitute(PLACE_OTHER, other)
            .substitute(PLACE_REDUCTION, reduction)
    };
    let indices: Vec<Affine> = contraction.operands[position].indices.iter().map(place).collect();
    Access::new(nest.tensors[position], indices)
}

/// Stand-ins during renaming: axis numbers and program variables share one number space.
const PLACE_OTHER: Variable = Variable(u32::MAX);
const PLACE_REDUCTION: Variable = Variable(u32::MAX - 1);

/// The loops that fill `into` from the operand over the current ranges.
fn fill(nest: &mut Nest<'_>, side: usize, into: &Packed, rows_dealt: bool) -> Vec<Statement> {
    let plan = nest.plan;
    let name = AXIS_NAMES[side];
    let (panels, outer_rows) = nest.split(side, &format!("{name}p"), plan.register[side]);
    let width = copy_width(nest, side);
    let strips = (width < plan.register[side]).then(|| nest.split(side, &format!("{name}s"), width).0);
    let rows = strips.as_ref().unwrap_or(&panels);
    let steps = copy_steps(nest);
    let (reduction, outer_reduction) = nest.split(K, "kp", steps);
    let (row, step) = (nest.builder.variable(&name.to_string()), nest.builder.variable("k"));
    let axis = |nest: &Nest<'_>, variable, of: usize, extent, dimension: &Dimension| Axis {
        variable,
        extent,
        limit: nest.limits(of, &Affine::from(dimension.variable)),
    };
    let axes = [axis(nest, row, side, width, rows), axis(nest, step, K, steps, &reduction)];
    let (other, at) = (rows.variable + Affine::from(row), reduction.variable + Affine::from(step));
    let source = operand_access(nest, side, &other, &at);
    let hint = Prefetch { target: source.target, distance: plan.prefetch_pack };
    let operation = Operation::Copy {
        destination: into.access(plan, side, other.clone(), at.clone()),
        source,
        pad: pads(plan, side).then(|| 0.0.into()),
    };
    let lanes_along = if plan.vector == Vector::Columns { row } else { step };
    let copy = Instruction::new(axes, operation).vector(lanes_along);
    nest.ranges[K] = outer_reduction;
    nest.ranges[side] = outer_rows;
    // The operand is read in the direction in which it is contiguous, so that few pages are open at a time;
    // unless that would leave threads without work.
    let along = operand(nest, side).stride_of(side) == 1 && operand(nest, side).stride_of(K) != 1;
    let shared = rows_dealt && !nest.inside_thread;
    let enough = !shared || nest.ranges[K].full.div_ceil(steps) >= 2 * u64::from(plan.workers);
    let (outer, inner) = if along && enough { (reduction, panels) } else { (panels, reduction) };
    let mut body = Loop::new([inner]).with_body([copy]);
    body.prefetch.extend(Some(hint).filter(|hint| hint.distance > 0));
    let body = match strips {
        Some(strips) => vec![Nest::sequential(strips, vec![body.into()])],
        None => vec![body.into()],
    };
    if rows_dealt { vec![nest.dealt(outer, Deal::Block, body)] } else { vec![Nest::sequential(outer, body)] }
}

fn packed(nest: &mut Nest<'_>, side: usize, buffer: Buffer) -> Packed {
    let origin = [nest.ranges[side].start.clone(), nest.ranges[K].start.clone()];
    Packed { buffer: nest.builder.buffer(buffer), origin }
}

/// Packs the current cache tile, then does `then` with it.
pub(super) fn tile<'a>(
    nest: &mut Nest<'a>,
    side: usize,
    then: impl FnOnce(&mut Nest<'a>) -> Vec<Statement>,
) -> Vec<Statement> {
    let level = if side == M { "L2" } else { "L3" };
    let buffer = buffer(nest, side, level, Lifetime::Scope);
    let copy = packed(nest, side, buffer);
    let mut body = vec![copy.buffer.into()];
    body.extend(fill(nest, side, &copy, true));
    let shared = !nest.inside_thread;
    if shared {
        body.push(Statement::barrier("device"));
    }
    nest.packed[side] = Some(copy);
    body.extend(then(nest));
    nest.packed[side] = None;
    if shared {
        // The next tile is packed into the same memory.
        body.push(Statement::barrier("device"));
    }
    body
}

/// Packs one register panel inside the outer register loop.
pub(super) fn panel(
    nest: &mut Nest<'_>,
    side: usize,
    then: impl FnOnce(&mut Nest<'_>) -> Vec<Statement>,
) -> Vec<Statement> {
    let buffer = buffer(nest, side, "L1", Lifetime::Scope);
    let copy = packed(nest, side, buffer);
    let mut body = vec![copy.buffer.into()];
    body.extend(fill(nest, side, &copy, false));
    nest.packed[side] = Some(copy);
    body.extend(then(nest));
    nest.packed[side] = None;
    body
}

/// A phase that packs the whole operand.
pub(super) fn whole(nest: &mut Nest<'_>, side: usize) -> Vec<Statement> {
    let buffer = buffer(nest, side, "memory", Lifetime::Workspace);
    let copy = packed(nest, side, buffer);
    let body = fill(nest, side, &copy, true);
    nest.packed[side] = Some(copy);
    body
}
