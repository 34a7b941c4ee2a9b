//! What this machine can do at most, measured: multiply-adds per second, and bytes read per second from
//! every level of memory. Results of kernels are stated as a share of these.

mod micro;
mod probe;

use serde::{Deserialize, Serialize};

pub use micro::VectorIsa;
pub(crate) use micro::{READ_GRANULE, read_loop, read_operands};
pub(crate) use probe::{Probe, Rate};

use crate::{BufferSpec, CacheFacts, GuardedBuffer, HostFacts, Launcher, Placement, Pool, RuntimeError};

/// Least bytes that count as a read from memory.
const MEMORY_FOOTPRINT: usize = 256 << 20;

/// Least nanoseconds of [`CeilingMeter::fma`], all vector widths together.
const QUICK_NS: f64 = 5e6;

/// How much effort goes into measuring ceilings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Batches of each figure, spread over the whole measurement.
    pub rounds: usize,
    /// Length of a batch, nanoseconds.
    pub batch_ns: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { rounds: 7, batch_ns: 20e6 }
    }
}

/// A level of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryLevel {
    /// The cache of this level, 1 next to the core.
    Cache(u8),
    /// Main memory.
    Memory,
}

/// Measured rate of single-precision fused multiply-adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FmaRate {
    /// Width of vectors.
    pub isa: VectorIsa,
    /// Workers, each on its own processor.
    pub threads: usize,
    /// GFLOP/s of all workers together, best batch; a multiply-add counts as two.
    pub gflops: f64,
    /// Each batch, in the order measured.
    pub batches: Vec<f64>,
}

/// Measured rate of reading one level of memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Where the data lies.
    pub level: MemoryLevel,
    /// Workers, each reading a part of its own.
    pub threads: usize,
    /// Bytes that all workers together read again and again.
    pub footprint_bytes: usize,
    /// GB/s (10⁹ bytes) of all workers together, best batch.
    pub gigabytes_per_second: f64,
    /// Each batch, in the order measured.
    pub batches: Vec<f64>,
}

/// All measured ceilings of a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// For every vector width with multiply-add, on one worker and on all.
    pub fma: Vec<FmaRate>,
    /// For every level, on one worker and on all.
    pub bandwidth: Vec<Bandwidth>,
}

impl Ceilings {
    /// Best multiply-add rate of this many workers over all vector widths, GFLOP/s.
    pub fn fma_gflops(&self, threads: usize) -> Option<f64> {
        self.fma.iter().filter(|rate| rate.threads == threads).map(|rate| rate.gflops).max_by(f64::total_cmp)
    }

    /// Read rate of a level by this many workers, GB/s.
    pub fn read_gbps(&self, level: MemoryLevel, threads: usize) -> Option<f64> {
        let found = self.bandwidth.iter().find(|read| read.level == level && read.threads == threads);
        found.map(|read| read.gigabytes_per_second)
    }
}

/// Measures ceilings on a pool.
#[derive(Debug)]
pub struct CeilingMeter<'pool> {
    launcher: Launcher<'pool>,
    /// Multiply-adds by vector width and number of workers, ready for [`CeilingMeter::fma`].
    quick: Vec<(usize, Probe)>,
}

impl<'pool> CeilingMeter<'pool> {
    /// Measures on this pool's workers.
    pub fn new(pool: &'pool Pool) -> Self {
        Self { launcher: Launcher::new(pool), quick: Vec::new() }
    }

    /// Measures the multiply-add rate of this many workers over at least 5 ms and at least this long (the first
    /// call for a number of workers also calibrates), GFLOP/s; `None` on a processor without multiply-add. To
    /// be interleaved with measurements of kernels, since ceilings move with the machine's other load, and as
    /// long as a sample of theirs: disturbances that come now and then miss most short measurements, but are
    /// in every long one.
    ///
    /// # Errors
    /// When the pool has fewer workers.
    pub fn fma(&mut self, threads: usize, at_least_ns: f64) -> Result<Option<f64>, RuntimeError> {
        if self.quick.iter().all(|(workers, _)| *workers != threads) {
            let widths = fma_widths();
            for &isa in &widths {
                let mut probe = Probe::fma(isa, threads)?;
                probe.calibrate(&self.launcher, QUICK_NS / widths.len() as f64)?;
                self.quick.push((threads, probe));
            }
        }
        let probes = || self.quick.iter().filter(|(workers, _)| *workers == threads).map(|(_, probe)| probe);
        let mut rates = vec![Rate::default(); probes().count()];
        loop {
            for (rate, probe) in rates.iter_mut().zip(probes()) {
                *rate += probe.rate(&self.launcher)?;
            }
            if rates.iter().all(|rate| rate.nanoseconds >= at_least_ns) {
                return Ok(rates.into_iter().map(Rate::per_nanosecond).max_by(f64::total_cmp));
            }
        }
    }

    /// Measures the read rate of this many workers that together read this many bytes again and again,
    /// GB/s: the median of three batches of about 10 ms. The footprint is rounded up to whole steps of the
    /// loop (1 KiB for each worker).
    ///
    /// # Errors
    /// When the pool has fewer workers, or the system refuses the memory.
    pub fn read_bandwidth(&self, footprint_bytes: usize, threads: usize) -> Result<f64, RuntimeError> {
        let share = share_of(footprint_bytes, threads);
        let memory = arena(share * threads)?;
        // SAFETY: the memory has that size and outlives the probe.
        let mut probe = unsafe { Probe::read(VectorIsa::widest(), &memory, share, threads) }?;
        probe.calibrate(&self.launcher, 10e6)?;
        let mut rates = [0.0; 3];
        for rate in &mut rates {
            *rate = probe.rate(&self.launcher)?.per_nanosecond();
        }
        rates.sort_by(f64::total_cmp);
        Ok(rates[1])
    }

    /// Measures all ceilings on one worker and on all of the pool: each figure is the best of several
    /// batches, and the batches of all figures alternate, so that a disturbance hits them alike.
    ///
    /// # Errors
    /// When the system refuses the memory.
    pub fn measure(&self, host: &HostFacts, effort: &Effort) -> Result<Ceilings, RuntimeError> {
        let all = self.launcher.pool().threads();
        let widths: Vec<usize> = if all == 1 { vec![1] } else { vec![1, all] };
        let mut ceilings = Ceilings::default();
        for (&threads, isa) in
            widths.iter().flat_map(|threads| fma_widths().into_iter().map(move |isa| (threads, isa)))
        {
            ceilings.fma.push(FmaRate { isa, threads, gflops: 0.0, batches: vec![] });
        }
        for (level, threads) in
            levels(host).into_iter().flat_map(|level| widths.iter().map(move |&n| (level, n)))
        {
            let share = share_of(footprint(host, level, threads), threads);
            let footprint_bytes = share * threads;
            ceilings.bandwidth.push(Bandwidth {
                level,
                threads,
                footprint_bytes,
                gigabytes_per_second: 0.0,
                batches: vec![],
            });
        }
        let largest = ceilings.bandwidth.iter().map(|read| read.footprint_bytes).max().unwrap_or(0);
        let memory = arena(largest)?;
        let (mut fma, mut reads) = (Vec::new(), Vec::new());
        for rate in &ceilings.fma {
            fma.push(Probe::fma(rate.isa, rate.threads)?);
        }
        for read in &ceilings.bandwidth {
            let share = read.footprint_bytes / read.threads;
            // SAFETY: the memory has the largest footprint's size and outlives the probes.
            reads.push(unsafe { Probe::read(VectorIsa::widest(), &memory, share, read.threads) }?);
        }
        for probe in fma.iter_mut().chain(&mut reads) {
            probe.calibrate(&self.launcher, effort.batch_ns)?;
        }
        for _ in 0..effort.rounds {
            for (rate, probe) in ceilings.fma.iter_mut().zip(&fma) {
                rate.batches.push(probe.rate(&self.launcher)?.per_nanosecond());
            }
            for (read, probe) in ceilings.bandwidth.iter_mut().zip(&reads) {
                read.batches.push(probe.rate(&self.launcher)?.per_nanosecond());
            }
        }
        let best = |batches: &[f64]| batches.iter().copied().fold(0.0, f64::max);
        ceilings.fma.iter_mut().for_each(|rate| rate.gflops = best(&rate.batches));
        ceilings.bandwidth.iter_mut().for_each(|read| read.gigabytes_per_second = best(&read.batches));
        Ok(ceilings)
    }
}

fn fma_widths() -> Vec<VectorIsa> {
    VectorIsa::available().into_iter().filter(|isa| isa.has_fma()).collect()
}

fn arena(bytes: usize) -> Result<GuardedBuffer, RuntimeError> {
    GuardedBuffer::new(&BufferSpec::new(bytes, Placement::AgainstStart).huge())
}

/// Bytes for each worker, whole steps of the read loop.
fn share_of(footprint_bytes: usize, threads: usize) -> usize {
    (footprint_bytes / threads.max(1)).max(1).next_multiple_of(READ_GRANULE)
}

/// The levels that hold data, nearest first.
fn levels(host: &HostFacts) -> Vec<MemoryLevel> {
    let caches = host.data_caches().map(|cache| MemoryLevel::Cache(cache.level));
    caches.chain([MemoryLevel::Memory]).collect()
}

/// Bytes that this many workers read together to measure a level: half of what the level has for them, but
/// clearly more than the level before holds.
fn footprint(host: &HostFacts, level: MemoryLevel, threads: usize) -> usize {
    let caches: Vec<&CacheFacts> = host.data_caches().collect();
    let capacity = |cache: &CacheFacts| cache.bytes * threads.div_ceil(cache.shared_by.max(1));
    let below =
        |level: u8| caches.iter().rev().find(|cache| cache.level < level).map_or(0, |cache| capacity(cache));
    match level {
        MemoryLevel::Cache(level) => {
            let this = caches.iter().find(|cache| cache.level == level).map_or(0, |cache| capacity(cache));
            (this / 2).max(below(level) * 3 / 2)
        }
        MemoryLevel::Memory => {
            let wanted = (4 * below(u8::MAX)).max(MEMORY_FOOTPRINT);
            wanted.min((host.memory_bytes / 4) as usize)
        }
    }
}

#[cfg(test)]
#[path = "ceiling_tests.rs"]
mod tests;
