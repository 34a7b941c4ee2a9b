//! The chip as plain numbers in the units of the model: cycles, bytes a cycle, lines.

use crate::chip::{Chip, Sharing};

/// A cache or a translation buffer: something with capacity that reuse may find full.
#[derive(Debug, Clone)]
pub(super) struct Store {
    /// Bytes that it covers.
    pub(super) bytes: f64,
    /// Bytes of a line or page.
    pub(super) line: f64,
    /// Sets and ways, where conflicts matter.
    pub(super) sets: Option<(f64, f64)>,
}

/// What serves the misses of the store of the same number.
#[derive(Debug, Clone)]
pub(super) struct Supply {
    /// Name of the level that serves.
    pub(super) level: String,
    /// Cycles for one line when many are on their way.
    pub(super) cycles_per_line: f64,
    /// Cycles that one line takes to come.
    pub(super) latency: f64,
}

/// Plain numbers; fields are named as those of the chip.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) clock_ghz: f64,
    pub(super) vector_bytes: f64,
    pub(super) vector_registers: f64,
    pub(super) multiply_adds_per_cycle: f64,
    pub(super) multiply_add_latency: f64,
    pub(super) operations_per_cycle: f64,
    pub(super) shuffles_per_cycle: f64,
    pub(super) divide_cycles: f64,
    pub(super) loads_per_cycle: f64,
    pub(super) stores_per_cycle: f64,
    pub(super) masked_store_cycles: f64,
    pub(super) embedded_broadcast: bool,
    pub(super) dispatch_per_cycle: f64,
    pub(super) decode_per_cycle: f64,
    pub(super) decoded_operations: f64,
    pub(super) reorder_entries: f64,
    pub(super) misprediction_cycles: f64,
    pub(super) forwarding_failure_cycles: f64,
    pub(super) outstanding_lines: f64,
    /// Latency of the first level.
    pub(super) load_latency: f64,
    /// Caches, nearest first, then translation buffers.
    pub(super) stores: Vec<Store>,
    /// Number of caches among `stores`.
    pub(super) caches: usize,
    /// One for each cache: the next level.
    pub(super) supplies: Vec<Supply>,
    /// One for each translation buffer: cycles of a miss.
    pub(super) translation_cycles: Vec<f64>,
    pub(super) barrier_cycles: f64,
}

impl Machine {
    /// `workers` share what the chip has once.
    pub(super) fn new(chip: &Chip, workers: f64) -> Self {
        let (vectors, core) = (&chip.vectors, &chip.core);
        let caches = chip.levels.len().saturating_sub(1);
        let mut stores: Vec<Store> = chip.levels[..caches]
            .iter()
            .map(|level| {
                let bytes = level.bytes.as_ref().map_or(f64::INFINITY, |bytes| bytes.v);
                let line = level.line_bytes.v;
                let sets = level.ways.as_ref().map(|ways| ((bytes / line / ways.v).max(1.0), ways.v));
                Store { bytes, line, sets }
            })
            .collect();
        stores.extend(chip.translations.iter().map(|translation| {
            let line = translation.page_bytes.v;
            Store { bytes: translation.entries.v * line, line, sets: None }
        }));
        let supplies = chip.levels[1..]
            .iter()
            .zip(&chip.levels)
            .map(|(from, to)| {
                let all = from.bytes_per_cycle_all.as_ref().filter(|_| from.sharing == Sharing::Chip);
                let share = all.map_or(f64::INFINITY, |all| all.v / workers);
                Supply {
                    level: from.name.clone(),
                    cycles_per_line: to.line_bytes.v / from.bytes_per_cycle.v.min(share),
                    latency: from.latency_cycles.v,
                }
            })
            .collect();
        Self {
            clock_ghz: chip.clock_ghz.v,
            vector_bytes: vectors.bytes.v,
            vector_registers: vectors.registers.v,
            multiply_adds_per_cycle: vectors.multiply_adds_per_cycle.v,
            multiply_add_latency: vectors.multiply_add_latency.v,
            operations_per_cycle: vectors.operations_per_cycle.v,
            shuffles_per_cycle: vectors.shuffles_per_cycle.v,
            divide_cycles: vectors.divide_cycles.v,
            loads_per_cycle: vectors.loads_per_cycle.v,
            stores_per_cycle: vectors.stores_per_cycle.v,
            masked_store_cycles: vectors.masked_store_cycles.v,
            embedded_broadcast: vectors.embedded_broadcast.v > 0.5,
            dispatch_per_cycle: core.dispatch_per_cycle.v,
            decode_per_cycle: core.decode_per_cycle.v,
            decoded_operations: core.decoded_operations.v,
            reorder_entries: core.reorder_entries.v,
            misprediction_cycles: core.misprediction_cycles.v,
            forwarding_failure_cycles: core.forwarding_failure_cycles.v,
            outstanding_lines: core.outstanding_lines.v,
            load_latency: chip.levels[0].latency_cycles.v,
            stores,
            caches,
            supplies,
            translation_cycles: chip.translations.iter().map(|t| t.miss_cycles.v).collect(),
            barrier_cycles: chip.barrier_ns.v * chip.clock_ghz.v,
        }
    }
}
