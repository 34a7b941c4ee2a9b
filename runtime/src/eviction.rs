//! Making caches cold before a launch.

use std::arch::x86_64::{_mm_clflush, _mm_mfence};

use crate::ceiling::{READ_GRANULE, VectorIsa, read_loop};
use crate::{BufferSpec, GuardedBuffer, LoadedKernel, Operands, Placement, Pool, RuntimeError};

/// Bytes of a cache line on x86-64.
const LINE: usize = 64;

/// How caches are made cold between launches.
#[derive(Debug)]
pub struct Eviction {
    method: Method,
}

#[derive(Debug)]
enum Method {
    Walk(Box<Walk>),
    Flush(Vec<(*const u8, usize)>),
}

/// A read of foreign memory by every worker, each on its own core, so that private caches turn over too.
#[derive(Debug)]
struct Walk {
    kernel: LoadedKernel,
    operands: Operands,
    /// Keeps what the operands point to.
    _memory: GuardedBuffer,
}

impl Eviction {
    /// Evicts everything: all workers of the pool together read twice `cache_bytes`, the size of the last
    /// level (and each at least 4 MiB, for its private levels). Translations are evicted as well.
    ///
    /// # Errors
    /// When the system refuses the memory.
    pub fn walk(pool: &Pool, cache_bytes: usize) -> Result<Self, RuntimeError> {
        let workers = pool.threads();
        let share = (2 * cache_bytes / workers).max(4 << 20).next_multiple_of(READ_GRANULE);
        let memory = GuardedBuffer::new(&BufferSpec::new(share * workers, Placement::AgainstStart).huge())?;
        let kernel = LoadedKernel::load(&read_loop(VectorIsa::widest(), workers)?)?;
        let operands = crate::ceiling::read_operands(&memory, share, workers);
        Ok(Self { method: Method::Walk(Box::new(Walk { kernel, operands, _memory: memory })) })
    }

    /// Flushes these regions (address and bytes) from all caches of all cores, and nothing else: code,
    /// workspace and translations stay warm. The regions must stay mapped until the last launch.
    pub fn flush(regions: Vec<(*const u8, usize)>) -> Self {
        Self { method: Method::Flush(regions) }
    }

    /// # Safety
    /// The regions given to [`Eviction::flush`] are mapped.
    pub(crate) unsafe fn perform(&self, pool: &Pool) -> Result<(), RuntimeError> {
        match &self.method {
            // SAFETY: the kernel reads what its operands point to, which `_memory` keeps alive.
            Method::Walk(walk) => unsafe { pool.launch(&walk.kernel, &walk.operands) },
            Method::Flush(regions) => {
                for &(start, bytes) in regions {
                    let first = start as usize & (LINE - 1);
                    for offset in (0..first + bytes).step_by(LINE) {
                        // SAFETY: the line holds a byte of the region, which is mapped.
                        unsafe { _mm_clflush(start.wrapping_sub(first).wrapping_add(offset)) };
                    }
                }
                // SAFETY: a fence touches no memory.
                unsafe { _mm_mfence() };
                Ok(())
            }
        }
    }
}
