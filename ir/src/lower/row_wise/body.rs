//! The loops of the row-wise family.

use std::collections::BTreeMap;

use super::THREAD;
use super::passes::Passes;
use super::plan::{Plan, Threads};
use crate::affine::{Affine, Index, Variable};
use crate::builder::ProgramBuilder;
use crate::data_type::DataType;
use crate::expression::{Binary, Expression};
use crate::program::{
    Access, Axis, Buffer, BufferId, Combine, Deal, Dimension, Instruction, Loop, Program, Statement, Target,
    TensorId,
};
use crate::row_wise::{RowWise, Stage};

/// Builds the program.
pub(super) fn build(
    computation: &RowWise,
    passes: &Passes,
    plan: &Plan,
    mut builder: ProgramBuilder,
    tensors: Vec<TensorId>,
) -> Program {
    let row_axes = computation.axes.len() - 1;
    let rows: Vec<Variable> =
        computation.axes[..row_axes].iter().map(|axis| builder.variable(&axis.name)).collect();
    let lane = builder.variable("lane");
    let mut nest = Nest {
        computation,
        passes,
        plan,
        builder,
        tensors,
        rows: rows.clone(),
        lane,
        range: (0.into(), vec![(computation.columns() as i64).into()]),
        values: BTreeMap::new(),
        scalars: BTreeMap::new(),
        kept: BTreeMap::new(),
    };
    let body = if plan.threads == Threads::Columns {
        let columns = computation.columns();
        let chunk = columns.div_ceil(plan.step()).div_ceil(plan.workers) * plan.step();
        let part = nest.builder.variable("part");
        nest.range = (part.into(), vec![(columns as i64).into(), part + chunk as i64]);
        let body = over_rows(computation, &rows, None, nest.row());
        let parts = Loop::over_range(part, 0, columns as i64, chunk).rest(plan.rest);
        vec![parts.mapped(THREAD, Deal::Block).with_body(body).into()]
    } else {
        let dealt = (plan.threads == Threads::Rows).then_some(plan);
        over_rows(computation, &rows, dealt, nest.row())
    };
    nest.builder.finish_run([body])
}

/// Loops over the axes of rows: the one that is dealt outermost, the first with enough iterations for all workers.
fn over_rows(
    computation: &RowWise,
    rows: &[Variable],
    dealt: Option<&Plan>,
    body: Vec<Statement>,
) -> Vec<Statement> {
    let axes: Vec<(Variable, u64)> =
        rows.iter().zip(&computation.axes).map(|(&row, axis)| (row, axis.extent)).collect();
    let range = |(row, extent): (Variable, u64)| Loop::over_range(row, 0, extent as i64, 1);
    let shared = dealt.and_then(|plan| {
        let enough = axes.iter().find(|axis| axis.1 >= plan.workers);
        enough.or_else(|| axes.iter().max_by_key(|axis| axis.1)).copied()
    });
    let inner = axes.into_iter().filter(|axis| Some(*axis) != shared).rev();
    let body = inner.fold(body, |body, axis| vec![range(axis).with_body(body).into()]);
    match (shared, dealt) {
        (Some(axis), Some(plan)) => {
            vec![range(axis).mapped(THREAD, plan.deal).with_body(body).into()]
        }
        _ => body,
    }
}

struct Nest<'a> {
    computation: &'a RowWise,
    passes: &'a Passes,
    plan: &'a Plan,
    builder: ProgramBuilder,
    tensors: Vec<TensorId>,
    rows: Vec<Variable>,
    lane: Variable,
    /// First column, and where the columns end.
    range: (Affine, Vec<Affine>),
    /// Values of the row in all lanes of a vector, by stage.
    values: BTreeMap<usize, BufferId>,
    /// Values of the row, by stage.
    scalars: BTreeMap<usize, BufferId>,
    /// Values of the columns that later passes read, by stage.
    kept: BTreeMap<usize, BufferId>,
}

/// Where in a row an instruction stands.
#[derive(Clone)]
struct At {
    /// First column of the vector.
    column: Affine,
    /// Values of this vector's columns in registers or still to be computed, by stage.
    known: BTreeMap<usize, Expression>,
}

impl Nest<'_> {
    fn buffer(&mut self, buffer: Buffer) -> BufferId {
        let shared = self.plan.threads != Threads::None;
        self.builder.buffer(if shared { buffer.owned_by(THREAD) } else { buffer })
    }

    fn vector_buffer(&mut self, name: &str) -> BufferId {
        self.buffer(Buffer::new(name, DataType::F32, [self.plan.lanes as i64], "register"))
    }

    /// Everything that is done for one row.
    fn row(&mut self) -> Vec<Statement> {
        let mut body = Vec::new();
        if self.plan.keep {
            for stage in 0..self.computation.stages.len() {
                if self.passes.is_read_later(self.computation, stage) {
                    let columns = self.computation.columns() as i64;
                    let kept = Buffer::new(&format!("kept{stage}"), DataType::F32, [columns], "L1");
                    let kept = self.buffer(kept);
                    self.kept.insert(stage, kept);
                    body.push(kept.into());
                }
            }
        }
        self.row_values(0, &mut body);
        for pass in 0..self.passes.count {
            self.pass(pass, &mut body);
            self.row_values(pass + 1, &mut body);
        }
        body
    }

    /// Values of the row that are known before a pass, reductions of the pass before it left out.
    fn row_values(&mut self, pass: usize, body: &mut Vec<Statement>) {
        let computation = self.computation;
        for (number, stage) in computation.stages.iter().enumerate() {
            if let (Stage::Row(expression), true) = (stage, self.passes.of[number] == pass) {
                let at = At { column: 0.into(), known: BTreeMap::new() };
                let expression = self.rewrite(expression, &at, true);
                let scalar = self.buffer(Buffer::scalar(&format!("v{number}"), DataType::F32, "L1"));
                body.extend([scalar.into(), Instruction::map([], Access::scalar(scalar), expression).into()]);
                self.publish(number, scalar, body);
            }
        }
    }

    /// A value of the row is stored, and spread over a vector where columns read it.
    fn publish(&mut self, number: usize, scalar: BufferId, body: &mut Vec<Statement>) {
        let computation = self.computation;
        self.scalars.insert(number, scalar);
        for store in computation.stores.iter().filter(|store| store.stage == number) {
            let place = self.place(&store.place, &0.into());
            body.push(Instruction::map([], place, Access::scalar(scalar).load()).into());
        }
        let read = computation
            .stages
            .iter()
            .any(|stage| !matches!(stage, Stage::Row(_)) && stage.reads().contains(&number));
        if read {
            let vector = self.vector_buffer(&format!("w{number}"));
            let spread = Instruction::map(
                [Axis::new(self.lane, self.plan.lanes)],
                Access::new(vector, [self.lane]),
                Access::scalar(scalar).load(),
            );
            body.extend([vector.into(), spread.vector(self.lane).into()]);
            self.values.insert(number, vector);
        }
    }

    /// One loop over the columns, and what its reductions combine to.
    fn pass(&mut self, pass: usize, body: &mut Vec<Statement>) {
        let computation = self.computation;
        let stages = computation.stages.iter().enumerate();
        let reductions: Vec<(usize, Combine)> = stages
            .filter_map(|(number, stage)| match stage {
                Stage::Reduction(combine, _) if self.passes.of[number] == pass => Some((number, *combine)),
                _ => None,
            })
            .collect();
        let lanes = || [Axis::new(self.lane, self.plan.lanes)];
        let (lanes, lane) = (lanes(), self.lane);
        let mut partial: BTreeMap<(usize, u64), BufferId> = BTreeMap::new();
        for &(number, combine) in &reductions {
            for vector in 0..self.plan.vectors {
                let buffer = self.vector_buffer(&format!("s{number}"));
                let clear = Instruction::fill(lanes.clone(), Access::new(buffer, [lane]), identity(combine));
                body.extend([buffer.into(), clear.vector(lane).into()]);
                partial.insert((number, vector), buffer);
            }
        }
        let column = self.builder.variable("c");
        let repeated = self.columns(pass, column, &partial);
        let (start, stops) = self.range.clone();
        let mut dimension =
            Dimension::new(column, start, stops[0].clone(), self.plan.step()).rest(self.plan.rest);
        dimension.stop = stops.into_iter().map(Index::from).collect();
        body.push(Loop::new([dimension]).unrolled(self.plan.unroll).with_body(repeated).into());
        for (number, combine) in reductions {
            let first = Access::new(partial[&(number, 0)], [lane]);
            for vector in 1..self.plan.vectors {
                let other = Access::new(partial[&(number, vector)], [lane]).load();
                let both = first.clone().load().binary(function(combine), other);
                body.push(Instruction::map(lanes.clone(), first.clone(), both).vector(lane).into());
            }
            let scalar = self.buffer(Buffer::scalar(&format!("v{number}"), DataType::F32, "L1"));
            let fold = Instruction::reduce(lanes.clone(), Access::scalar(scalar), combine, first.load());
            body.extend([scalar.into(), fold.vector(lane).into()]);
            self.publish(number, scalar, body);
        }
    }

    /// What is done for one iteration over the columns.
    fn columns(
        &mut self,
        pass: usize,
        column: Variable,
        partial: &BTreeMap<(usize, u64), BufferId>,
    ) -> Vec<Statement> {
        let computation = self.computation;
        let uses = self.uses(pass);
        let mut body: Vec<Statement> = Vec::new();
        let mut temporaries = BTreeMap::new();
        for (&number, &times) in &uses {
            if times > 1 {
                let buffer = self.vector_buffer(&format!("t{number}"));
                body.push(buffer.into());
                temporaries.insert(number, buffer);
            }
        }
        let lane = self.lane;
        for vector in 0..self.plan.vectors {
            let mut at = At { column: column + (vector * self.plan.lanes) as i64, known: BTreeMap::new() };
            let limits = self.range.1.iter().map(|stop| Index::from(stop.clone() - at.column.clone()));
            let axis = Axis { variable: lane, extent: self.plan.lanes, limit: limits.collect() };
            let mut emit = |destination: Access, expression: Expression| {
                body.push(Instruction::map([axis.clone()], destination, expression).vector(lane).into());
            };
            for (number, stage) in computation.stages.iter().enumerate() {
                match stage {
                    Stage::Column(expression) if uses.contains_key(&number) => {
                        let mut value = self.rewrite(expression, &at, false);
                        if let Some(&buffer) = temporaries.get(&number) {
                            let place = Access::new(buffer, [lane]);
                            emit(place.clone(), value);
                            value = place.load();
                        }
                        if self.passes.of[number] == pass {
                            if let Some(&kept) = self.kept.get(&number) {
                                emit(Access::new(kept, [at.column.clone() + lane]), value.clone());
                            }
                            for store in computation.stores.iter().filter(|store| store.stage == number) {
                                emit(self.place(&store.place, &(at.column.clone() + lane)), value.clone());
                            }
                        }
                        at.known.insert(number, value);
                    }
                    Stage::Reduction(combine, expression) if self.passes.of[number] == pass => {
                        let sum = Access::new(partial[&(number, vector)], [lane]);
                        let value = self.rewrite(expression, &at, false);
                        emit(sum.clone(), sum.load().binary(function(*combine), value));
                    }
                    _ => {}
                }
            }
        }
        body
    }

    /// Values of each column that a pass computes, and how often each is used in it.
    fn uses(&self, pass: usize) -> BTreeMap<usize, usize> {
        let computation = self.computation;
        let mut uses = BTreeMap::new();
        for (number, stage) in computation.stages.iter().enumerate().rev() {
            let own = self.passes.of[number] == pass;
            match stage {
                Stage::Row(_) => continue,
                Stage::Reduction(..) if !own => continue,
                Stage::Reduction(..) => {}
                Stage::Column(_) => {
                    let written = if own {
                        let stores = computation.stores.iter().filter(|store| store.stage == number).count();
                        stores + usize::from(self.kept.contains_key(&number))
                    } else {
                        0
                    };
                    let times = uses.get(&number).copied().unwrap_or(0) + written;
                    if times == 0 {
                        continue;
                    }
                    uses.insert(number, times);
                }
            }
            stage.expression().loads(&mut |access| {
                if let Target::Buffer(BufferId(read)) = access.target
                    && let read = read as usize
                    && matches!(computation.stages[read], Stage::Column(_))
                    && !(self.kept.contains_key(&read) && self.passes.of[read] < pass)
                {
                    *uses.entry(read).or_insert(0) += 1;
                }
            });
        }
        uses
    }

    /// An expression over loop variables, registers and buffers: of one vector, or of the row.
    fn rewrite(&self, expression: &Expression, at: &At, of_row: bool) -> Expression {
        let column = if of_row { at.column.clone() } else { at.column.clone() + self.lane };
        expression.replace(
            &mut |access| match access.target {
                Target::Tensor(_) => self.place(access, &column).load(),
                Target::Buffer(BufferId(stage)) => {
                    let stage = stage as usize;
                    if of_row {
                        return Access::scalar(self.scalars[&stage]).load();
                    }
                    if let Some(known) = at.known.get(&stage) {
                        return known.clone();
                    }
                    match self.values.get(&stage) {
                        Some(&vector) => Access::new(vector, [self.lane]).load(),
                        None => Access::new(self.kept[&stage], [column.clone()]).load(),
                    }
                }
            },
            &mut |index| self.index(index, &column),
        )
    }

    /// An element of an operand.
    fn place(&self, access: &Access, column: &Affine) -> Access {
        let Target::Tensor(TensorId(operand)) = access.target else {
            unreachable!("invariant: stages read and write operands")
        };
        let indices = access.indices.iter().map(|index| self.index(index, column));
        Access::new(self.tensors[operand as usize], indices)
    }

    /// An index over axes becomes one over loop variables.
    fn index(&self, index: &Index, column: &Affine) -> Index {
        let last = self.rows.len() as u32;
        // Axes are numbered from 0 like the program's own variables: first out of the way, then back.
        let aside = |axis: u32| Variable(u32::MAX - axis);
        let moved = (0..=last)
            .fold(index.clone(), |index, axis| index.substitute(Variable(axis), &Affine::from(aside(axis))));
        let rows = self.rows.iter().zip(0..);
        let moved = rows.fold(moved, |index, (&row, axis)| index.substitute(aside(axis), &row.into()));
        moved.substitute(aside(last), column)
    }
}

/// The combination of nothing.
fn identity(combine: Combine) -> f64 {
    match combine {
        Combine::Sum => 0.0,
        Combine::Product => 1.0,
        Combine::Maximum => f64::NEG_INFINITY,
        Combine::Minimum => f64::INFINITY,
    }
}

/// The function that combines two values.
fn function(combine: Combine) -> Binary {
    match combine {
        Combine::Sum => Binary::Add,
        Combine::Product => Binary::Multiply,
        Combine::Maximum => Binary::Maximum,
        Combine::Minimum => Binary::Minimum,
    }
}
