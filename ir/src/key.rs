//! Under which name results of a workload are kept and found again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::workload::Workload;

/// Whether a launch finds its operands in cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// Launches follow one another on the same operands.
    Warm,
    /// Operands are evicted from every cache before each launch.
    Cold,
}

impl fmt::Display for CacheState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
        })
    }
}

/// All that must be equal for two measurements to be of the same thing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkloadKey {
    /// What is computed, in canonical form.
    pub workload: Workload,
    /// Fingerprint of the device that computes it.
    pub target: String,
    /// Worker threads, at least 1.
    pub threads: u32,
    /// State of the caches before a launch.
    pub cache: CacheState,
}

impl fmt::Display for WorkloadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, target, threads, cache } = self;
        write!(f, "{workload} threads={threads} cache={cache} target={target}")
    }
}
