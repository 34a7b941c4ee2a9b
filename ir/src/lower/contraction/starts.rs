//! Schedules of different kinds to begin a search with.
//!
//! A search that begins at one point has to cross from one way of moving data to another by several changes at
//! once, each of which alone makes things worse. So it gets one of each kind: both operands packed, one packed,
//! none packed, one or the other staying in L2, the reduction innermost or outermost, lanes along the reduction.
//! Sizes follow from the caches as in the default schedule. (Compare the sketches of Ansor, Zheng et al. 2020.)

use super::default::{L2_BYTES, default_schedule, most_rows, right_factor_stays};
use super::plan::{K, M, N};
use crate::computation::Contraction;
use crate::limits::Limits;
use crate::schedule::Schedule;

/// Widths of a register tile, in vectors.
const WIDTHS: std::ops::RangeInclusive<u64> = 1..=4;

/// The default schedule, then others, which are wishes: where one is not legal, the nearest that is.
pub(crate) fn starting_schedules(contraction: &Contraction, limits: &Limits) -> Vec<Schedule> {
    let default = default_schedule(contraction, limits);
    let [m, n, k] = [M, N, K].map(|axis| contraction.axes[axis].extent);
    let bytes = contraction.accumulator.block().bytes;
    let lanes = limits.lanes(bytes);
    let cache = limits.level("L2").map_or(L2_BYTES, |level| level.bytes);
    let mut schedules = vec![default.clone()];
    schedules.extend([1, 2].map(|when| default.clone().with_number("prefetch.c", when)));
    let plain = |rows: u64, columns: u64| {
        let schedule = Schedule::default().with_number("register.m", rows).with_number("register.n", columns);
        let schedule = schedule.with_number("unroll", 4);
        match default.name("threads") {
            Some(threads) => schedule.with_name("threads", threads),
            None => schedule,
        }
    };
    for width in WIDTHS.filter(|width| *width <= n.div_ceil(lanes)) {
        let Some(rows) = most_rows(m, width, lanes, limits) else { continue };
        let columns = width * lanes;
        let tile = |schedule: Schedule, name: &str, size: u64, extent: u64| {
            if size < extent { schedule.with_number(name, size) } else { schedule }
        };
        // Rows of the left factor that fill half of the cache beside what streams through.
        let rows_kept = |steps: u64| (cache / 2 / (steps.min(k) * bytes) / rows * rows).max(rows);
        let tiled = |schedule: Schedule, steps: u64| {
            tile(tile(schedule, "tile.k", steps, k), "tile.m", rows_kept(steps), m)
        };
        let start = || plain(rows, columns);
        schedules.push(tiled(start().with_name("pack.a", "tile").with_name("pack.b", "tile"), 1024));
        // A tile of the right factor stays, and the left one's rows pass by: where they lie, or copied.
        let stays = |steps: u64| {
            let room = cache / 2 / (steps.min(k) * bytes);
            tile(right_factor_stays(start(), [rows, columns], room, n), "tile.k", steps, k)
        };
        schedules.extend([stays(1024), stays(512).with_number("prefetch.c", 2)]);
        schedules.push(stays(512).with_name("pack.a", "panel"));
        // Few columns behind full register tiles would each cost as much as a vector of them.
        if n > columns && (1..=lanes / 4).contains(&(n % columns)) {
            schedules.push(start().with_name("rest.n", "turn"));
        }
        if width != 2 && n > 2 * lanes {
            continue;
        }
        schedules.extend([
            tiled(start().with_name("pack.a", "tile").with_name("pack.b", "tile"), 256),
            tiled(start().with_name("pack.a", "tile").with_name("pack.b", "panel"), 1024),
            tiled(start().with_name("pack.a", "tile").with_name("pack.b", "panel"), 1024)
                .with_name("inner", "nm"),
            tile(start().with_name("pack.a", "whole").with_name("pack.b", "panel"), "tile.k", 512, k),
            tiled(start().with_name("pack.a", "tile"), 1024),
            tiled(start().with_name("pack.b", "tile"), 1024),
            tile(start().with_name("pack.a", "whole"), "tile.k", 256, k),
            start(),
            start().with_number("prefetch.b", 8),
            // The reduction outermost: both wide operands are read row by row.
            tile(start().with_name("order", "kmn"), "tile.k", 16, k),
            tile(start().with_name("order", "kmn").with_name("pack.a", "tile"), "tile.k", 64, k),
            tile(
                tile(start().with_name("order", "nkm").with_name("pack.b", "tile"), "tile.k", 512, k)
                    .with_name("pack.a", "whole"),
                "tile.n",
                (cache / 2 / (k.min(512) * bytes) / columns * columns).max(columns),
                n,
            ),
        ]);
    }
    if k >= lanes {
        for [rows, columns] in [[4, 6], [1, 8], [8, 1]] {
            let start = plain(rows.min(m), columns.min(n)).with_name("vector", "k");
            let start = start.with_number("register.k", lanes);
            schedules.push(start.clone());
            schedules.push(start.with_name("pack.a", "tile").with_name("pack.b", "tile"));
        }
    }
    for name in ["m.outer", "n.outer", "n.inner"] {
        if limits.workers > 1 && default.name("threads") != Some(name) {
            schedules.push(default.clone().with_name("threads", name));
        }
    }
    schedules
}
