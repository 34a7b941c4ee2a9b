//! A rest of few columns with lanes along another axis.
//!
//! Where lanes run along the columns, a rest of a single column costs as many multiply-adds as a whole vector of
//! them. With `rest.n=turn` the full register tiles end where the last whole one does, and what remains is a
//! product of its own whose lanes run the way in which the left factor lies. Along the reduction, a step covers as
//! many reduction steps as a vector has lanes, and one sum over lanes for each element comes at the end; along the
//! rows, a step covers as many rows.

use super::nest::{Nest, Range, cache_loops};
use super::pack;
use super::plan::{K, M, N, Pack, Plan, PrefetchOutput, Threads, Vector};
use crate::computation::Contraction;
use crate::limits::{Illegal, Limits};
use crate::lower::reader::conflict;
use crate::program::{Broadcast, Deal, Rest, Statement};

/// The plans of the full register tiles and of the columns behind them.
#[derive(Debug, Clone)]
pub(super) struct Halves {
    full: Plan,
    rest: Plan,
}

impl Halves {
    /// Divides a plan, if it asks for that.
    ///
    /// # Errors
    /// When there are no two parts, columns are shared out to threads, the left factor is contiguous neither along
    /// the reduction nor along the rows, or registers do not suffice for the sums of the rest.
    pub(super) fn of(
        plan: &Plan,
        contraction: &Contraction,
        limits: &Limits,
    ) -> Result<Option<Self>, Illegal> {
        if !plan.turns_rest {
            return Ok(None);
        }
        let columns = plan.extents[N] % plan.register[N];
        if plan.vector == Vector::Reduction || columns == 0 || plan.extents[N] < plan.register[N] {
            return Err(conflict(
                "rest.n, vector, register.n",
                "no full register tile and columns behind it",
            ));
        }
        if !matches!(plan.threads, Threads::None | Threads::Outer(M) | Threads::Inner(M)) {
            return Err(conflict("rest.n, threads", "a rest is turned where only rows are shared out"));
        }
        let mut full = plan.clone();
        full.extents[N] -= columns;
        full.tile[N] = full.tile[N].min(full.extents[N]);
        let [left, right] = [contraction.left, contraction.right].map(|at| &contraction.operands[at]);
        let along_rows = left.stride_of(K) != 1 && left.stride_of(M) == 1;
        let in_place = along_rows || right.stride_of(K) == 1;
        let mut rest = Plan {
            vector: if along_rows { Vector::Rows } else { Vector::Reduction },
            pack: [Pack::None, if in_place { Pack::None } else { Pack::Tile }],
            rest: [Rest::Peel; 3],
            prefetch: [0; 2],
            prefetch_pack: 0,
            broadcast: Broadcast::Register,
            prefetch_output: PrefetchOutput::Never,
            unroll: 1,
            ..plan.clone()
        };
        rest.extents[N] = columns;
        rest.tile = [plan.tile[M], columns, plan.extents[K]];
        rest.register = [plan.register[M], columns, plan.lanes];
        if along_rows {
            rest.register = [rows_at_once(plan, columns, limits), columns, 1];
            rest.tile[M] = plan.extents[M];
            rest.deal = Deal::Block;
        }
        rest.check_sizes(limits)?;
        rest.check_layouts(contraction)?;
        Ok(Some(Self { full, rest }))
    }
}

/// Rows of a register tile whose lanes run along them: vectors enough to hide the latency of a multiply-add, as
/// far as registers suffice (one vector of the left factor for each, an element of the right) and no thread loses
/// its share.
fn rows_at_once(plan: &Plan, columns: u64, limits: &Limits) -> u64 {
    let fit = u64::from(limits.vector_registers).saturating_sub(1) / (columns + 1);
    let share = plan.extents[M].div_ceil(plan.lanes).div_ceil(u64::from(plan.workers));
    LATENCY_VECTORS.div_ceil(columns).min(fit).min(share).max(1) * plan.lanes
}

/// Independent sums that keep two multiply-add units with a latency of four cycles busy (Agner Fog, Instruction
/// tables: Skylake to Sapphire Rapids, Zen 2 to 4).
const LATENCY_VECTORS: u64 = 8;

/// The loops of both parts.
///
/// The right factor's columns behind the full tiles are copied first of all: they are narrow stores, which have
/// left the core by the time that whole vectors of them are loaded.
pub(super) fn loops<'a>(nest: &mut Nest<'a>, halves: &'a Halves) -> Vec<Statement> {
    let (plan, packed, columns) = (nest.plan, nest.packed.clone(), nest.ranges[N].clone());
    let full = halves.full.extents[N];
    let ranges = [
        Range { start: 0.into(), stops: vec![(full as i64).into()], full },
        Range { start: (full as i64).into(), full: halves.rest.extents[N], ..columns.clone() },
    ];
    let both = |nest: &mut Nest<'a>| {
        let (copied, [first, second]) = (nest.packed.clone(), ranges.clone());
        (nest.plan, nest.packed, nest.ranges[N]) = (&halves.full, packed.clone(), first);
        let mut body = cache_loops(nest, 0, [false; 3]);
        (nest.plan, nest.packed, nest.ranges[N]) = (&halves.rest, copied, second);
        body.extend(cache_loops(nest, 0, [false; 3]));
        body
    };
    // Copies of whole operands are laid out for lanes along the columns.
    (nest.plan, nest.packed, nest.ranges[N]) = (&halves.rest, [None, None], ranges[1].clone());
    let body = if halves.rest.pack[N] == Pack::Tile { pack::tile(nest, N, both) } else { both(nest) };
    (nest.plan, nest.packed, nest.ranges[N]) = (plan, packed, columns);
    body
}
