//! This machine's facts in the forms that journal and simulator want.

use tilewright_codegen::Isa;
use tilewright_journal::{Bandwidth, Cache, Ceilings, Host};
use tilewright_runtime::{DeviceReport, HostFacts, MemoryLevel};
use tilewright_simulator::{Chip, HostMeasurements, chip_for_host};

/// What a journal says of this machine.
pub(crate) fn host(facts: &HostFacts) -> Host {
    Host {
        fingerprint: facts.fingerprint(),
        processor: facts.brand.trim().to_owned(),
        cores: facts.physical_cores as u32,
        threads: facts.logical_processors as u32,
        features: facts.features.clone(),
        caches: facts
            .data_caches()
            .map(|cache| Cache {
                name: format!("L{}", cache.level),
                bytes: cache.bytes as u64,
                shared_by: cache.shared_by as u32,
            })
            .collect(),
        memory_bytes: facts.memory_bytes,
        system: format!("{} {}", facts.os, facts.kernel),
    }
}

/// The number of threads among those measured that is nearest to `threads`.
fn measured_threads(report: &DeviceReport, threads: u32) -> usize {
    let counts = report.ceilings.fma.iter().map(|rate| rate.threads);
    counts.min_by_key(|count| count.abs_diff(threads as usize)).unwrap_or(1)
}

/// Ceilings of the device report for a campaign with so many threads.
pub(crate) fn ceilings(report: &DeviceReport, threads: u32, noise_floor: Option<f64>) -> Ceilings {
    let measured = measured_threads(report, threads);
    let reads = report.ceilings.bandwidth.iter().filter(|read| read.threads == measured);
    let bandwidths = reads.map(|read| {
        let cache = match read.level {
            MemoryLevel::Cache(level) => report.host.data_caches().find(|cache| cache.level == level),
            MemoryLevel::Memory => None,
        };
        Bandwidth {
            level: cache.map_or_else(|| "memory".to_owned(), |cache| format!("L{}", cache.level)),
            gbps: read.gigabytes_per_second,
            capacity_bytes: cache
                .map(|cache| (cache.bytes * measured.div_ceil(cache.shared_by.max(1))) as u64),
        }
    });
    Ceilings {
        threads,
        gflops: report.ceilings.fma_gflops(measured).unwrap_or(0.0),
        bandwidths: bandwidths.collect(),
        noise_floor,
    }
}

/// This machine as a chip to simulate.
pub(crate) fn chip(report: &DeviceReport, isa: &dyn Isa, vector_bytes: u64, registers: u32) -> Chip {
    let host = &report.host;
    let base = chip_for_host(&host.vendor, host.family, host.model, vector_bytes);
    let all = measured_threads(report, u32::MAX);
    let clock = base.clock_ghz.v;
    let reads = |threads: usize| -> Vec<f64> {
        let of = report.ceilings.bandwidth.iter().filter(|read| read.threads == threads);
        let measured = of.map(|read| read.gigabytes_per_second);
        // A loop that only reads falls short of the rate at which L2 serves a kernel's mixed accesses.
        let published = base.levels.iter().map(|level| level.bytes_per_cycle.v * clock * threads as f64);
        let with_published = measured.zip(published).enumerate();
        with_published
            .map(|(at, (measured, published))| if at == 1 { measured.max(published) } else { measured })
            .collect()
    };
    let name = isa.id();
    let rate = report.ceilings.fma.iter().filter(|rate| rate.threads == 1);
    let rate = rate.filter(|rate| crate::output::name_of(&rate.isa) == name).map(|rate| rate.gflops).next();
    let measurements = HostMeasurements {
        cores: Some(host.physical_cores as u64),
        multiply_add_gflops: rate.or_else(|| report.ceilings.fma_gflops(1)),
        vector_bytes: Some(vector_bytes),
        vector_registers: Some(u64::from(registers)),
        cache_bytes: host.data_caches().map(|cache| cache.bytes as u64).collect(),
        read_gbps: reads(1),
        read_gbps_all: reads(all),
        barrier_ns: None,
    };
    // A measurement that makes no sense is worth less than the published value.
    measurements.apply(base).unwrap_or_else(|_| base.clone())
}
