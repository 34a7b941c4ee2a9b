//! How a device runner is set up.

use std::path::PathBuf;

use tilewright_codegen::{CacheSizes, Isa, isas};
use tilewright_ir::Limits;
use tilewright_runtime::{CacheKind, HostFacts};
use tilewright_stats::Level;

use super::claim::CLAIM_LEVEL;
use super::pacing::Pacing;
use crate::EvaluatorError;

/// Settings of a [`super::DeviceRunner`].
#[derive(Clone)]
pub struct DeviceSettings {
    /// Instruction set to generate code for.
    pub isa: &'static dyn Isa,
    /// The binary to start as a worker; its `main` must call [`crate::run_if_worker`] first.
    pub executable: PathBuf,
    /// Seed of inputs and sampled elements; the confirmation draws others from it.
    pub seed: u64,
    /// Effort on one candidate.
    pub pacing: Pacing,
    /// Level of the sequential test of a claim; above 10⁻⁴ counts as that.
    pub claim_level: Level,
}

impl DeviceSettings {
    /// The first listed instruction set that this processor has, and this very binary as worker.
    ///
    /// # Errors
    /// When there is no such instruction set, or the binary's path cannot be found.
    pub fn detect(seed: u64) -> Result<Self, EvaluatorError> {
        let available = isas().iter().copied().find(|isa| isa.available());
        let none = || EvaluatorError::NoIsa(isas().iter().map(|isa| isa.id()).collect());
        Ok(Self {
            isa: available.ok_or_else(none)?,
            executable: std::env::current_exe()?,
            seed,
            pacing: Pacing::default(),
            claim_level: CLAIM_LEVEL,
        })
    }
}

/// Limits of programs for `workers` threads of this host: what schedules must be lowered with to be
/// evaluated here.
pub fn device_limits(isa: &dyn Isa, workers: u32, host: &HostFacts) -> Limits {
    let size = |level: u8, unknown: u64| {
        let cache =
            host.caches.iter().find(|cache| cache.level == level && cache.kind != CacheKind::Instruction);
        cache.map_or(unknown, |cache| cache.bytes as u64)
    };
    // Where the system tells nothing, sizes of a small desktop processor.
    let caches = CacheSizes { l1: size(1, 32 << 10), l2: size(2, 256 << 10), l3: size(3, 4 << 20) };
    isa.limits(workers, &caches)
}
