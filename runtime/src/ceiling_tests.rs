//! The little kernels do the work they are counted for, and footprints suit the levels.

use super::*;
use crate::{CacheKind, LoadedKernel, Operands};

fn cache(level: u8, bytes: usize, shared_by: usize) -> CacheFacts {
    CacheFacts { level, kind: CacheKind::Unified, bytes, ways: 8, line_bytes: 64, shared_by }
}

fn host_with(caches: Vec<CacheFacts>, memory_bytes: u64) -> HostFacts {
    HostFacts { caches, memory_bytes, ..HostFacts::detect() }
}

#[test]
fn footprints_are_half_of_a_level_and_more_than_the_one_before() {
    let host = host_with(vec![cache(1, 32 << 10, 1), cache(2, 512 << 10, 1), cache(3, 32 << 20, 8)], 8 << 30);
    assert_eq!(levels(&host).len(), 4);
    assert_eq!(footprint(&host, MemoryLevel::Cache(1), 1), 16 << 10);
    assert_eq!(footprint(&host, MemoryLevel::Cache(1), 2), 32 << 10);
    assert_eq!(footprint(&host, MemoryLevel::Cache(2), 2), 512 << 10);
    assert_eq!(footprint(&host, MemoryLevel::Cache(3), 2), 16 << 20);
    assert_eq!(footprint(&host, MemoryLevel::Cache(3), 16), 32 << 20);
    assert_eq!(footprint(&host, MemoryLevel::Memory, 1), 256 << 20);
    // A last level hardly larger than the private ones before it, and little memory.
    let host = host_with(vec![cache(2, 2 << 20, 1), cache(3, 24 << 20, 16)], 512 << 20);
    assert_eq!(footprint(&host, MemoryLevel::Cache(3), 16), 48 << 20);
    assert_eq!(footprint(&host, MemoryLevel::Memory, 1), 128 << 20);
}

#[test]
fn every_available_width_runs_on_several_workers() {
    let pool = Pool::new(2).unwrap();
    let launcher = Launcher::new(&pool);
    for isa in fma_widths() {
        let kernel = LoadedKernel::load(&micro::fma_loop(isa, 2).unwrap()).unwrap();
        let operands = Operands { tensors: vec![], extents: vec![1000] };
        // SAFETY: the loop touches registers only, and its width is available.
        unsafe { launcher.run(&kernel, &operands) }.unwrap();
    }
    for isa in VectorIsa::available() {
        let memory = arena(2 * READ_GRANULE).unwrap();
        let mut operands = read_operands(&memory, READ_GRANULE, 2);
        operands.extents[1] = 3;
        let kernel = LoadedKernel::load(&read_loop(isa, 2).unwrap()).unwrap();
        // SAFETY: the memory holds both shares, and the width is available.
        unsafe { launcher.run(&kernel, &operands) }.unwrap();
    }
}

#[test]
fn a_read_stays_inside_its_share() {
    let pool = Pool::new(1).unwrap();
    for isa in VectorIsa::available() {
        for placement in [Placement::AgainstStart, Placement::AgainstEnd] {
            let memory = GuardedBuffer::new(&BufferSpec::new(4096, placement)).unwrap();
            let kernel = LoadedKernel::load(&read_loop(isa, 1).unwrap()).unwrap();
            // SAFETY: guard pages on both sides end the test if the loop strays.
            unsafe { pool.launch(&kernel, &read_operands(&memory, 4096, 1)) }.unwrap();
        }
    }
}

#[test]
fn measures_every_level_on_one_worker_and_on_all() {
    let pool = Pool::new(2).unwrap();
    let host = host_with(vec![cache(1, 32 << 10, 1), cache(2, 256 << 10, 1)], 16 << 20);
    let mut meter = CeilingMeter::new(&pool);
    let ceilings = meter.measure(&host, &Effort { rounds: 2, batch_ns: 1e5 }).unwrap();
    assert_eq!(ceilings.bandwidth.len(), 6);
    assert_eq!(ceilings.fma.len(), 2 * fma_widths().len());
    for threads in [1, 2] {
        assert_eq!(ceilings.fma_gflops(threads).is_some(), !fma_widths().is_empty());
        let quick = meter.fma(threads, 1e5).unwrap();
        assert_eq!(quick.is_some(), !fma_widths().is_empty());
        for level in levels(&host) {
            assert!(ceilings.read_gbps(level, threads).unwrap() > 0.0);
        }
    }
    assert!(ceilings.bandwidth.iter().all(|read| read.batches.len() == 2));
    assert!(meter.read_bandwidth(1, 2).unwrap() > 0.0);
    assert!(
        matches!(meter.fma(3, 0.0), Err(RuntimeError::Workers { asked: 3, available: 2 }))
            || fma_widths().is_empty()
    );
}
