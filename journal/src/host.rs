use serde::{Deserialize, Serialize};

/// The device of a campaign, as far as a reader of its results wants to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Fingerprint under which results are kept.
    pub fingerprint: String,
    /// Model name of the processor or chip.
    pub processor: String,
    /// Physical cores.
    pub cores: u32,
    /// Hardware threads.
    pub threads: u32,
    /// Instruction-set extensions that matter, such as `avx2`.
    pub features: Vec<String>,
    /// Caches, nearest first.
    pub caches: Vec<Cache>,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Operating system and its version.
    pub system: String,
}

/// One level of cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// `L1d`, `L2`, ….
    pub name: String,
    /// Bytes of one instance.
    pub bytes: u64,
    /// Hardware threads that share an instance.
    pub shared_by: u32,
}

/// What the device can do at most, measured with the campaign's number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// Threads that these ceilings were measured with.
    pub threads: u32,
    /// Arithmetic ceiling in the campaign's types, 10⁹ operations a second (a fused multiply-add is two).
    pub gflops: f64,
    /// Read bandwidths, nearest level first.
    pub bandwidths: Vec<Bandwidth>,
    /// Smallest relative difference that identical kernels do not show; `None` where not measured.
    pub noise_floor: Option<f64>,
}

/// Read bandwidth of one memory level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// `L1`, `L2`, `L3`, `memory`.
    pub level: String,
    /// 10⁹ bytes a second, all threads together.
    pub gbps: f64,
    /// Bytes that all threads together can keep in this level; `None` for the last one.
    pub capacity_bytes: Option<u64>,
}
