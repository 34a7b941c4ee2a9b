//! A little kernel with a known amount of work, repeated as long as a measurement should last.

use std::ops::AddAssign;

use super::micro::{VectorIsa, fma_loop, read_loop, read_operands};
use crate::{GuardedBuffer, Launcher, LoadedKernel, Operands, RuntimeError};

/// Most repetitions of one launch; keeps arithmetic far from overflow.
const MOST_REPETITIONS: f64 = 1e12;

/// A kernel whose last extent is the number of repetitions.
///
/// A read probe borrows its memory by address: its owner keeps the memory.
#[derive(Debug)]
pub(crate) struct Probe {
    kernel: LoadedKernel,
    operands: Operands,
    /// Work of one repetition, all workers together: floating-point operations or bytes.
    work: f64,
}

impl Probe {
    /// Multiply-adds on this many workers.
    pub(crate) fn fma(isa: VectorIsa, workers: usize) -> Result<Self, RuntimeError> {
        let kernel = LoadedKernel::load(&fma_loop(isa, workers)?)?;
        let operands = Operands { tensors: vec![], extents: vec![1] };
        Ok(Self { kernel, operands, work: isa.fma_flops() * workers as f64 })
    }

    /// Reads of `share` bytes by each of this many workers, adjacent in the memory.
    ///
    /// # Safety
    /// The memory holds `share * workers` bytes, and outlives the probe.
    pub(crate) unsafe fn read(
        isa: VectorIsa,
        memory: &GuardedBuffer,
        share: usize,
        workers: usize,
    ) -> Result<Self, RuntimeError> {
        let kernel = LoadedKernel::load(&read_loop(isa, workers)?)?;
        let operands = read_operands(memory, share, workers);
        Ok(Self { kernel, operands, work: (share * workers) as f64 })
    }

    fn set_repetitions(&mut self, repetitions: f64) {
        if let Some(last) = self.operands.extents.last_mut() {
            *last = repetitions.clamp(1.0, MOST_REPETITIONS) as i64;
        }
    }

    fn repetitions(&self) -> f64 {
        self.operands.extents.last().map_or(1.0, |&last| last as f64)
    }

    /// Nanoseconds of one launch.
    pub(crate) fn time(&self, launcher: &Launcher<'_>) -> Result<u64, RuntimeError> {
        // SAFETY: these kernels keep the contract; their ISA was found available, and they only read the
        // operands, whose memory the maker of the probe keeps.
        unsafe { launcher.time_batch(&self.kernel, &self.operands, 1) }
    }

    /// Chooses repetitions so that a launch lasts about this long; warms up what it runs on.
    pub(crate) fn calibrate(
        &mut self,
        launcher: &Launcher<'_>,
        nanoseconds: f64,
    ) -> Result<(), RuntimeError> {
        // Doubling until a launch takes a quarter of the wish makes start-up costs a small part of the last.
        let mut repetitions = self.repetitions();
        loop {
            self.set_repetitions(repetitions);
            // The shortest of three, since one disturbed launch would end the search far too early.
            let times = (0..3).map(|_| self.time(launcher)).collect::<Result<Vec<_>, _>>()?;
            let took = times.into_iter().min().unwrap_or(1).max(1) as f64;
            if took >= nanoseconds / 4.0 || repetitions >= MOST_REPETITIONS {
                self.set_repetitions((repetitions * nanoseconds / took).round());
                return Ok(());
            }
            repetitions *= (nanoseconds / took / 2.0).clamp(2.0, 64.0);
        }
    }

    /// Work and time of one launch.
    pub(crate) fn rate(&self, launcher: &Launcher<'_>) -> Result<Rate, RuntimeError> {
        let nanoseconds = self.time(launcher)?.max(1) as f64;
        Ok(Rate { work: self.work * self.repetitions(), nanoseconds })
    }
}

/// Work that was done, and how long it took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rate {
    /// Floating-point operations or bytes.
    pub(crate) work: f64,
    pub(crate) nanoseconds: f64,
}

impl Rate {
    /// GFLOP/s, or GB/s.
    pub(crate) fn per_nanosecond(self) -> f64 {
        self.work / self.nanoseconds
    }
}

impl AddAssign for Rate {
    fn add_assign(&mut self, other: Self) {
        self.work += other.work;
        self.nanoseconds += other.nanoseconds;
    }
}
