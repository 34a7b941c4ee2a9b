//! Reading a chip, and refusing one that the model cannot compute with.

use super::{Chip, Kind, MOST_STORES, Quantity};

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
        let mut wrong = None;
        self.visit(&mut |group, key, quantity, range| {
            if wrong.is_none() {
                wrong = self.problem(group, key, quantity, range);
            }
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        self.check_levels().map_err(|problem| ChipError::Levels { chip: self.id.clone(), problem })
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

    fn problem(&self, group: &str, key: &str, quantity: &Quantity, range: Range) -> Option<ChipError> {
        let (chip, key) = (self.id.clone(), format!("{group}{key}"));
        let (least, most, wanted) = range.bounds();
        if !(least..=most).contains(&quantity.v) {
            return Some(ChipError::Value { chip, key, found: quantity.v, wanted });
        }
        let listed = quantity.kind == Kind::Assumed || self.sources.contains_key(&quantity.src);
        (!listed).then(|| ChipError::Source { chip, key, src: quantity.src.clone() })
    }

    /// Names of the values that nobody published.
    pub fn assumed(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.visit(&mut |group, key, quantity, _| {
            if quantity.kind == Kind::Assumed {
                names.push(format!("{group}{key}"));
            }
        });
        names
    }

    /// Whether any value is one that nobody published.
    pub(crate) fn has_assumed(&self) -> bool {
        let mut found = false;
        self.visit(&mut |_, _, quantity, _| found |= quantity.kind == Kind::Assumed);
        found
    }

    /// Calls `see` with the group (with its separator), name, value and range of every value.
    fn visit<'a>(&'a self, see: &mut dyn FnMut(&str, &str, &'a Quantity, Range)) {
        use Range::{Flag, Free, Positive};
        let Self { vectors, core, .. } = self;
        see("", "cores", &self.cores, Positive);
        see("", "clock_ghz", &self.clock_ghz, Positive);
        see("", "barrier_ns", &self.barrier_ns, Free);
        for (key, quantity) in [
            ("bytes", &vectors.bytes),
            ("registers", &vectors.registers),
            ("multiply_adds_per_cycle", &vectors.multiply_adds_per_cycle),
            ("multiply_add_latency", &vectors.multiply_add_latency),
            ("operations_per_cycle", &vectors.operations_per_cycle),
            ("shuffles_per_cycle", &vectors.shuffles_per_cycle),
            ("divide_cycles", &vectors.divide_cycles),
            ("loads_per_cycle", &vectors.loads_per_cycle),
            ("stores_per_cycle", &vectors.stores_per_cycle),
            ("masked_store_cycles", &vectors.masked_store_cycles),
        ] {
            see("vectors.", key, quantity, Positive);
        }
        see("vectors.", "embedded_broadcast", &vectors.embedded_broadcast, Flag);
        for (key, quantity, range) in [
            ("dispatch_per_cycle", &core.dispatch_per_cycle, Positive),
            ("decode_per_cycle", &core.decode_per_cycle, Positive),
            ("decoded_operations", &core.decoded_operations, Positive),
            ("reorder_entries", &core.reorder_entries, Positive),
            ("misprediction_cycles", &core.misprediction_cycles, Free),
            ("forwarding_failure_cycles", &core.forwarding_failure_cycles, Free),
            ("outstanding_lines", &core.outstanding_lines, Positive),
        ] {
            see("core.", key, quantity, range);
        }
        for level in &self.levels {
            for (key, quantity, range) in [
                ("bytes", level.bytes.as_ref(), Positive),
                ("line_bytes", Some(&level.line_bytes), Positive),
                ("ways", level.ways.as_ref(), Positive),
                ("bytes_per_cycle", Some(&level.bytes_per_cycle), Positive),
                ("bytes_per_cycle_all", level.bytes_per_cycle_all.as_ref(), Positive),
                ("latency_cycles", Some(&level.latency_cycles), Free),
            ] {
                if let Some(quantity) = quantity {
                    see("level.", key, quantity, range);
                }
            }
        }
        for translation in &self.translations {
            see("translation.", "entries", &translation.entries, Positive);
            see("translation.", "page_bytes", &translation.page_bytes, Positive);
            see("translation.", "miss_cycles", &translation.miss_cycles, Free);
        }
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
