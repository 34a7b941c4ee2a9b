//! The loops around a register tile.

use super::pack::Packed;
use super::plan::{AXIS_NAMES, K, M, N, Pack, Plan, Threads};
use super::turn::Halves;
use super::{pack, split, tile, turn};
use crate::affine::{Affine, Index, Variable};
use crate::builder::ProgramBuilder;
use crate::computation::Contraction;
use crate::program::{BufferId, Deal, Dimension, Loop, Program, Statement, TensorId};

/// Resource that CPU loops are dealt to.
pub(super) const THREAD: &str = "thread";

/// The part of an axis that the loops opened so far leave.
#[derive(Debug, Clone)]
pub(super) struct Range {
    /// First element.
    pub(super) start: Affine,
    /// Ends before the least of these.
    pub(super) stops: Vec<Affine>,
    /// Elements at most.
    pub(super) full: u64,
}

/// Builds the program piece by piece, outermost loop first.
pub(super) struct Nest<'a> {
    pub(super) contraction: &'a Contraction,
    pub(super) plan: &'a Plan,
    pub(super) builder: ProgramBuilder,
    /// Operands, by position in the contraction.
    pub(super) tensors: Vec<TensorId>,
    pub(super) ranges: [Range; 3],
    /// Packed copies of the left and the right factor that are in scope.
    pub(super) packed: [Option<Packed>; 2],
    /// Whether the statements being built run inside a loop over threads.
    pub(super) inside_thread: bool,
    /// Partial sums and the number of the slice, when the reduction is split.
    pub(super) partial: Option<(BufferId, Variable)>,
}

/// Builds the whole program, in two parts where the columns behind full register tiles are turned.
pub(super) fn build(
    contraction: &Contraction,
    plan: &Plan,
    halves: Option<&Halves>,
    builder: ProgramBuilder,
    tensors: Vec<TensorId>,
) -> Program {
    let ranges = plan.extents.map(|extent| Range {
        start: 0.into(),
        stops: vec![(extent as i64).into()],
        full: extent,
    });
    let mut nest = Nest {
        contraction,
        plan,
        builder,
        tensors,
        ranges,
        packed: [None, None],
        inside_thread: plan.workers == 1,
        partial: None,
    };
    let mut phases = Vec::new();
    for side in [M, N] {
        if plan.pack[side] == Pack::Whole {
            phases.push(pack::whole(&mut nest, side));
        }
    }
    if plan.threads == Threads::Split {
        let partial = split::partial_sums(&mut nest);
        phases.push(split::slices(&mut nest, partial));
        phases.push(split::sum(&mut nest, partial));
    } else if let Some(halves) = halves {
        phases.push(turn::loops(&mut nest, halves));
    } else {
        phases.push(cache_loops(&mut nest, 0, [false; 3]));
    }
    nest.builder.finish_run(phases)
}

impl Nest<'_> {
    /// Splits what is left of an axis into tiles of `step`: the loop's dimension, and the range to put back
    /// behind the loop.
    pub(super) fn split(&mut self, axis: usize, name: &str, step: u64) -> (Dimension, Range) {
        let variable = self.builder.variable(name);
        let outer = self.ranges[axis].clone();
        let dimension = Dimension {
            variable,
            start: outer.start.clone().into(),
            stop: outer.stops.iter().cloned().map(Index::from).collect(),
            step,
            rest: self.plan.rest[axis],
        };
        let mut stops = outer.stops.clone();
        stops.push(variable + step as i64);
        self.ranges[axis] = Range { start: variable.into(), stops, full: step };
        (dimension, outer)
    }

    /// The limits of an instruction's axis that covers what is left of `axis` from `start` on.
    pub(super) fn limits(&self, axis: usize, start: &Affine) -> Vec<Index> {
        self.ranges[axis].stops.iter().map(|stop| Index::from(stop.clone() - start.clone())).collect()
    }

    /// A loop over one dimension.
    pub(super) fn sequential(dimension: Dimension, body: Vec<Statement>) -> Statement {
        Loop::new([dimension]).with_body(body).into()
    }

    /// A loop dealt to threads, or an ordinary one when this is one thread's work already.
    pub(super) fn dealt(&self, dimension: Dimension, deal: Deal, body: Vec<Statement>) -> Statement {
        let repeated = Loop::new([dimension]).with_body(body);
        if self.inside_thread { repeated.into() } else { repeated.mapped(THREAD, deal).into() }
    }
}

/// The cache-tile loops from position `at` of the order inwards; `opened` says which axes have theirs.
pub(super) fn cache_loops(nest: &mut Nest<'_>, at: usize, opened: [bool; 3]) -> Vec<Statement> {
    let plan = nest.plan;
    let has_loop = |axis: usize| plan.tile[axis] < plan.extents[axis] || plan.threads == Threads::Outer(axis);
    // Packed copies go where all loops that they depend on are open.
    let ready = |axis: usize| opened[axis] || !has_loop(axis);
    for side in [M, N] {
        if plan.pack[side] == Pack::Tile && nest.packed[side].is_none() && ready(side) && ready(K) {
            return pack::tile(nest, side, |nest| cache_loops(nest, at, opened));
        }
    }
    let Some(&axis) = plan.order.get(at) else { return register_loops(nest) };
    let mut opened = opened;
    opened[axis] = true;
    if !has_loop(axis) {
        return cache_loops(nest, at + 1, opened);
    }
    let dealt = plan.threads == Threads::Outer(axis) && plan.workers > 1;
    let name = AXIS_NAMES[axis];
    if dealt && plan.deal == Deal::Block {
        let (share, outer) = nest.split(axis, &format!("{name}t"), plan.chunk(axis));
        nest.inside_thread = true;
        let body = if plan.tile[axis] < plan.extents[axis] {
            let (dimension, share) = nest.split(axis, &format!("{name}c"), plan.tile[axis]);
            let body = cache_loops(nest, at + 1, opened);
            nest.ranges[axis] = share;
            vec![Nest::sequential(dimension, body)]
        } else {
            cache_loops(nest, at + 1, opened)
        };
        nest.inside_thread = false;
        nest.ranges[axis] = outer;
        return vec![nest.dealt(share, Deal::Block, body)];
    }
    let (dimension, outer) = nest.split(axis, &format!("{name}c"), plan.tile[axis]);
    nest.inside_thread |= dealt;
    let body = cache_loops(nest, at + 1, opened);
    nest.inside_thread &= !dealt;
    nest.ranges[axis] = outer;
    if dealt { vec![nest.dealt(dimension, plan.deal, body)] } else { vec![Nest::sequential(dimension, body)] }
}

/// The register-tile loops.
fn register_loops(nest: &mut Nest<'_>) -> Vec<Statement> {
    register_loop(nest, 0)
}

fn register_loop(nest: &mut Nest<'_>, at: usize) -> Vec<Statement> {
    let plan = nest.plan;
    let Some(&axis) = plan.inner.get(at) else { return tile::register_tile(nest) };
    let (dimension, outer) = nest.split(axis, &format!("{}r", AXIS_NAMES[axis]), plan.register[axis]);
    let dealt = plan.threads == Threads::Inner(axis);
    nest.inside_thread |= dealt;
    let body = if at == 0 && plan.pack[axis] == Pack::Panel {
        pack::panel(nest, axis, |nest| register_loop(nest, at + 1))
    } else {
        register_loop(nest, at + 1)
    };
    nest.inside_thread &= !dealt;
    nest.ranges[axis] = outer;
    if dealt { vec![nest.dealt(dimension, plan.deal, body)] } else { vec![Nest::sequential(dimension, body)] }
}
