/// Number of an axis: rows of the output, its columns, the reduction.
pub(super) const M: usize = 0;
pub(super) const N: usize = 1;
pub(super) const K: usize = 2;

/// Which loop is dealt to threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Threads {
    None,
    /// The cache-tile loop of an axis.
    Outer(usize),
    /// The register-tile loop of an axis.
    Inner(usize),
    /// Slices of the reduction.
    Split,
}

/// The choices of the gene `threads`, in order of their indices.
pub(super) const THREADS: [(&str, Threads); 6] = [
    ("none", Threads::None),
    ("m.outer", Threads::Outer(M)),
    ("n.outer", Threads::Outer(N)),
    ("m.inner", Threads::Inner(M)),
    ("n.inner", Threads::Inner(N)),
    ("k", Threads::Split),
];

/// Where an operand is packed, in order of the indices of the genes `pack.a` and `pack.b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pack {
    None,
    Panel,
    Tile,
    Whole,
}

/// The choices of the genes `pack.a` and `pack.b`.
pub(super) const PACKS: [(&str, Pack); 4] =
    [("none", Pack::None), ("panel", Pack::Panel), ("tile", Pack::Tile), ("whole", Pack::Whole)];

/// The choices of the gene `rest.n`; those of `rest.m` and `rest.k` are the first three.
pub(super) const RESTS: [&str; 4] = ["peel", "mask", "pad", "turn"];
/// Index of `peel` in [`RESTS`].
pub(super) const PEEL: u16 = 0;
/// Index of `mask` in [`RESTS`].
pub(super) const MASK: u16 = 1;
/// Index of `pad` in [`RESTS`].
pub(super) const PAD: u16 = 2;
/// Index of `turn` in [`RESTS`].
pub(super) const TURN: u16 = 3;

/// The choices of the gene `order`, and the axes they name.
pub(super) const ORDERS: [(&str, [usize; 3]); 6] = [
    ("nkm", [N, K, M]),
    ("mnk", [M, N, K]),
    ("mkn", [M, K, N]),
    ("nmk", [N, M, K]),
    ("kmn", [K, M, N]),
    ("knm", [K, N, M]),
];

/// The choices of the gene `inner`, and the axes they name.
pub(super) const INNERS: [(&str, [usize; 2]); 2] = [("nm", [N, M]), ("mn", [M, N])];

/// What later genes ask of earlier ones. What is no longer asked for is reset, so that beginnings with the
/// same continuations are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each named after its question")]
pub(crate) struct Facts {
    /// Lanes run along the reduction instead of the columns.
    pub(super) lanes_along_k: bool,
    pub(super) threads: Threads,
    pub(super) cyclic: bool,
    /// Register tile; 0 once its cache tile is known.
    pub(super) register: [u64; 3],
    /// Slices of the reduction; 1 once its cache tile is known.
    pub(super) split: u64,
    /// The cache tile covers its axis.
    pub(super) whole: [bool; 3],
    /// The register-tile loop of rows, of columns has more than one iteration in a full cache tile.
    pub(super) several: [bool; 2],
    /// Some loop over the axis leaves a rest.
    pub(super) rest: [bool; 3],
    /// One register tile covers the axis: its rest is known, so that masking it is peeling it.
    pub(super) alone: [bool; 3],
    /// The last slice of the reduction is shorter: how much is left is not known when the program is made.
    pub(super) ragged: bool,
    /// The loop that packs a cache tile leaves a rest along the reduction.
    pub(super) copy_rest: bool,
    /// Full iterations of the reduction loop, rounded down to a power of two, at most [`MOST_STEPS`].
    pub(super) steps: u64,
    /// Most copies of the reduction's body that the target's limit on instructions leaves room for.
    pub(super) room: u64,
    /// The outer one of the register-tile loops, where their order matters.
    pub(super) outer: Option<usize>,
    pub(super) packs: [Pack; 2],
    /// Columns behind the last full register tile can be computed with lanes along another axis.
    pub(super) turns: bool,
    /// A register tile has more than one row.
    pub(super) rows_to_cut: bool,
    /// Elements of the left factor are multiplied with more than one vector, and may come from memory.
    pub(super) shares_elements: bool,
}

/// More iterations of the reduction loop make no difference to any gene.
pub(super) const MOST_STEPS: u64 = 128;

impl Facts {
    pub(super) const START: Self = Self {
        lanes_along_k: false,
        threads: Threads::None,
        cyclic: false,
        register: [0; 3],
        split: 1,
        whole: [true; 3],
        several: [false; 2],
        rest: [false; 3],
        alone: [false; 3],
        ragged: false,
        copy_rest: false,
        steps: 1,
        room: 1,
        outer: None,
        packs: [Pack::None; 2],
        turns: false,
        rows_to_cut: false,
        shares_elements: false,
    };

    /// Whether the axis has a cache-tile loop.
    pub(super) fn looped(&self, axis: usize) -> bool {
        !self.whole[axis] || self.threads == Threads::Outer(axis)
    }
}
