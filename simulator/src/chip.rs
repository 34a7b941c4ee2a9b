//! What the model must know about a chip: one schema, every value with its kind and source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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

/// Why a text describes no chip.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ChipError {
    /// Not of the schema.
    #[error("cannot read the chip: {0}")]
    Syntax(String),
    /// A class that there is no model of.
    #[error("chip {chip}: class `{class}` has no model yet; known: cpu")]
    Class {
        /// The chip.
        chip: String,
        /// Its class.
        class: String,
    },
    /// A value that cannot be.
    #[error("chip {chip}: {key} is {found}, wanted {wanted}")]
    Value {
        /// The chip.
        chip: String,
        /// Which value.
        key: String,
        /// What it is.
        found: f64,
        /// What would do.
        wanted: &'static str,
    },
    /// A value whose source is not listed.
    #[error("chip {chip}: {key} names source `{src}`, which is not among its sources")]
    Source {
        /// The chip.
        chip: String,
        /// Which value.
        key: String,
        /// What it names.
        src: String,
    },
    /// Memory levels that make no hierarchy.
    #[error("chip {chip}: {problem}")]
    Levels {
        /// The chip.
        chip: String,
        /// What is wrong.
        problem: String,
    },
}

/// Most levels and translation buffers together.
pub(crate) const MOST_STORES: usize = 8;

impl Chip {
    /// Reads and checks a chip.
    ///
    /// # Errors
    /// When the text is not of the schema, or a value cannot be.
    pub fn from_toml(text: &str) -> Result<Self, ChipError> {
        let chip: Self = toml::from_str(text).map_err(|error| ChipError::Syntax(error.to_string()))?;
        chip.check()?;
        Ok(chip)
    }

    /// Whether every value is one that the model can compute with.
    ///
    /// # Errors
    /// Naming the first value that is not.
    pub fn check(&self) -> Result<(), ChipError> {
        if self.class != "cpu" {
            return Err(ChipError::Class { chip: self.id.clone(), class: self.class.clone() });
        }
        for (key, quantity, range) in self.quantities() {
            let (least, most, wanted) = range.bounds();
            if !(least..=most).contains(&quantity.v) {
                return Err(ChipError::Value { chip: self.id.clone(), key, found: quantity.v, wanted });
            }
            if quantity.kind != Kind::Assumed && !self.sources.contains_key(&quantity.src) {
                return Err(ChipError::Source { chip: self.id.clone(), key, src: quantity.src.clone() });
            }
        }
        self.check_levels()
            .map_err(|problem| ChipError::Levels { chip: self.id.clone(), problem })
    }

    fn check_levels(&self) -> Result<(), String> {
        let Some((memory, caches)) = self.levels.split_last() else {
            return Err("no memory level".to_owned());
        };
        if caches.is_empty() {
            return Err("no cache before memory".to_owned());
        }
        if let Some(bytes) = &memory.bytes {
            return Err(format!("the last level, {}, holds {} bytes, not everything", memory.name, bytes.v));
        }
        if let Some(level) = caches.iter().find(|level| level.bytes.is_none()) {
            return Err(format!("level {} has no size and is not the last", level.name));
        }
        if caches.len() + self.translations.len() > MOST_STORES {
            return Err(format!("more than {MOST_STORES} caches and translation buffers"));
        }
        Ok(())
    }

    /// Names of the values that nobody published.
    pub fn assumed(&self) -> Vec<String> {
        self.quantities().into_iter().filter(|(_, q, _)| q.kind == Kind::Assumed).map(|(key, ..)| key).collect()
    }

    /// Whether any value is one that nobody published.
    pub(crate) fn has_assumed(&self) -> bool {
        self.quantities().iter().any(|(_, quantity, _)| quantity.kind == Kind::Assumed)
    }

    /// All values with their names and ranges.
    fn quantities(&self) -> Vec<(String, &Quantity, Range)> {
        use Range::{Flag, Free, Positive};
        let Self { vectors, core, .. } = self;
        let mut all = vec![
            ("cores", &self.cores, Positive),
            ("clock_ghz", &self.clock_ghz, Positive),
            ("vectors.bytes", &vectors.bytes, Positive),
            ("vectors.registers", &vectors.registers, Positive),
            ("vectors.multiply_adds_per_cycle", &vectors.multiply_adds_per_cycle, Positive),
            ("vectors.multiply_add_latency", &vectors.multiply_add_latency, Positive),
            ("vectors.operations_per_cycle", &vectors.operations_per_cycle, Positive),
            ("vectors.shuffles_per_cycle", &vectors.shuffles_per_cycle, Positive),
            ("vectors.divide_cycles", &vectors.divide_cycles, Positive),
            ("vectors.loads_per_cycle", &vectors.loads_per_cycle, Positive),
            ("vectors.stores_per_cycle", &vectors.stores_per_cycle, Positive),
            ("vectors.masked_store_cycles", &vectors.masked_store_cycles, Positive),
            ("vectors.embedded_broadcast", &vectors.embedded_broadcast, Flag),
            ("core.dispatch_per_cycle", &core.dispatch_per_cycle, Positive),
            ("core.decode_per_cycle", &core.decode_per_cycle, Positive),
            ("core.decoded_operations", &core.decoded_operations, Positive),
            ("core.reorder_entries", &core.reorder_entries, Positive),
            ("core.misprediction_cycles", &core.misprediction_cycles, Free),
            ("core.forwarding_failure_cycles", &core.forwarding_failure_cycles, Free),
            ("core.outstanding_lines", &core.outstanding_lines, Positive),
            ("barrier_ns", &self.barrier_ns, Free),
        ]
        .into_iter()
        .map(|(key, quantity, range)| (key.to_owned(), quantity, range))
        .collect::<Vec<_>>();
        for level in &self.levels {
            let values = [
                ("bytes", level.bytes.as_ref(), Positive),
                ("line_bytes", Some(&level.line_bytes), Positive),
                ("ways", level.ways.as_ref(), Positive),
                ("bytes_per_cycle", Some(&level.bytes_per_cycle), Positive),
                ("bytes_per_cycle_all", level.bytes_per_cycle_all.as_ref(), Positive),
                ("latency_cycles", Some(&level.latency_cycles), Free),
            ];
            for (key, quantity, range) in values {
                all.extend(quantity.map(|quantity| (format!("level {}.{key}", level.name), quantity, range)));
            }
        }
        for translation in &self.translations {
            let values = [
                ("entries", &translation.entries, Positive),
                ("page_bytes", &translation.page_bytes, Positive),
                ("miss_cycles", &translation.miss_cycles, Free),
            ];
            for (key, quantity, range) in values {
                all.push((format!("translation {}.{key}", translation.name), quantity, range));
            }
        }
        all
    }
}

/// What a value may be.
#[derive(Debug, Clone, Copy)]
enum Range {
    Positive,
    Free,
    Flag,
}

impl Range {
    /// Least and greatest value; the greatest keeps all products of a simulation finite.
    fn bounds(self) -> (f64, f64, &'static str) {
        match self {
            Self::Positive => (1e-3, 1e15, "a number from 0.001 to 1e15"),
            Self::Free => (0.0, 1e15, "a number from 0 to 1e15"),
            Self::Flag => (0.0, 1.0, "0 or 1"),
        }
    }
}
