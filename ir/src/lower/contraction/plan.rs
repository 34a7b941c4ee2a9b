//! A schedule of the contraction family, read and checked against the workload and the target.

use crate::computation::Contraction;
use crate::limits::{Illegal, Limits};
use crate::lower::reader::{Reader, allowed, conflict};
use crate::program::{Broadcast, Deal, Rest};
use crate::schedule::Schedule;

/// Numbers of the axes.
pub(super) const M: usize = 0;
pub(super) const N: usize = 1;
pub(super) const K: usize = 2;

/// Names of the axes in parameters.
pub(super) const AXIS_NAMES: [char; 3] = ['m', 'n', 'k'];

/// Which axis neighbouring lanes walk along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vector {
    /// Columns of the output.
    Columns,
    /// The reduction: lanes hold partial sums.
    Reduction,
    /// Rows of the output: only for columns behind full register tiles.
    Rows,
}

impl Vector {
    /// The axis, by number.
    pub(super) fn axis(self) -> usize {
        match self {
            Self::Columns => N,
            Self::Reduction => K,
            Self::Rows => M,
        }
    }
}

/// Where an operand is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pack {
    None,
    Panel,
    Tile,
    Whole,
}

/// When the lines of an output tile are asked for before they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrefetchOutput {
    Never,
    /// All at once, before the reduction: more than a core can have under way, where the tile has many.
    Before,
    /// Few rows at a time, in the course of the reduction.
    During,
}

/// Equal parts of a register tile's reduction, but for what remains for the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    /// At least two.
    pub(super) count: u64,
    /// Rows of the output that are asked for at the beginning of each.
    pub(super) rows: u64,
    /// Reduction steps.
    pub(super) steps: u64,
}

/// Which loop is dealt to threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Threads {
    None,
    /// Cache-tile loop of an axis.
    Outer(usize),
    /// Register-tile loop of an axis.
    Inner(usize),
    /// Slices of the reduction.
    Split,
}

/// All decisions, checked.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) extents: [u64; 3],
    pub(super) workers: u32,
    pub(super) lanes: u64,
    pub(super) order: [usize; 3],
    /// Equal to the extent: no loop.
    pub(super) tile: [u64; 3],
    pub(super) register: [u64; 3],
    pub(super) vector: Vector,
    /// The two register-tile loops, outer first.
    pub(super) inner: [usize; 2],
    /// Of the left and the right factor.
    pub(super) pack: [Pack; 2],
    pub(super) rest: [Rest; 3],
    /// Whether columns behind the last full register tile are computed with lanes along another axis.
    pub(super) turns_rest: bool,
    pub(super) unroll: u32,
    /// Of the left and the right factor; 0: none.
    pub(super) prefetch: [u32; 2],
    /// Packing instructions in advance; 0: none.
    pub(super) prefetch_pack: u32,
    /// How elements of the left factor come to the multiply-adds.
    pub(super) broadcast: Broadcast,
    /// When the lines of an output tile are asked for.
    pub(super) prefetch_output: PrefetchOutput,
    pub(super) threads: Threads,
    pub(super) deal: Deal,
    pub(super) split: u64,
}

/// Vector registers that a register tile occupies.
///
/// `vector=n`: accumulators, one vector of the right factor for each column group, one broadcast.
/// `vector=k`: accumulators, the vectors of the side with fewer rows, one of the other side.
pub(crate) fn vector_registers_needed(rows: u64, columns: u64, reduction: u64, lanes: u64) -> u64 {
    if reduction <= 1 {
        let vectors = columns.div_ceil(lanes);
        rows * vectors + vectors + 1
    } else {
        rows * columns * reduction.div_ceil(lanes) + rows.min(columns) + 1
    }
}

const NAMES: [&str; 23] = [
    "order",
    "tile.m",
    "tile.n",
    "tile.k",
    "register.m",
    "register.n",
    "register.k",
    "vector",
    "inner",
    "pack.a",
    "pack.b",
    "rest.m",
    "rest.n",
    "rest.k",
    "unroll",
    "prefetch.a",
    "prefetch.b",
    "prefetch.c",
    "prefetch.pack",
    "broadcast",
    "threads",
    "deal",
    "split.k",
];

impl Plan {
    /// Reads and checks a schedule.
    pub(super) fn read(
        contraction: &Contraction,
        schedule: &Schedule,
        limits: &Limits,
    ) -> Result<Self, Illegal> {
        let reader = Reader::new(schedule, &NAMES)?;
        let extents = [M, N, K].map(|axis| contraction.axes[axis].extent);
        let lanes = limits.lanes(contraction.accumulator.block().bytes);
        let orders = [
            ("nkm", [N, K, M]),
            ("mnk", [M, N, K]),
            ("mkn", [M, K, N]),
            ("nmk", [N, M, K]),
            ("kmn", [K, M, N]),
            ("knm", [K, N, M]),
        ];
        let rests = [("peel", Rest::Peel), ("mask", Rest::Mask), ("pad", Rest::Pad)];
        let rests_of_columns = [rests[0], rests[1], rests[2], ("turn", Rest::Peel)];
        let packs =
            [("none", Pack::None), ("panel", Pack::Panel), ("tile", Pack::Tile), ("whole", Pack::Whole)];
        let threads = reader.choice(
            "threads",
            &[
                ("none", Threads::None),
                ("m.outer", Threads::Outer(M)),
                ("n.outer", Threads::Outer(N)),
                ("m.inner", Threads::Inner(M)),
                ("n.inner", Threads::Inner(N)),
                ("k", Threads::Split),
            ],
        )?;
        let vector = reader.choice("vector", &[("n", Vector::Columns), ("k", Vector::Reduction)])?;
        let lane_default = |axis: bool| if axis { lanes } else { 1 };
        let plan = Self {
            extents,
            workers: if threads == Threads::None { 1 } else { limits.workers },
            lanes,
            order: reader.choice("order", &orders)?,
            tile: [
                reader.number("tile.m", extents[M])?,
                reader.number("tile.n", extents[N])?,
                reader.number("tile.k", extents[K])?,
            ],
            register: [
                reader.number("register.m", 1)?,
                reader.number("register.n", lane_default(vector == Vector::Columns))?,
                reader.number("register.k", lane_default(vector == Vector::Reduction))?,
            ],
            vector,
            inner: reader.choice("inner", &[("nm", [N, M]), ("mn", [M, N])])?,
            pack: [reader.choice("pack.a", &packs)?, reader.choice("pack.b", &packs)?],
            rest: [
                reader.choice("rest.m", &rests)?,
                reader.choice("rest.n", &rests_of_columns)?,
                reader.choice("rest.k", &rests)?,
            ],
            turns_rest: schedule.name("rest.n") == Some("turn"),
            unroll: reader.number("unroll", 1)?.min(64) as u32,
            prefetch: [
                reader.number("prefetch.a", 0)?.min(4096) as u32,
                reader.number("prefetch.b", 0)?.min(4096) as u32,
            ],
            prefetch_pack: reader.number("prefetch.pack", 0)?.min(4096) as u32,
            broadcast: reader
                .choice("broadcast", &[("register", Broadcast::Register), ("memory", Broadcast::Memory)])?,
            prefetch_output: match reader.number("prefetch.c", 0)? {
                0 => PrefetchOutput::Never,
                1 => PrefetchOutput::Before,
                2 => PrefetchOutput::During,
                other => return Err(allowed("prefetch.c", other, "0, 1, 2")),
            },
            threads,
            deal: reader.choice("deal", &[("block", Deal::Block), ("cyclic", Deal::Cyclic)])?,
            split: reader
                .number("split.k", if threads == Threads::Split { u64::from(limits.workers) } else { 1 })?,
        };
        plan.check_sizes(limits)?;
        plan.check_layouts(contraction)?;
        plan.check_hints(limits)?;
        plan.check_threads()?;
        Ok(plan)
    }

    pub(super) fn check_sizes(&self, limits: &Limits) -> Result<(), Illegal> {
        for axis in [M, N, K] {
            let (name, tile, register) = (AXIS_NAMES[axis], self.tile[axis], self.register[axis]);
            let extent = self.extents[axis];
            if register == 0 || register > extent.next_multiple_of(self.lanes) {
                let most = extent.next_multiple_of(self.lanes);
                return Err(allowed(&format!("register.{name}"), register, format!("1 to {most}")));
            }
            if tile == 0 || tile > extent || (tile < extent && !tile.is_multiple_of(register)) {
                let wanted = format!("a multiple of {register} below {extent}, or {extent}");
                return Err(allowed(&format!("tile.{name}"), tile, wanted));
            }
        }
        let lanes_along = self.vector.axis();
        if !self.register[lanes_along].is_multiple_of(self.lanes) {
            let name = format!("register.{}", AXIS_NAMES[lanes_along]);
            return Err(allowed(&name, self.register[lanes_along], format!("a multiple of {}", self.lanes)));
        }
        if self.vector != Vector::Reduction && self.register[K] != 1 {
            return Err(conflict("vector, register.k", "register.k must be 1 where lanes run along n"));
        }
        let [mut rows, mut columns, reduction] = self.register;
        if self.vector == Vector::Rows {
            (rows, columns) = (columns, rows);
        }
        let needed = vector_registers_needed(rows, columns, reduction, self.lanes) as u32;
        if needed > limits.vector_registers {
            return Err(Illegal::Registers { needed, available: limits.vector_registers });
        }
        if !matches!(self.unroll, 1 | 2 | 4 | 8 | 16) {
            return Err(allowed("unroll", self.unroll, "1, 2, 4, 8, 16"));
        }
        Ok(())
    }

    pub(super) fn check_layouts(&self, contraction: &Contraction) -> Result<(), Illegal> {
        let operands = [&contraction.operands[contraction.left], &contraction.operands[contraction.right]];
        for (side, operand) in operands.iter().enumerate() {
            let name = ["pack.a", "pack.b"][side];
            let lane_axis = self.vector.axis();
            let must_be_contiguous = side == lane_axis || lane_axis == K;
            if self.pack[side] == Pack::None && must_be_contiguous && operand.stride_of(lane_axis) != 1 {
                return Err(conflict(
                    &format!("{name}, vector"),
                    format!(
                        "{} is not contiguous along {} and must be packed",
                        operand.name, AXIS_NAMES[lane_axis]
                    ),
                ));
            }
            if self.pack[side] == Pack::Panel && self.inner[0] != side {
                return Err(conflict(
                    &format!("{name}, inner"),
                    "the outer register loop does not walk this operand",
                ));
            }
            let whole = self.tile[side] == self.extents[side] && self.tile[K] == self.extents[K];
            if self.pack[side] == Pack::Whole && whole && self.threads == Threads::None {
                return Err(conflict(&format!("{name}, tile"), "one tile is the whole operand: use tile"));
            }
            if self.rest[side] == Rest::Pad && self.pack[side] == Pack::None {
                return Err(conflict(&format!("{name}, rest"), "only a packed operand can be padded"));
            }
        }
        if self.rest[K] == Rest::Pad && (self.vector != Vector::Reduction || self.pack.contains(&Pack::None))
        {
            return Err(conflict(
                "rest.k, pack",
                "lanes of the reduction are padded only where both operands are packed",
            ));
        }
        Ok(())
    }

    /// How the output's rows are asked for in the course of a register tile's reduction: in parts of at least two
    /// rounds of the unrolled loop each. `None` where that makes no two parts.
    pub(super) fn parts(&self) -> Option<Parts> {
        let [rows, _, lanes] = self.register;
        let copies = u64::from(self.unroll).max(1);
        let iterations = self.tile[K].min(self.slice()).min(self.extents[K]) / lanes;
        let most = rows.min(iterations / (2 * copies));
        if most < 2 {
            return None;
        }
        let rows_each = rows.div_ceil(most);
        let count = rows.div_ceil(rows_each);
        Some(Parts { count, rows: rows_each, steps: iterations / count / copies * copies * lanes })
    }

    fn check_hints(&self, limits: &Limits) -> Result<(), Illegal> {
        if self.prefetch_pack > 0 && self.pack == [Pack::None; 2] {
            return Err(conflict("prefetch.pack, pack", "nothing is packed"));
        }
        if self.prefetch_output == PrefetchOutput::During && self.parts().is_none() {
            return Err(conflict(
                "prefetch.c, tile.k, register.m, unroll",
                "neither rows nor the reduction can be cut into parts",
            ));
        }
        if self.broadcast == Broadcast::Register {
            return Ok(());
        }
        if !limits.memory_broadcast {
            return Err(allowed("broadcast", "memory", "register on this target"));
        }
        if self.vector == Vector::Reduction || self.register[N] <= self.lanes {
            return Err(conflict("broadcast, register.n", "no element is multiplied with several vectors"));
        }
        Ok(())
    }

    fn check_threads(&self) -> Result<(), Illegal> {
        let workers = u64::from(self.workers);
        match self.threads {
            Threads::None => {}
            _ if self.workers < 2 => return Err(conflict("threads", "one worker has no loop to share")),
            Threads::Outer(axis) | Threads::Inner(axis) => {
                if self.extents[axis] <= self.register[axis] {
                    let message = format!("{} has one register tile: nothing to share", AXIS_NAMES[axis]);
                    return Err(conflict("threads, register", message));
                }
                if self.threads == Threads::Outer(axis)
                    && self.deal == Deal::Block
                    && self.tile[axis] < self.extents[axis]
                    && self.tile[axis] >= self.chunk(axis)
                {
                    let message = format!(
                        "a tile of {} is at least a thread's share: leave it whole",
                        AXIS_NAMES[axis]
                    );
                    return Err(conflict("tile, threads", message));
                }
                if self.threads == Threads::Outer(axis)
                    && self.deal == Deal::Cyclic
                    && self.tile[axis] == self.extents[axis]
                {
                    return Err(conflict("tile, deal", "one tile cannot be dealt in turn"));
                }
                if matches!(self.threads, Threads::Inner(_)) {
                    // A panel is packed inside the outer register loop by whoever runs it.
                    for side in [M, N] {
                        if self.pack[side] == Pack::Panel && self.inner[1] == axis {
                            return Err(conflict(
                                "pack, threads",
                                "a panel shared by threads is not supported",
                            ));
                        }
                    }
                }
            }
            Threads::Split => {}
        }
        if self.threads != Threads::Split && self.split != 1 {
            return Err(conflict("split.k, threads", "slices of the reduction are for threads=k"));
        }
        if self.threads == Threads::Split {
            if self.split < workers
                || !self.split.is_multiple_of(workers)
                || (self.split - 1) * self.slice() >= self.extents[K]
            {
                let wanted =
                    format!("a multiple of {workers} that leaves no slice of k={} empty", self.extents[K]);
                return Err(allowed("split.k", self.split, wanted));
            }
            if self.tile[K] < self.extents[K] && self.tile[K] >= self.slice() {
                return Err(conflict("tile.k, split.k", "a tile of k is at least a slice: leave it whole"));
            }
        }
        Ok(())
    }

    /// Elements of an axis that a thread gets when the axis is dealt in blocks.
    pub(super) fn chunk(&self, axis: usize) -> u64 {
        let tiles = self.extents[axis].div_ceil(self.register[axis]);
        tiles.div_ceil(u64::from(self.workers)) * self.register[axis]
    }

    /// Reduction steps of one slice.
    pub(super) fn slice(&self) -> u64 {
        self.extents[K].div_ceil(self.split).next_multiple_of(self.register[K])
    }
}
