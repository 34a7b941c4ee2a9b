//! One register tile: its accumulators, the reduction, the epilogue, the store.

use super::nest::{Nest, Range, THREAD};
use super::pack::operand_access;
use super::plan::{K, M, N, PrefetchOutput, Vector};
use crate::affine::{Affine, Constraint, Index, Variable};
use crate::computation::ACCUMULATED;
use crate::expression::{Binary, Expression};
use crate::program::{
    Access, Axis, Buffer, BufferId, Combine, Dimension, Instruction, Loop, Operation, Prefetch, Rest,
    Statement, Target, TensorId,
};
use crate::workspace::REGISTER_LEVEL;

/// The statements inside the register-tile loops.
pub(super) fn register_tile(nest: &mut Nest<'_>) -> Vec<Statement> {
    match nest.plan.vector {
        Vector::Columns => columns_tile(nest),
        Vector::Reduction => reduction_tile(nest),
        Vector::Rows => rows_tile(nest),
    }
}

/// Axes of a tile of rows and columns, with the accesses that they index.
pub(super) struct TileAxes {
    pub(super) row: Variable,
    pub(super) column: Variable,
}

impl TileAxes {
    pub(super) fn new(nest: &mut Nest<'_>) -> Self {
        Self { row: nest.builder.variable("i"), column: nest.builder.variable("j") }
    }

    /// Axes that end where the output ends.
    pub(super) fn clipped(&self, nest: &Nest<'_>) -> [Axis; 2] {
        [(self.row, M), (self.column, N)].map(|(variable, axis)| Axis {
            variable,
            extent: nest.ranges[axis].full,
            limit: nest.limits(axis, &nest.ranges[axis].start),
        })
    }

    /// Axes of a factor or accumulator: clipped where the rest is not padded.
    fn padded(&self, nest: &Nest<'_>) -> [Axis; 2] {
        let [mut rows, mut columns] = self.clipped(nest);
        for (axis, of) in [(&mut rows, M), (&mut columns, N)] {
            if nest.plan.rest[of] == Rest::Pad {
                axis.limit.clear();
            }
        }
        [rows, columns]
    }

    pub(super) fn output_position(&self, nest: &Nest<'_>) -> [Affine; 2] {
        [(M, self.row), (N, self.column)].map(|(axis, variable)| nest.ranges[axis].start.clone() + variable)
    }

    /// The element of the output, or of this slice's partial sums.
    pub(super) fn output(&self, nest: &Nest<'_>) -> Access {
        let [row, column] = self.output_position(nest);
        if let Some((buffer, slice)) = nest.partial {
            return Access::new(buffer, [Affine::from(slice), row, column]);
        }
        let position = nest.contraction.output;
        let indices = &nest.contraction.operands[position].indices;
        let indices = indices.iter().map(|index| place(index, &row, &column));
        Access::new(nest.tensors[position], indices.collect::<Vec<_>>())
    }

    pub(super) fn accumulator(&self, buffer: BufferId) -> Access {
        Access::new(buffer, [self.row, self.column])
    }
}

/// Puts positions in the place of the axes of a computation.
fn place(index: &Affine, row: &Affine, column: &Affine) -> Affine {
    row.clone() * index.coefficient(Variable(M as u32))
        + column.clone() * index.coefficient(Variable(N as u32))
        + index.constant()
}

/// The epilogue over a tile whose sums lie in `accumulated`.
fn epilogue(
    nest: &Nest<'_>,
    expression: &Expression,
    accumulated: &Access,
    [row, column]: &[Affine; 2],
) -> Expression {
    let again =
        |inner: &Expression| Box::new(epilogue(nest, inner, accumulated, &[row.clone(), column.clone()]));
    match expression {
        Expression::Load(access) if access.target == ACCUMULATED => Expression::Load(accumulated.clone()),
        Expression::Load(Access { target: Target::Tensor(TensorId(position)), indices }) => {
            let indices = indices.iter().map(|index| Index::from(place(&index.affine, row, column)));
            Access::new(nest.tensors[*position as usize], indices.collect::<Vec<_>>()).load()
        }
        Expression::Unary(function, value) => Expression::Unary(*function, again(value)),
        Expression::Binary(function, first, second) => {
            Expression::Binary(*function, again(first), again(second))
        }
        other => other.clone(),
    }
}

/// Adds the epilogue, under the condition that the reduction is complete.
pub(super) fn finish(nest: &Nest<'_>, axes: &TileAxes, accumulated: &Access) -> Option<Instruction> {
    let expression = nest.contraction.epilogue.as_ref()?;
    let value = epilogue(nest, expression, accumulated, &axes.output_position(nest));
    Some(Instruction::map(axes.clipped(nest), accumulated.clone(), value).vector(axes.column))
}

pub(super) fn register_buffer(nest: &Nest<'_>, name: &str, shape: &[u64]) -> Buffer {
    let shape = shape.iter().map(|&extent| extent as i64);
    let buffer = Buffer::new(name, nest.contraction.accumulator, shape, REGISTER_LEVEL);
    if nest.plan.workers > 1 { buffer.owned_by(THREAD) } else { buffer }
}

/// Whether the reduction comes in several tiles, so that sums pass through the output between them.
fn tiled_reduction(nest: &Nest<'_>) -> bool {
    nest.plan.tile[K] < nest.plan.extents[K]
}

/// `then` on the first tile of the reduction, `otherwise` on later ones.
fn when_first(nest: &Nest<'_>, then: Vec<Statement>, otherwise: Vec<Statement>) -> Vec<Statement> {
    if !tiled_reduction(nest) {
        return then;
    }
    let first = match nest.partial {
        Some((_, slice)) => Affine::from(slice) * nest.plan.slice() as i64,
        None => Affine::from(0),
    };
    vec![Statement::when([Constraint::at_most(nest.ranges[K].start.clone(), first)], then, otherwise)]
}

/// `then` on the last tile of the reduction.
fn when_last(nest: &Nest<'_>, then: Vec<Statement>) -> Vec<Statement> {
    if !tiled_reduction(nest) || then.is_empty() {
        return then;
    }
    let end = nest.ranges[K].start.clone() + nest.plan.tile[K] as i64;
    let extent = Affine::from(nest.plan.extents[K] as i64);
    vec![Statement::when([Constraint::at_most(extent, end)], then, Vec::new())]
}

/// Lanes run along the columns: the sums stay in registers from beginning to end.
///
/// What the output holds already is added at the end, not loaded first: nothing waits for it then, and its
/// loads do not meet the stores of the tile before.
fn columns_tile(nest: &mut Nest<'_>) -> Vec<Statement> {
    let axes = TileAxes::new(nest);
    let buffer = register_buffer(nest, "acc", &[nest.ranges[M].full, nest.ranges[N].full]);
    let buffer = nest.builder.buffer(buffer);
    let sums = axes.accumulator(buffer);
    let clear = Instruction::fill(axes.padded(nest), sums.clone(), 0.0).vector(axes.column);
    let mut body = vec![buffer.into()];
    body.extend(hint_before(nest, &axes));
    body.push(clear.into());
    body.extend(reduction(nest, &axes, buffer));
    body.extend(complete(nest, &axes, &sums));
    body
}

/// The hint that so many rows of the output's tile, from the `first` on, are written when the reduction is done.
fn hint(nest: &Nest<'_>, axes: &TileAxes, first: &Affine, rows: u64) -> Statement {
    let [mut among, columns] = axes.clipped(nest);
    among.extent = rows;
    among.limit = nest.limits(M, &(nest.ranges[M].start.clone() + first.clone()));
    let mut place = axes.output(nest);
    for index in &mut place.indices {
        *index = index.substitute(axes.row, &(first.clone() + axes.row));
    }
    Instruction::prefetch_to_write([among, columns], place).vector(axes.column).into()
}

/// The hint for the whole tile, where it is given before the reduction.
fn hint_before(nest: &Nest<'_>, axes: &TileAxes) -> Option<Statement> {
    let before = nest.plan.prefetch_output == PrefetchOutput::Before;
    before.then(|| hint(nest, axes, &0.into(), nest.ranges[M].full))
}

/// The whole reduction of a register tile, cut into parts where the output's rows are asked for in its course.
fn reduction(nest: &mut Nest<'_>, axes: &TileAxes, accumulator: BufferId) -> Vec<Statement> {
    let during = nest.plan.prefetch_output == PrefetchOutput::During;
    let Some(parts) = nest.plan.parts().filter(|_| during) else {
        return vec![reduction_loop(nest, axes, accumulator)];
    };
    let [rows, steps, last] = [parts.rows, parts.steps, parts.count - 1].map(|number| number as i64);
    let hint = |nest: &Nest<'_>, part: Affine| hint(nest, axes, &(part * rows), parts.rows);
    let part = nest.builder.variable("q");
    let outer = nest.ranges[K].clone();
    let from = |part: Affine| outer.start.clone() + part * steps;
    let mut stops = outer.stops.clone();
    stops.push(from(part + 1));
    nest.ranges[K] = Range { start: from(part.into()), stops, full: parts.steps };
    let body = vec![hint(nest, part.into()), reduction_loop(nest, axes, accumulator)];
    nest.ranges[K] = Range { start: from(last.into()), ..outer.clone() };
    let rest = [hint(nest, last.into()), reduction_loop(nest, axes, accumulator)];
    nest.ranges[K] = outer;
    let stop = [Index::from(last)].into_iter().collect();
    let dimension = Dimension { variable: part, start: Index::from(0), stop, step: 1, rest: Rest::Peel };
    [Nest::sequential(dimension, body)].into_iter().chain(rest).collect()
}

/// Adds what the output holds, applies the epilogue and stores.
fn complete(nest: &Nest<'_>, axes: &TileAxes, sums: &Access) -> Vec<Statement> {
    let with_old = sums.clone().load().binary(Binary::Add, axes.output(nest).load());
    let old: Statement =
        Instruction::map(axes.clipped(nest), sums.clone(), with_old).vector(axes.column).into();
    let mut body = if nest.contraction.accumulate && nest.partial.is_none() {
        vec![old]
    } else if tiled_reduction(nest) {
        when_first(nest, Vec::new(), vec![old])
    } else {
        Vec::new()
    };
    if nest.partial.is_none() {
        body.extend(when_last(nest, finish(nest, axes, sums).map(Statement::from).into_iter().collect()));
    }
    let store = Instruction::copy(axes.clipped(nest), axes.output(nest), sums.clone()).vector(axes.column);
    body.push(store.into());
    body
}

/// Lanes run along the reduction: sums over lanes at the end.
fn reduction_tile(nest: &mut Nest<'_>) -> Vec<Statement> {
    let axes = TileAxes::new(nest);
    let [rows, columns, lanes] = [nest.ranges[M].full, nest.ranges[N].full, nest.plan.register[K]];
    let buffer = register_buffer(nest, "acc", &[rows, columns, lanes]);
    let buffer = nest.builder.buffer(buffer);
    let mut sums = register_buffer(nest, "sum", &[rows, columns]);
    "L1".clone_into(&mut sums.level);
    let sums = nest.builder.buffer(sums);
    let lane = nest.builder.variable("l");
    let total = axes.accumulator(sums);
    let with_lane = |axes: [Axis; 2]| axes.into_iter().chain([Axis::new(lane, lanes)]);
    let element = Access::new(buffer, [axes.row, axes.column, lane]);
    let clear = Instruction::fill(with_lane(axes.padded(nest)), element.clone(), 0.0).vector(lane);
    let add = Instruction::reduce(with_lane(axes.clipped(nest)), total.clone(), Combine::Sum, element.load());
    let mut body = vec![buffer.into(), sums.into()];
    body.extend(hint_before(nest, &axes));
    body.push(clear.into());
    body.extend(reduction(nest, &axes, buffer));
    body.push(add.vector(lane).into());
    body.extend(complete(nest, &axes, &total));
    body
}

/// Lanes run along the rows: the sums go through memory, where the output's rows find them.
fn rows_tile(nest: &mut Nest<'_>) -> Vec<Statement> {
    let axes = TileAxes::new(nest);
    let shape = [nest.ranges[N].full, nest.ranges[M].full];
    let buffer = register_buffer(nest, "acc", &shape);
    let buffer = nest.builder.buffer(buffer);
    let mut sums = register_buffer(nest, "sum", &shape);
    "L1".clone_into(&mut sums.level);
    let sums = nest.builder.buffer(sums);
    let turned = |[rows, columns]: [Axis; 2]| [columns, rows];
    let [element, total] = [buffer, sums].map(|buffer| Access::new(buffer, [axes.column, axes.row]));
    let clear = Instruction::fill(turned(axes.padded(nest)), element.clone(), 0.0).vector(axes.row);
    let spill = Instruction::copy(turned(axes.clipped(nest)), total.clone(), element).vector(axes.row);
    let mut body = vec![buffer.into(), sums.into()];
    body.extend(hint_before(nest, &axes));
    body.push(clear.into());
    body.extend(reduction(nest, &axes, buffer));
    body.push(spill.into());
    body.extend(complete(nest, &axes, &total));
    body
}

/// The innermost loop: one step of the reduction for the whole register tile.
fn reduction_loop(nest: &mut Nest<'_>, axes: &TileAxes, accumulator: BufferId) -> Statement {
    let plan = nest.plan;
    let lanes = plan.register[K];
    let (dimension, outer) = nest.split(K, "p", lanes);
    let lane = (plan.vector == Vector::Reduction).then(|| nest.builder.variable("l"));
    let [row, column] = axes.output_position(nest);
    let mut step = Affine::from(dimension.variable);
    let mut contract_axes: Vec<Axis> = axes.padded(nest).to_vec();
    let mut indices = vec![axes.row, axes.column];
    if let Some(lane) = lane {
        let limit = if plan.rest[K] == Rest::Pad { Vec::new() } else { nest.limits(K, &step) };
        step = step + lane;
        contract_axes.push(Axis { variable: lane, extent: lanes, limit });
        indices.push(lane);
    }
    let factor = |side: usize, other: &Affine| match &nest.packed[side] {
        Some(packed) => packed.access(plan, side, other.clone(), step.clone()),
        None => operand_access(nest, side, other, &step),
    };
    let (a, b) = (factor(M, &row), factor(N, &column));
    let prefetch = [&a, &b]
        .into_iter()
        .zip(plan.prefetch)
        .filter(|&(_, distance)| distance > 0)
        .map(|(access, distance)| Prefetch { target: access.target, distance })
        .collect();
    let (mut factors, mut vector) = ([a, b], lane.unwrap_or(axes.column));
    if plan.vector == Vector::Rows {
        contract_axes.reverse();
        indices.reverse();
        factors.reverse();
        vector = axes.row;
    }
    let [a, b] = factors;
    let accumulator = Access::new(accumulator, indices);
    let operation = Operation::Contract { accumulator, a, b, broadcast: plan.broadcast };
    let contract = Instruction::new(contract_axes, operation).vector(vector);
    nest.ranges[K] = outer;
    let mut repeated = Loop::new([dimension]).unrolled(plan.unroll).with_body([contract]);
    repeated.prefetch = prefetch;
    repeated.into()
}
