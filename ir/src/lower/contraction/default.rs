//! A schedule from the target's sizes alone.
//!
//! Cache tiles in the manner of Low et al., Analytical Modeling Is Enough for High-Performance BLIS (2016): a
//! tile of one factor stays in L2, beside the panels of the other one that stream through. With wide register
//! tiles it is the right factor that stays, packed; rows of the left one are read where they lie.

use super::plan::{K, M, N, vector_registers_needed};
use crate::computation::Contraction;
use crate::limits::Limits;
use crate::schedule::Schedule;

/// Bytes assumed where a target does not say how large L2 is.
pub(super) const L2_BYTES: u64 = 512 << 10;

/// Reduction steps of the longest tile.
const LONGEST_STEPS: u64 = 1024;

/// Steps of a reduction in whose course the output's rows are asked for, rather than all of them before it.
const STEPS_TO_CUT: u64 = 64;

/// Vectors of the widest register tile.
const WIDE_VECTORS: u64 = 4;

/// Rows of it: eight multiply-adds at least are under way at once, and eight ways has the L1 of all usual cores.
const LATENCY_ROWS: std::ops::RangeInclusive<u64> = 3..=8;

/// With at most so many rows, a right factor that is stored along the reduction is read as it lies: turning it
/// around for lanes across columns costs more than sums across lanes do.
const FEW_ROWS: u64 = 256;

/// A good schedule without search.
pub(crate) fn default_schedule(contraction: &Contraction, limits: &Limits) -> Schedule {
    let extents = [M, N, K].map(|axis| contraction.axes[axis].extent);
    let [m, n, k] = extents;
    let bytes = contraction.accumulator.block().bytes;
    let lanes = limits.lanes(bytes);
    let (left, right) = (&contraction.operands[contraction.left], &contraction.operands[contraction.right]);
    let contiguous = left.stride_of(K) == 1 && right.stride_of(K) == 1;
    let few_passes = m.min(n) < lanes.min(16) || m <= FEW_ROWS;
    let along_reduction = contiguous && few_passes && k >= lanes;
    let schedule = Schedule::default();
    let (schedule, [mut rows, mut columns]) = if along_reduction {
        let [rows, columns] = reduction_tile(m, n, lanes, limits);
        let schedule = schedule.with_name("vector", "k").with_number("register.k", lanes);
        (schedule, [rows, columns])
    } else {
        let [rows, columns] = columns_tile(m, n, lanes, limits);
        (schedule, [rows, columns])
    };
    let mut schedule =
        schedule.with_number("register.m", rows).with_number("register.n", columns).with_number("unroll", 4);
    let size = |name: &str, fallback| limits.level(name).map_or(fallback, |level| level.bytes);
    if !along_reduction {
        let pack_right = right.stride_of(N) != 1 || m > 4 * rows && n > columns;
        if pack_right {
            schedule = schedule.with_name("pack.b", "tile");
        }
        let reused = pack_right && n > 4 * columns && m > rows && left.stride_of(K) != 0;
        // Rows of the left factor are contiguous, and few: they are read where they lie.
        let wide = wide_tile([m, n], lanes, limits).filter(|_| reused && left.stride_of(K) == 1);
        if reused && wide.is_none() {
            schedule = schedule.with_name("pack.a", "tile");
        }
        // Long reductions pass few times over the output; the panel of the right factor then comes from L2,
        // which keeps pace since every element of it is used for a whole column of the register tile.
        let steps =
            if k <= LONGEST_STEPS { k } else { k.div_ceil(k.div_ceil(LONGEST_STEPS)).next_multiple_of(8) };
        if steps < k {
            schedule = schedule.with_number("tile.k", steps);
        }
        let l2 = size("L2", L2_BYTES);
        if let Some(wide) = wide {
            [rows, columns] = wide;
            schedule = right_factor_stays(schedule, wide, l2 / 2 / (steps * bytes), n);
            if steps >= STEPS_TO_CUT {
                schedule = schedule.with_number("prefetch.c", 2);
            }
        } else {
            let rows_kept = (l2 * 3 / 8 / (steps * bytes) / rows * rows).max(rows);
            if rows_kept < m {
                schedule = schedule.with_number("tile.m", rows_kept);
            }
        }
    }
    with_threads(schedule, extents, [rows, columns], limits)
}

/// Loops in which a packed tile of the right factor, of at most `room` of its `n` columns, stays in L2 while the rows
/// of the left one pass by, each for all of the tile's columns.
pub(super) fn right_factor_stays(
    schedule: Schedule,
    [rows, columns]: [u64; 2],
    room: u64,
    n: u64,
) -> Schedule {
    let kept = (room / columns * columns).max(columns);
    let schedule = if kept < n { schedule.with_number("tile.n", kept) } else { schedule };
    schedule
        .with_name("pack.b", "tile")
        .with_number("register.m", rows)
        .with_number("register.n", columns)
        .with_name("order", "nkm")
        .with_name("inner", "mn")
        .with_number("prefetch.b", 8)
        .with_number("prefetch.c", 1)
        .with_number("unroll", 8)
}

/// Shares the output's rows where there are enough, else its columns: columns first where the right factor is read
/// in place and is the larger one, so that each thread reads a part of it.
fn with_threads(
    mut schedule: Schedule,
    [m, n, k]: [u64; 3],
    [rows, columns]: [u64; 2],
    limits: &Limits,
) -> Schedule {
    let workers = u64::from(limits.workers);
    // Below some tens of microseconds a second thread costs more than it brings.
    if workers < 2 || m * n * k < 1 << 17 {
        return schedule;
    }
    let (row_tiles, column_tiles) = (m.div_ceil(rows), n.div_ceil(columns));
    // Where a tile of the right factor stays, each thread has its own, and none waits for another.
    let own_tiles = schedule.name("order") == Some("nkm")
        && (column_tiles.is_multiple_of(workers) || column_tiles >= 4 * workers);
    let in_place = schedule.name("pack.b").is_none() && n > m && column_tiles >= 2 * workers;
    let wide = own_tiles || in_place;
    let (threads, tile, share) = if row_tiles >= 2 * workers && !wide {
        ("m.outer", "tile.m", row_tiles.div_ceil(workers) * rows)
    } else if column_tiles >= 2 {
        ("n.outer", "tile.n", column_tiles.div_ceil(workers) * columns)
    } else {
        return schedule;
    };
    // A tile no smaller than a thread's share is that share.
    if schedule.number(tile).is_some_and(|tile| tile >= share) {
        schedule.parameters.remove(tile);
    }
    schedule.with_name("threads", threads)
}

/// The register tile with the best estimated rate for these extents: multiply-add throughput, load
/// throughput (two each a cycle) and latency of four cycles, times the waste at the edges.
fn columns_tile(m: u64, n: u64, lanes: u64, limits: &Limits) -> [u64; 2] {
    let registers = u64::from(limits.vector_registers);
    let mut best = ([1, lanes], f64::INFINITY);
    for vectors in 1..=n.div_ceil(lanes).min(4) {
        for rows in 1..=m.min(registers) {
            let columns = vectors * lanes;
            if vector_registers_needed(rows, columns, 1, lanes) > registers {
                break;
            }
            let tiles = (m.div_ceil(rows) * n.div_ceil(columns)) as f64;
            let cycles = ((rows * vectors) as f64 / 2.0).max((rows + vectors) as f64 / 2.0).max(4.0);
            // Vectors of the right factor may come from L2, broadcasts of the left one hit L1.
            let cost = tiles * (cycles + 0.05 * rows as f64 + 0.25 * vectors as f64);
            if cost < best.1 {
                best = ([rows, columns], cost);
            }
        }
    }
    best.0
}

/// A register tile of four vectors, where registers suffice for enough rows to cover the multiply-adds' latency.
///
/// Its rows are fewer than the ways of L1, so that rows at a power of two of bytes from each other, which share
/// their sets, stay there until their cache line is used up. That makes copying the left factor superfluous.
fn wide_tile([m, n]: [u64; 2], lanes: u64, limits: &Limits) -> Option<[u64; 2]> {
    let rows = most_rows(m, WIDE_VECTORS, lanes, limits).filter(|rows| LATENCY_ROWS.contains(rows))?;
    (n >= WIDE_VECTORS * lanes).then_some([rows, WIDE_VECTORS * lanes])
}

/// The most rows, shared out evenly, of a register tile of so many vectors; `None` where not even one fits.
pub(super) fn most_rows(m: u64, vectors: u64, lanes: u64, limits: &Limits) -> Option<u64> {
    let registers = u64::from(limits.vector_registers);
    let fits = |rows: &u64| vector_registers_needed(*rows, vectors * lanes, 1, lanes) <= registers;
    let most = (1..=m.min(registers)).rev().find(fits)?;
    Some(m.div_ceil(m.div_ceil(most)))
}

fn reduction_tile(m: u64, n: u64, lanes: u64, limits: &Limits) -> [u64; 2] {
    let registers = u64::from(limits.vector_registers);
    let mut best = ([1, 1], f64::INFINITY);
    for rows in 1..=m.min(8) {
        for columns in 1..=n.min(8) {
            if vector_registers_needed(rows, columns, lanes, lanes) > registers {
                break;
            }
            let tiles = (m.div_ceil(rows) * n.div_ceil(columns)) as f64;
            let cycles = ((rows * columns) as f64 / 2.0).max((rows + columns) as f64 / 2.0).max(4.0);
            // Of two tiles that multiply as fast, the one that loads less; columns stay in L1 for all rows.
            let cost = tiles * (cycles + 0.14 * rows as f64 + 0.08 * columns as f64);
            if cost < best.1 {
                best = ([rows, columns], cost);
            }
        }
    }
    best.0
}
