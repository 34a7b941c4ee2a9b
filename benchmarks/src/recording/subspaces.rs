/// Values of a gene that a sub-space keeps, from the gene's own list (cache tiles count register tiles; the axis'
/// extent stands for the whole axis).
#[derive(Debug, Clone, Copy)]
pub enum Kept {
    /// These numbers.
    Numbers(&'static [u64]),
    /// These choices.
    Choices(&'static [&'static str]),
    /// Everything.
    All,
}

/// A part of a workload's space that is small enough to be measured whole. Genes that are not named keep their
/// first legal value: lanes along the columns, one thread, no prefetch, rests peeled, one register tile a cache tile.
#[derive(Debug, Clone, Copy)]
pub struct SubSpace {
    /// Its name, and that of its file.
    pub name: &'static str,
    /// What is computed, with one thread and warm caches.
    pub workload: &'static str,
    /// Genes that vary.
    pub genes: &'static [(&'static str, Kept)],
}

use Kept::{All, Choices, Numbers};

const PACKED: Kept = Choices(&["none", "tile"]);
const ORDERS: Kept = Choices(&["nkm", "mnk", "kmn"]);

/// All sub-spaces; the last is for tests.
pub const SUBSPACES: [SubSpace; 4] = [
    SubSpace {
        name: "matmul-64x64x64",
        workload: "matmul:m=64,n=64,k=64,dtype=f32",
        genes: &[
            ("register.n", Numbers(&[8, 16, 24, 32])),
            ("register.m", Numbers(&[1, 2, 3, 4, 5, 6, 8, 10, 12])),
            ("tile.m", Numbers(&[1, 2, 4, 64])),
            ("tile.n", Numbers(&[1, 2, 64])),
            ("tile.k", Numbers(&[16, 32, 64])),
            ("order", ORDERS),
            ("inner", All),
            ("pack.a", PACKED),
            ("pack.b", PACKED),
            ("unroll", Numbers(&[1, 2, 4])),
            ("broadcast", All),
        ],
    },
    SubSpace {
        name: "matmul-96x128x64",
        workload: "matmul:m=96,n=128,k=64,dtype=f32",
        genes: &[
            ("register.n", Numbers(&[8, 16, 24, 32])),
            ("register.m", Numbers(&[1, 2, 3, 4, 6, 8, 12])),
            ("tile.m", Numbers(&[1, 2, 4, 96])),
            ("tile.n", Numbers(&[1, 2, 128])),
            ("tile.k", Numbers(&[16, 32, 64])),
            ("order", ORDERS),
            ("inner", All),
            ("pack.a", PACKED),
            ("pack.b", PACKED),
            ("unroll", Numbers(&[1, 2, 4])),
            ("broadcast", All),
        ],
    },
    SubSpace {
        name: "matmul-48x256x128",
        workload: "matmul:m=48,n=256,k=128,dtype=f32",
        genes: &[
            ("register.n", Numbers(&[8, 16, 24, 32])),
            ("register.m", Numbers(&[1, 2, 3, 4, 6, 8, 12])),
            ("tile.m", Numbers(&[1, 2, 4, 48])),
            ("tile.n", Numbers(&[1, 2, 256])),
            ("tile.k", Numbers(&[32, 64, 128])),
            ("order", ORDERS),
            ("inner", All),
            ("pack.a", PACKED),
            ("pack.b", PACKED),
            ("unroll", Numbers(&[1, 2, 4])),
            ("broadcast", All),
        ],
    },
    SubSpace {
        name: "matmul-tiny",
        workload: "matmul:m=12,n=16,k=20,dtype=f32",
        genes: &[
            ("register.n", Numbers(&[8, 16])),
            ("register.m", Numbers(&[1, 2, 3, 5])),
            ("tile.k", Numbers(&[20])),
            ("pack.b", PACKED),
            ("unroll", Numbers(&[1, 2])),
        ],
    },
];

/// The sub-space of that name.
pub fn subspace(name: &str) -> Option<SubSpace> {
    SUBSPACES.into_iter().find(|space| space.name == name)
}
