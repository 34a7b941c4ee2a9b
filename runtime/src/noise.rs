//! How steady this machine is: comparisons of a kernel with itself.

use serde::{Deserialize, Serialize};

use crate::ceiling::Probe;
use crate::{Launcher, Pool, RuntimeError, VectorIsa};

/// Length of the kernel that is compared with itself, nanoseconds.
const KERNEL_NS: f64 = 50e3;

/// Timings of one kernel against itself, interleaved as candidate and incumbent would be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseSamples {
    /// Workers of the kernel.
    pub threads: usize,
    /// Nanoseconds of one launch of A and of B; which went first alternates, A in the first pair.
    pub pairs: Vec<[u64; 2]>,
}

impl NoiseSamples {
    /// Compares a kernel of about 50 µs with itself; empty on a processor without multiply-add.
    ///
    /// # Errors
    /// When the pool has fewer workers.
    pub fn measure(pool: &Pool, threads: usize, pairs: usize) -> Result<Self, RuntimeError> {
        let launcher = Launcher::new(pool);
        let widest = VectorIsa::widest();
        if !widest.has_fma() {
            return Ok(Self { threads, pairs: vec![] });
        }
        let mut probe = Probe::fma(widest, threads)?;
        probe.calibrate(&launcher, KERNEL_NS)?;
        let pair = |index: usize| {
            let (first, second) = (probe.time(&launcher)?, probe.time(&launcher)?);
            Ok(if index.is_multiple_of(2) { [first, second] } else { [second, first] })
        };
        Ok(Self { threads, pairs: (0..pairs).map(pair).collect::<Result<_, RuntimeError>>()? })
    }

    /// Natural logarithm of A's time over B's, pair by pair: the raw material of a noise floor.
    pub fn log_ratios(&self) -> Vec<f64> {
        self.pairs.iter().map(|&[a, b]| (a.max(1) as f64 / b.max(1) as f64).ln()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_ratios_keep_order_and_sign() {
        let noise = NoiseSamples { threads: 1, pairs: vec![[100, 100], [200, 100], [100, 200], [0, 1]] };
        let half = std::f64::consts::LN_2;
        assert_eq!(noise.log_ratios(), [0.0, half, -half, 0.0]);
    }

    #[test]
    fn as_many_pairs_as_asked() {
        let pool = Pool::new(2).unwrap();
        let noise = NoiseSamples::measure(&pool, 2, 20).unwrap();
        assert!(noise.pairs.len() == 20 || !VectorIsa::widest().has_fma());
        assert!(noise.pairs.iter().flatten().all(|&nanoseconds| nanoseconds > 0));
    }
}
