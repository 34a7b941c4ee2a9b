use tilewright_ir::computation::Contraction;
use tilewright_ir::{Limits, ScheduleValue};

use super::facts::{Facts, INNERS, K, M, N, PACKS, Pack, THREADS, Threads};
use super::position::{
    BROADCAST, DEAL, INNER, ORDER, PACK, PREFETCH, PREFETCH_PACK, REGISTER_K, REGISTER_M, REGISTER_N, REST,
    SPLIT_K, THREADS as SHARED, TILE, UNROLL, VECTOR,
};
use crate::gene::{Gene, Values};
use crate::refusal::Refusal;
use crate::rules::Rules;

/// What is legal for one contraction on one target.
#[derive(Debug)]
pub(crate) struct ContractionRules {
    pub(super) extents: [u64; 3],
    pub(super) lanes: u64,
    pub(super) registers: u32,
    pub(super) workers: u64,
    pub(super) body_instructions: u32,
    pub(super) memory_broadcast: bool,
    pub(super) workspace_bytes: u64,
    /// Bytes that packing the whole left, the whole right factor takes.
    pub(super) packed_bytes: [u64; 2],
    /// Bytes of one slice's partial sums.
    pub(super) partial_bytes: u64,
    /// Whether the left, the right factor is contiguous along the reduction.
    pub(super) contiguous_along_k: [bool; 2],
    /// Whether the left factor is contiguous along the rows, the right one along the columns.
    pub(super) contiguous_outwards: [bool; 2],
    /// Values of the numeric genes, by position of the gene.
    pub(super) numbers: Vec<Vec<u64>>,
}

impl ContractionRules {
    pub(super) fn new(contraction: &Contraction, limits: &Limits, genes: &[Gene]) -> Self {
        let extents = [M, N, K].map(|axis| contraction.axes[axis].extent);
        let factors = [&contraction.operands[contraction.left], &contraction.operands[contraction.right]];
        let accumulator = contraction.accumulator;
        Self {
            extents,
            lanes: limits.lanes(accumulator.block().bytes),
            registers: limits.vector_registers,
            workers: u64::from(limits.workers.max(1)),
            body_instructions: limits.body_instructions,
            memory_broadcast: limits.memory_broadcast,
            workspace_bytes: limits.workspace_bytes,
            packed_bytes: [M, N].map(|side| factors[side].data_type.bytes(extents[side] * extents[K])),
            partial_bytes: accumulator.bytes(extents[M] * extents[N]),
            contiguous_along_k: factors.map(|factor| factor.stride_of(K) == 1),
            contiguous_outwards: [M, N].map(|side| factors[side].stride_of(side) == 1),
            numbers: genes
                .iter()
                .map(|gene| match &gene.values {
                    Values::Ordered(numbers) => numbers.clone(),
                    Values::Categorical(_) => Vec::new(),
                })
                .collect(),
        }
    }

    pub(super) fn number(&self, gene: usize, index: u16) -> u64 {
        self.numbers[gene][usize::from(index)]
    }

    /// Elements of the cache tile at an index: so many register tiles, or the whole axis for the last one.
    pub(super) fn tile(&self, axis: usize, index: u16, facts: &Facts) -> u64 {
        let counts = &self.numbers[TILE + axis];
        if usize::from(index) + 1 == counts.len() {
            return self.extents[axis];
        }
        counts[usize::from(index)].saturating_mul(facts.register[axis].max(1)).min(self.extents[axis])
    }

    /// Fewest columns, rows or reduction steps of a register tile.
    pub(super) fn least_register(&self, axis: usize, facts: &Facts) -> u64 {
        let lanes_along = if facts.lanes_along_k { K } else { N };
        if axis == lanes_along { self.lanes } else { 1 }
    }

    /// Whether packing leaves a rest along the reduction, given where the factors are packed.
    fn packing_leaves_rest(&self, facts: &Facts) -> bool {
        let packed = |wanted: &[Pack]| facts.packs.iter().any(|pack| wanted.contains(pack));
        let whole = !facts.lanes_along_k && !self.extents[K].is_multiple_of(self.copy_steps(self.extents[K]));
        (facts.copy_rest && packed(&[Pack::Panel, Pack::Tile])) || (whole && packed(&[Pack::Whole]))
    }
}

impl Rules for ContractionRules {
    type Facts = Facts;

    fn start(&self) -> Facts {
        Facts::START
    }

    fn active(&self, gene: usize, facts: &Facts) -> bool {
        match gene {
            SHARED => self.workers > 1,
            DEAL => facts.threads != Threads::None,
            REGISTER_K => facts.lanes_along_k,
            SPLIT_K => facts.threads == Threads::Split,
            // A dealt cache-tile loop exists even where the tile is the only one: its tile stays a choice.
            gene if (TILE..TILE + 3).contains(&gene) => {
                self.extents[gene - TILE] > facts.register[gene - TILE].max(1)
            }
            ORDER => [M, N, K].into_iter().filter(|&axis| facts.looped(axis)).count() > 1,
            INNER => facts.several == [true; 2],
            gene if gene == REST + K => facts.rest[K] || self.packing_leaves_rest(facts),
            gene if (REST..REST + K).contains(&gene) => facts.rest[gene - REST],
            UNROLL | PREFETCH => facts.steps > 1,
            gene if gene == PREFETCH + 1 => facts.steps > 1,
            PREFETCH_PACK => facts.packs != [Pack::None; 2],
            BROADCAST => facts.shares_elements,
            _ => true,
        }
    }

    fn check(&self, gene: usize, index: u16, facts: &Facts) -> Result<(), Refusal<'_>> {
        self.check_gene(gene, index, facts)
    }

    fn note(&self, gene: usize, index: u16, facts: &mut Facts) {
        match gene {
            VECTOR => facts.lanes_along_k = index == 1,
            SHARED => facts.threads = THREADS[usize::from(index)].1,
            DEAL => facts.cyclic = index == 1,
            REGISTER_N => facts.register[N] = self.number(gene, index),
            REGISTER_K => facts.register[K] = if facts.lanes_along_k { self.number(gene, index) } else { 1 },
            REGISTER_M => {
                facts.register[M] = self.number(gene, index);
                facts.room = self.room(facts);
                facts.turns = self.turns(facts);
                facts.rows_to_cut = facts.register[M] > 1;
                facts.shares_elements =
                    self.memory_broadcast && !facts.lanes_along_k && facts.register[N] > self.lanes;
            }
            SPLIT_K if facts.threads == Threads::Split => facts.split = self.number(gene, index),
            gene if (TILE..TILE + 3).contains(&gene) => {
                let axis = gene - TILE;
                let tile =
                    if self.active(gene, facts) { self.tile(axis, index, facts) } else { self.extents[axis] };
                self.note_tile(axis, tile, facts);
            }
            INNER if facts.several == [true; 2] => facts.outer = Some(INNERS[usize::from(index)].1[0]),
            gene if gene == PACK || gene == PACK + 1 => {
                facts.packs[gene - PACK] = PACKS[usize::from(index)].1;
                if gene == PACK + 1 {
                    facts.threads = Threads::None;
                    facts.outer = None;
                    facts.several = [false; 2];
                }
            }
            gene if gene == REST + N => facts.turns = false,
            // Only the reduction loop is left.
            gene if gene == REST + K => {
                *facts = Facts {
                    steps: facts.steps,
                    room: facts.room,
                    rows_to_cut: facts.rows_to_cut,
                    shares_elements: facts.shares_elements,
                    ..Facts::START
                };
            }
            UNROLL => facts.room = 1,
            _ => {}
        }
    }

    fn parameter(&self, genes: &[Gene], gene: usize, index: u16, facts: &Facts) -> ScheduleValue {
        if (TILE..TILE + 3).contains(&gene) {
            return ScheduleValue::Number(self.tile(gene - TILE, index, facts));
        }
        genes[gene].value(index).expect("invariant: the index is inside the list")
    }

    /// The meanings that lowering gives to absent parameters.
    fn default(&self, gene: usize, facts: &Facts) -> Option<ScheduleValue> {
        let name = |text: &str| ScheduleValue::Name(text.to_owned());
        let number = ScheduleValue::Number;
        Some(match gene {
            VECTOR => name("n"),
            SHARED | PACK => name("none"),
            BROADCAST => name("register"),
            DEAL => name("block"),
            REGISTER_N => number(self.least_register(N, facts)),
            REGISTER_K => number(self.least_register(K, facts)),
            SPLIT_K => number(if facts.threads == Threads::Split { self.workers } else { 1 }),
            gene if (TILE..TILE + 3).contains(&gene) => number(self.extents[gene - TILE]),
            ORDER => name("nkm"),
            INNER => name("nm"),
            gene if gene == PACK + 1 => name("none"),
            gene if (REST..REST + 3).contains(&gene) => name("peel"),
            REGISTER_M | UNROLL => number(1),
            _ => number(0),
        })
    }
}
