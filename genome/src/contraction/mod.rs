//! The space of the contraction family, derived from the iteration space and the target's limits.
//!
//! Genes stand in order of dependence: how lanes and threads are used, the register tile, cache tiles, the
//! order of loops, packing, rests, and the reduction loop. What a gene may be follows from the meaning that
//! `tilewright_ir::lower` gives its parameter, and a gene is active only where its value changes the program:
//!
//! | gene | values | active |
//! |---|---|---|
//! | `vector` | n, k | always |
//! | `threads`, `deal` | loops with enough iterations to share | with several workers; when shared |
//! | `register.n`, `.k`, `.m` | what the vector registers hold | `register.k` for `vector=k` |
//! | `split.k` | multiples of the workers | `threads=k` |
//! | `tile.m`, `.n`, `.k` | multiples of the register tile, or the whole axis | where there is a choice |
//! | `order` | orders of the cache-tile loops that exist | at least two exist |
//! | `inner` | nm, mn | both register-tile loops iterate |
//! | `pack.a`, `pack.b` | where copying is possible | always |
//! | `rest.m`, `.n`, `.k` | peel, mask, and pad where packed; `.n`: turn to lanes along k or m | some loop over the axis leaves a rest |
//! | `prefetch.pack` | at most what the packing loop iterates | an operand is packed |
//! | `unroll`, `prefetch.a`, `.b` | at most what the reduction loop iterates | it iterates |
//! | `prefetch.c` | 0, 1, and 2 where rows and the reduction can be cut into parts | always |
//! | `broadcast` | register, memory | an element is multiplied with several vectors, and the target can |

mod check;
mod facts;
mod rules;
mod tiles;
mod values;

use tilewright_ir::computation::Contraction;
use tilewright_ir::{Illegal, Limits};

use crate::error::SpaceError;
use crate::gene::Gene;
use crate::space::SearchSpace;
use facts::{INNERS, K, M, N, ORDERS, PACKS, RESTS, THREADS};
use rules::ContractionRules;

/// Positions of the genes.
mod position {
    pub(super) const VECTOR: usize = 0;
    pub(super) const THREADS: usize = 1;
    pub(super) const DEAL: usize = 2;
    pub(super) const REGISTER_N: usize = 3;
    pub(super) const REGISTER_K: usize = 4;
    pub(super) const REGISTER_M: usize = 5;
    pub(super) const SPLIT_K: usize = 6;
    /// Of the rows; columns and reduction follow.
    pub(super) const TILE: usize = 7;
    pub(super) const ORDER: usize = 10;
    pub(super) const INNER: usize = 11;
    /// Of the left factor; the right one follows.
    pub(super) const PACK: usize = 12;
    pub(super) const PREFETCH_PACK: usize = 14;
    /// Of the rows; columns and reduction follow.
    pub(super) const REST: usize = 15;
    pub(super) const UNROLL: usize = 18;
    /// Of the left factor; the right one follows.
    pub(super) const PREFETCH: usize = 19;
    pub(super) const PREFETCH_OUTPUT: usize = 21;
    pub(super) const BROADCAST: usize = 22;
}

/// Copies of the reduction's body.
const UNROLLS: [u64; 5] = [1, 2, 4, 8, 16];
/// Prefetch distances in iterations of the reduction loop; 0: none.
const DISTANCES: [u64; 8] = [0, 1, 2, 4, 8, 16, 32, 64];
/// Prefetch distances in packing instructions; 0: none.
const PACK_DISTANCES: [u64; 5] = [0, 1, 2, 4, 8];

/// Share of random tiles that cover their axis: few loops are often right, and always for small problems.
const WHOLE: f64 = 0.25;

/// The space of a contraction on a target.
pub(crate) fn space(contraction: &Contraction, limits: &Limits) -> Result<SearchSpace, SpaceError> {
    let lanes = limits.lanes(contraction.accumulator.block().bytes);
    if lanes == 0 || contraction.axes.len() != 3 {
        let what = format!("vectors of {} bytes, {} axes", limits.vector_bytes, contraction.axes.len());
        return Err(SpaceError::Illegal(Illegal::Unsupported { target: limits.target.clone(), what }));
    }
    let extents = [M, N, K].map(|axis| contraction.axes[axis].extent);
    let registers = u64::from(limits.vector_registers);
    let names = |list: &[&'static str]| list.to_vec();
    let threads: Vec<&str> = THREADS.iter().map(|choice| choice.0).collect();
    let orders: Vec<&str> = ORDERS.iter().map(|choice| choice.0).collect();
    let inners: Vec<&str> = INNERS.iter().map(|choice| choice.0).collect();
    let packs: Vec<&str> = PACKS.iter().map(|choice| choice.0).collect();
    let tile = |name, axis: usize| {
        Gene::ordered(name, "tile", values::tile_counts(extents[axis])).logarithmic(WHOLE)
    };
    let genes = vec![
        Gene::categorical("vector", "register", &names(&["n", "k"])),
        Gene::categorical("threads", "threads", &threads),
        Gene::categorical("deal", "threads", &names(&["block", "cyclic"])),
        Gene::ordered("register.n", "register", values::columns(extents[N], lanes, registers)),
        Gene::ordered("register.k", "register", values::vectors(extents[K], lanes, registers)),
        Gene::ordered("register.m", "register", values::rows(extents[M], registers)),
        Gene::ordered("split.k", "threads", values::slices(u64::from(limits.workers))).logarithmic(0.0),
        tile("tile.m", M),
        tile("tile.n", N),
        tile("tile.k", K),
        Gene::categorical("order", "order", &orders),
        Gene::categorical("inner", "order", &inners),
        Gene::categorical("pack.a", "pack", &packs),
        Gene::categorical("pack.b", "pack", &packs),
        Gene::ordered("prefetch.pack", "pack", PACK_DISTANCES.to_vec()),
        Gene::categorical("rest.m", "rest", &RESTS[..3]),
        Gene::categorical("rest.n", "rest", &RESTS),
        Gene::categorical("rest.k", "rest", &RESTS[..3]),
        Gene::ordered("unroll", "reduction", UNROLLS.to_vec()),
        Gene::ordered("prefetch.a", "reduction", DISTANCES.to_vec()),
        Gene::ordered("prefetch.b", "reduction", DISTANCES.to_vec()),
        Gene::ordered("prefetch.c", "reduction", vec![0, 1, 2]),
        Gene::categorical("broadcast", "reduction", &names(&["register", "memory"])),
    ];
    let rules = ContractionRules::new(contraction, limits, &genes);
    SearchSpace::from_rules(genes, rules)
}

#[cfg(test)]
mod tests;
