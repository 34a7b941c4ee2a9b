//! What a simulation says.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a program spends time on. Those of the core come first, then levels by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Multiply-add units.
    MultiplyAdd,
    /// Vector units as a whole: shuffles, divisions, element-wise functions.
    Vector,
    /// Load ports.
    Load,
    /// Store ports.
    Store,
    /// Fetching, decoding and dispatching instructions.
    FrontEnd,
    /// Waiting for results: chains of dependent operations.
    Dependency,
    /// Entering and leaving loops and tiles.
    Overhead,
    /// Data from the named level (bandwidth or latency, whichever is longer).
    Level(String),
    /// Address translation.
    Translation,
    /// Barriers between workers.
    Barrier,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MultiplyAdd => "multiply-add units",
            Self::Vector => "vector units",
            Self::Load => "load ports",
            Self::Store => "store ports",
            Self::FrontEnd => "front end",
            Self::Dependency => "dependency latency",
            Self::Overhead => "loop and tile overhead",
            Self::Level(name) => name,
            Self::Translation => "address translation",
            Self::Barrier => "barriers",
        })
    }
}

/// Cycles that a resource is needed for, by the busiest worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceTime {
    /// Which resource.
    pub resource: Resource,
    /// Cycles that it is busy, as if nothing else limited.
    pub busy_cycles: f64,
    /// Cycles of the parts of the program in which it is the slowest resource.
    pub bound_cycles: f64,
}

/// What one level delivers to the busiest worker, and what that worker writes back to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelTraffic {
    /// Name of the level.
    pub level: String,
    /// Bytes read from it.
    pub read_bytes: f64,
    /// Bytes written back to it.
    pub written_bytes: f64,
}

/// What a program is expected to take on a chip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Time of one launch, nanoseconds.
    pub time_ns: f64,
    /// The same in cycles.
    pub cycles: f64,
    /// Floating-point operations that the busiest worker's instructions do, lanes that are thrown away
    /// included.
    pub operations: f64,
    /// Needs of each resource, in the order of [`Resource`].
    pub resources: Vec<ResourceTime>,
    /// Traffic of each level, nearest first.
    pub traffic: Vec<LevelTraffic>,
    /// The resource that is the slowest for most of the time, in words.
    pub bottleneck: String,
    /// Whether the chip has assumed values: then all figures are illustrative.
    pub illustrative: bool,
}

impl Prediction {
    /// Needs of one resource, when the program needs it at all.
    pub fn resource(&self, resource: &Resource) -> Option<&ResourceTime> {
        self.resources.iter().find(|time| time.resource == *resource)
    }
}
