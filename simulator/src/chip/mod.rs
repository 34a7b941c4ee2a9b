//! What the model must know about a chip: one schema, every value with its kind and source.

mod check;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use check::ChipError;

/// Most caches and translation buffers together.
pub(crate) const MOST_STORES: usize = 8;

/// How a value came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Published by the maker.
    Vendor,
    /// Published by somebody else.
    Secondary,
    /// Computed from other values.
    Derived,
    /// Measured on the chip.
    Measured,
    /// Nobody published it: whatever is computed from it is illustrative.
    Assumed,
}

/// A number with its origin; written `{ v = 32, kind = "vendor", src = "name of a source" }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// The value, in the unit that its field names.
    pub v: f64,
    /// How it came to be known.
    pub kind: Kind,
    /// Key of [`Chip::sources`], or for an assumed value the reason.
    pub src: String,
}

/// A chip of one kind of core with caches between it and memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    /// Short name, that of its file.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Processor class; `cpu` is the only one so far.
    pub class: String,
    /// Documents and measurements that values refer to, by key.
    pub sources: BTreeMap<String, String>,
    /// Processors that this file describes, as CPUID names them; empty for none.
    #[serde(default)]
    pub processors: Vec<Processors>,
    /// Cores that a program may use.
    pub cores: Quantity,
    /// Clock under vector load, GHz.
    pub clock_ghz: Quantity,
    /// Vector units of a core.
    pub vectors: Vectors,
    /// Pipeline of a core.
    pub core: Core,
    /// Caches and memory, nearest first; the last one holds everything.
    #[serde(rename = "level")]
    pub levels: Vec<Level>,
    /// Buffers of address translations, nearest first.
    #[serde(rename = "translation", default)]
    pub translations: Vec<Translation>,
    /// One barrier of all cores, nanoseconds.
    pub barrier_ns: Quantity,
}

/// A family of processors with a range of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processors {
    /// As CPUID gives it, such as `AuthenticAMD`.
    pub vendor: String,
    /// Family, extended part included.
    pub family: u32,
    /// First and last model, extended part included.
    pub models: (u32, u32),
}

/// Vector units of a core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vectors {
    /// Bytes of a vector register that programs use.
    pub bytes: Quantity,
    /// Registers that programs can name.
    pub registers: Quantity,
    /// Fused multiply-adds of full vectors that start in a cycle.
    pub multiply_adds_per_cycle: Quantity,
    /// Cycles from a multiply-add to one that needs its sum.
    pub multiply_add_latency: Quantity,
    /// Vector operations of any kind that start in a cycle.
    pub operations_per_cycle: Quantity,
    /// Shuffles of full vectors that start in a cycle.
    pub shuffles_per_cycle: Quantity,
    /// Cycles that the divider is busy with one full vector.
    pub divide_cycles: Quantity,
    /// Loads of full vectors in a cycle.
    pub loads_per_cycle: Quantity,
    /// Stores of full vectors in a cycle.
    pub stores_per_cycle: Quantity,
    /// Cycles of one store that leaves lanes out.
    pub masked_store_cycles: Quantity,
    /// Whether a multiply-add can take one element from memory for all its lanes (1) or not (0).
    pub embedded_broadcast: Quantity,
}

/// Pipeline of a core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Operations that enter the out-of-order part in a cycle.
    pub dispatch_per_cycle: Quantity,
    /// Instructions decoded in a cycle when they are not in the cache of decoded operations.
    pub decode_per_cycle: Quantity,
    /// Operations that the cache of decoded operations holds.
    pub decoded_operations: Quantity,
    /// Operations in flight.
    pub reorder_entries: Quantity,
    /// Cycles lost by a branch that was foreseen wrongly.
    pub misprediction_cycles: Quantity,
    /// Cycles that a load waits when several narrower stores before it wrote what it reads.
    pub forwarding_failure_cycles: Quantity,
    /// Lines that a core can wait for at once.
    pub outstanding_lines: Quantity,
}

/// Who uses one instance of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// One instance each core.
    Core,
    /// One instance for all cores.
    Chip,
}

/// A cache, or memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// `L1`, `L2`, `L3`, `memory`.
    pub name: String,
    /// Bytes of one instance; absent for memory, which holds everything.
    pub bytes: Option<Quantity>,
    /// Bytes of a line.
    pub line_bytes: Quantity,
    /// Ways; absent where addresses are spread so that conflicts are rare.
    pub ways: Option<Quantity>,
    /// Bytes a cycle from here to one core.
    pub bytes_per_cycle: Quantity,
    /// Bytes a cycle from here to all cores together; absent: each has its own.
    pub bytes_per_cycle_all: Option<Quantity>,
    /// Cycles from a load that is served here to its use.
    pub latency_cycles: Quantity,
    /// Who uses one instance.
    pub sharing: Sharing,
}

/// A buffer of address translations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translation {
    /// For people.
    pub name: String,
    /// Pages that it knows.
    pub entries: Quantity,
    /// Bytes of a page.
    pub page_bytes: Quantity,
    /// Cycles that a miss here takes, served by the next buffer or by a walk.
    pub miss_cycles: Quantity,
}
