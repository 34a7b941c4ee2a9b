//! Which values are open. The conditions are those of lowering, and a few more that leave out schedules whose
//! program another schedule gives already.

use super::UNROLLS;
use super::facts::{Facts, INNERS, K, M, MASK, N, ORDERS, PACKS, PAD, PEEL, Pack, THREADS, TURN, Threads};
use super::position::{
    DEAL, INNER, ORDER, PACK, PREFETCH, PREFETCH_OUTPUT, PREFETCH_PACK, REGISTER_K, REGISTER_M, REGISTER_N,
    REST, SPLIT_K, THREADS as SHARED, TILE, UNROLL,
};
use super::rules::ContractionRules;
use crate::refusal::Refusal;

/// Bodies that a program has beside the full one, on average: peeled rests, packing, filling and storing.
/// Programs that have more are refused by legalisation.
const BODIES: u64 = 8;

/// Iterations of the reduction loop that make two parts of two rounds each, however far it is unrolled.
const STEPS_TO_CUT: u64 = 2 * 2 * UNROLLS[UNROLLS.len() - 1];

type Checked = Result<(), Refusal<'static>>;

fn allow(condition: bool, allowed: &'static str) -> Checked {
    if condition { Ok(()) } else { Err(Refusal::Value { allowed }) }
}

fn agree(condition: bool, parameters: &'static str, conflict: &'static str) -> Checked {
    if condition { Ok(()) } else { Err(Refusal::Conflict { parameters, conflict }) }
}

impl ContractionRules {
    pub(super) fn check_gene(&self, gene: usize, index: u16, facts: &Facts) -> Result<(), Refusal<'_>> {
        let number = || self.number(gene, index);
        match gene {
            SHARED => self.check_threads(THREADS[usize::from(index)].1, facts),
            DEAL => self.check_deal(index == 1, facts),
            REGISTER_N => self.check_columns(number(), facts),
            REGISTER_K => self.check_reduction(number(), facts),
            REGISTER_M => self.check_rows(number(), facts),
            SPLIT_K => self.check_split(number(), facts),
            gene if (TILE..TILE + 3).contains(&gene) => self.check_tile(gene - TILE, index, facts),
            ORDER => check_order(usize::from(index), facts),
            INNER => allow(usize::from(index) < INNERS.len(), "nm, mn"),
            gene if gene == PACK || gene == PACK + 1 => {
                self.check_pack(gene - PACK, PACKS[usize::from(index)].1, facts)
            }
            gene if (REST..REST + 3).contains(&gene) && index == MASK && facts.alone[gene - REST] => {
                agree(false, "rest, register", "one register tile covers the axis: masking it is peeling it")
            }
            gene if gene == REST + K => {
                agree(
                    index != PEEL || !facts.ragged,
                    "rest.k, split.k",
                    "the last slice is shorter, so that its rest cannot be peeled",
                )?;
                agree(
                    index != PAD || (facts.lanes_along_k && !facts.packs.contains(&Pack::None)),
                    "rest.k, pack",
                    "lanes of the reduction are padded only where both operands are packed",
                )
            }
            gene if gene == REST + N && index == TURN => agree(
                facts.turns,
                "rest.n, vector, threads, register",
                "no few columns behind full register tiles, or not only rows are shared out",
            ),
            gene if (REST..REST + K).contains(&gene) => agree(
                index != PAD || facts.packs[gene - REST] != Pack::None,
                "rest, pack",
                "only a packed operand can be padded",
            ),
            UNROLL => {
                allow(number() <= facts.steps, "at most the iterations of the reduction loop")?;
                let needed = number().saturating_mul(u64::from(self.body_instructions) / facts.room.max(1));
                if number() > facts.room && number() > 1 {
                    let available = self.body_instructions;
                    return Err(Refusal::Body { needed: needed as u32, available });
                }
                Ok(())
            }
            PREFETCH_PACK => {
                let steps = if facts.lanes_along_k { 1 } else { self.lanes };
                allow(number() * steps <= facts.steps, "at most the iterations of the packing loop")
            }
            PREFETCH_OUTPUT => agree(
                index < 2 || facts.rows_to_cut && facts.steps >= STEPS_TO_CUT,
                "prefetch.c, tile.k, register.m",
                "neither rows nor the reduction can be cut into parts",
            ),
            gene if gene == PREFETCH || gene == PREFETCH + 1 => {
                allow(2 * number() <= facts.steps, "at most half the iterations of the reduction loop")
            }
            _ => Ok(()),
        }
    }

    /// A loop can be shared when some register tile leaves it two iterations.
    fn check_threads(&self, threads: Threads, facts: &Facts) -> Checked {
        match threads {
            Threads::None => Ok(()),
            Threads::Outer(axis) | Threads::Inner(axis) => {
                let tiles = self.extents[axis].div_ceil(self.least_register(axis, facts));
                agree(tiles > 1, "threads, register", "one register tile: nothing to share")
            }
            Threads::Split => {
                let fits = self.splits(self.workers, self.least_register(K, facts));
                agree(fits, "threads, split.k", "a slice of the reduction would be empty")?;
                self.check_partial(self.workers)
            }
        }
    }

    /// Dealing in turn differs from dealing in blocks when there are more iterations than workers.
    fn check_deal(&self, cyclic: bool, facts: &Facts) -> Checked {
        let more = match facts.threads {
            Threads::Outer(axis) | Threads::Inner(axis) => {
                self.extents[axis].div_ceil(self.least_register(axis, facts)) > self.workers
            }
            Threads::Split => {
                self.splits(2 * self.workers, self.least_register(K, facts))
                    && self.check_partial(2 * self.workers).is_ok()
            }
            Threads::None => false,
        };
        agree(!cyclic || more, "deal, threads", "not more iterations than workers")
    }

    /// Whether a register tile along `axis` leaves the shared loop enough iterations.
    fn leaves_enough(&self, axis: usize, register: u64, facts: &Facts) -> Checked {
        let enough = match facts.threads {
            Threads::Outer(shared) | Threads::Inner(shared) if shared == axis => {
                let least = if facts.cyclic { self.workers } else { 1 };
                self.extents[axis].div_ceil(register) > least
            }
            Threads::Split if axis == K => {
                self.splits(if facts.cyclic { 2 * self.workers } else { self.workers }, register)
            }
            _ => true,
        };
        agree(enough, "register, threads", "too few iterations to share")
    }

    fn check_columns(&self, columns: u64, facts: &Facts) -> Checked {
        let least = self.least_register(N, facts);
        if facts.lanes_along_k {
            allow(columns <= self.extents[N], "at most the extent")?;
        } else {
            let most = self.extents[N].next_multiple_of(self.lanes);
            allow(columns.is_multiple_of(least) && columns <= most, "whole vectors, at most the extent")?;
        }
        self.check_registers(1, columns, self.least_register(K, facts), facts)?;
        self.leaves_enough(N, columns, facts)
    }

    fn check_reduction(&self, reduction: u64, facts: &Facts) -> Checked {
        self.check_registers(1, facts.register[N], reduction, facts)?;
        self.leaves_enough(K, reduction, facts)
    }

    fn check_rows(&self, rows: u64, facts: &Facts) -> Checked {
        self.check_registers(rows, facts.register[N], facts.register[K], facts)?;
        self.leaves_enough(M, rows, facts)
    }

    /// Vectors of sums, of one factor, and one of the other factor.
    fn check_registers(&self, rows: u64, columns: u64, reduction: u64, facts: &Facts) -> Checked {
        let sums = self.sums(rows, columns, reduction, facts);
        let loads = if facts.lanes_along_k { rows.min(columns) } else { columns.div_ceil(self.lanes) };
        let (needed, available) = ((sums + loads + 1) as u32, self.registers);
        if needed > available { Err(Refusal::Registers { needed, available }) } else { Ok(()) }
    }

    /// See [`Facts::turns`].
    pub(super) fn turns(&self, facts: &Facts) -> bool {
        let columns = self.extents[N] % facts.register[N];
        let along_reduction = Facts { lanes_along_k: true, ..*facts };
        let registers_suffice = if self.contiguous_along_k[M] {
            self.check_registers(facts.register[M], columns, self.lanes, &along_reduction).is_ok()
        } else {
            columns + 2 <= u64::from(self.registers)
        };
        !facts.lanes_along_k
            && columns > 0
            && self.extents[N] > facts.register[N]
            && (self.contiguous_along_k[M] || self.contiguous_outwards[M])
            && matches!(facts.threads, Threads::None | Threads::Outer(M) | Threads::Inner(M))
            && registers_suffice
    }

    /// Vectors of sums, which are also the multiplications of one reduction step.
    fn sums(&self, rows: u64, columns: u64, reduction: u64, facts: &Facts) -> u64 {
        if facts.lanes_along_k {
            rows * columns * reduction.div_ceil(self.lanes)
        } else {
            rows * columns.div_ceil(self.lanes)
        }
    }

    /// See [`Facts::room`].
    pub(super) fn room(&self, facts: &Facts) -> u64 {
        let [rows, columns, reduction] = facts.register;
        let room = u64::from(self.body_instructions) / (BODIES * self.sums(rows, columns, reduction, facts));
        1 << room.clamp(1, 16).ilog2()
    }

    fn check_split(&self, split: u64, facts: &Facts) -> Checked {
        let least = if facts.cyclic { 2 * self.workers } else { self.workers };
        allow(split >= least, "more than one slice a worker, to deal them in turn")?;
        allow(self.splits(split, facts.register[K]), "so many that no slice is empty")?;
        self.check_partial(split)
    }

    fn check_partial(&self, split: u64) -> Checked {
        let (needed, available) = (split.saturating_mul(self.partial_bytes), self.workspace_bytes);
        if needed > available {
            return Err(Refusal::Capacity { level: "workspace", needed, available });
        }
        Ok(())
    }

    fn check_tile(&self, axis: usize, index: u16, facts: &Facts) -> Checked {
        let (extent, register) = (self.extents[axis], facts.register[axis].max(1));
        let whole = usize::from(index) + 1 == self.numbers[TILE + axis].len();
        let tile = self.tile(axis, index, facts);
        // Leaving less than a register tile would only make its rest a cache tile.
        let fits = whole || tile.saturating_add(register) <= extent;
        allow(fits, "a multiple of the register tile that leaves one more, or the extent")?;
        match facts.threads {
            Threads::Outer(shared) if shared == axis && facts.cyclic => agree(
                extent.div_ceil(tile) > self.workers,
                "tile, deal",
                "not more tiles than workers to deal in turn",
            ),
            Threads::Outer(shared) if shared == axis => agree(
                whole || tile < self.share(axis, register),
                "tile, threads",
                "the tile is at least a thread's share: leave it whole",
            ),
            Threads::Inner(shared) if shared == axis => {
                let least = if facts.cyclic { self.workers } else { 1 };
                agree(tile.div_ceil(register) > least, "tile, threads", "too few register tiles to share")
            }
            Threads::Split if axis == K => agree(
                whole || tile < self.slice(facts.split, register),
                "tile.k, split.k",
                "the tile is at least a slice: leave it whole",
            ),
            _ => Ok(()),
        }
    }

    fn check_pack(&self, side: usize, pack: Pack, facts: &Facts) -> Checked {
        match pack {
            Pack::None => {
                let contiguous = if facts.lanes_along_k {
                    self.contiguous_along_k[side]
                } else {
                    side == M || self.contiguous_outwards[N]
                };
                agree(contiguous, "pack, vector", "not contiguous along the lanes: it must be packed")
            }
            Pack::Panel => {
                agree(facts.outer == Some(side), "pack, inner", "the outer register loop does not walk it")?;
                let shared = facts.threads == Threads::Inner(M + N - side);
                agree(!shared, "pack, threads", "a panel cannot be shared by threads")
            }
            Pack::Tile => Ok(()),
            Pack::Whole => {
                let one_tile = facts.whole[side] && facts.whole[K] && facts.threads == Threads::None;
                agree(!one_tile, "pack, tile", "one tile is the whole operand: use tile")?;
                let (needed, available) = (self.packed_bytes[side], self.workspace_bytes);
                if needed > available {
                    return Err(Refusal::Capacity { level: "workspace", needed, available });
                }
                Ok(())
            }
        }
    }
}

/// Of the orders that put the existing loops in one order, only the first is open.
fn check_order(index: usize, facts: &Facts) -> Checked {
    let existing = |order: [usize; 3]| order.into_iter().filter(|&axis| facts.looped(axis));
    let first = ORDERS.iter().position(|order| existing(order.1).eq(existing(ORDERS[index].1)));
    allow(first == Some(index), "one of the orders that differ in the loops that exist")
}
