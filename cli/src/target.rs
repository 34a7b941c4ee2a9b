//! The processor that kernels are made for: its widest instruction set with a code generator.

use anyhow::{Context, Result};
use tilewright_codegen::{Isa, isas};
use tilewright_evaluator::device_limits;
use tilewright_ir::{CacheState, Limits, Workload, WorkloadKey};
use tilewright_runtime::HostFacts;

/// This machine as a target.
pub(crate) struct Target {
    pub(crate) isa: &'static dyn Isa,
    host: HostFacts,
    pub(crate) fingerprint: String,
}

impl Target {
    /// This machine, with its widest instruction set or the one named.
    pub(crate) fn of_host(host: &HostFacts, isa: Option<&str>) -> Result<Self> {
        let available = || isas().iter().copied().filter(|isa| isa.available());
        let isa = match isa {
            Some(name) => available().find(|isa| isa.id() == name).with_context(|| {
                let names: Vec<&str> = available().map(Isa::id).collect();
                format!("no instruction set `{name}` on this processor; there is: {}", names.join(", "))
            })?,
            None => {
                available().next_back().context("this processor has no AVX2 with FMA, which kernels need")?
            }
        };
        Ok(Self { isa, host: host.clone(), fingerprint: host.fingerprint() })
    }

    /// Limits of programs for so many workers.
    pub(crate) fn limits(&self, workers: u32) -> Limits {
        device_limits(self.isa, workers, &self.host)
    }

    /// Under which name results are kept.
    pub(crate) fn key(&self, workload: &Workload, threads: u32, cache: CacheState) -> WorkloadKey {
        WorkloadKey { workload: workload.clone(), target: self.fingerprint.clone(), threads, cache }
    }
}
