//! A chip from what was measured on the host.

use serde::{Deserialize, Serialize};

use crate::chip::{Chip, ChipError, Kind, Quantity};

/// Plain numbers about a host. What is absent keeps the value of the chip file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostMeasurements {
    /// Cores that programs may use.
    pub cores: Option<u64>,
    /// Rate of multiply-adds on one core in single precision, GFLOP/s, with vectors of `vector_bytes`.
    pub multiply_add_gflops: Option<f64>,
    /// Bytes of the vectors that kernels use.
    pub vector_bytes: Option<u64>,
    /// Vector registers that kernels can name.
    pub vector_registers: Option<u64>,
    /// Bytes of the caches, nearest first.
    pub cache_bytes: Vec<u64>,
    /// Read bandwidth of one core from each cache, nearest first, then from memory, GB/s.
    pub read_gbps: Vec<f64>,
    /// The same of all cores together.
    pub read_gbps_all: Vec<f64>,
    /// One barrier of all cores, nanoseconds.
    pub barrier_ns: Option<f64>,
}

/// Key of the source that measured values name.
const SOURCE: &str = "host";

impl HostMeasurements {
    /// The chip with measured values in the place of published ones.
    ///
    /// # Errors
    /// When a measured value is impossible, such as a bandwidth of zero.
    pub fn apply(&self, chip: &Chip) -> Result<Chip, ChipError> {
        let mut chip = chip.clone();
        let put = |quantity: &mut Quantity, v: f64, kind| {
            *quantity = Quantity { v, kind, src: SOURCE.to_owned() };
        };
        chip.sources.insert(SOURCE.to_owned(), "measured on this host".to_owned());
        if let Some(cores) = self.cores {
            put(&mut chip.cores, cores as f64, Kind::Measured);
        }
        if let Some(bytes) = self.vector_bytes {
            put(&mut chip.vectors.bytes, bytes as f64, Kind::Measured);
        }
        if let Some(registers) = self.vector_registers {
            put(&mut chip.vectors.registers, registers as f64, Kind::Measured);
        }
        if let Some(gflops) = self.multiply_add_gflops {
            let flops_per_cycle = 2.0 * chip.vectors.bytes.v / 4.0 * chip.vectors.multiply_adds_per_cycle.v;
            put(&mut chip.clock_ghz, gflops / flops_per_cycle, Kind::Derived);
        }
        if let Some(nanoseconds) = self.barrier_ns {
            put(&mut chip.barrier_ns, nanoseconds, Kind::Measured);
        }
        let clock = chip.clock_ghz.v;
        for (level, &bytes) in chip.levels.iter_mut().zip(&self.cache_bytes) {
            if let Some(quantity) = &mut level.bytes {
                put(quantity, bytes as f64, Kind::Measured);
            }
        }
        for (level, &gbps) in chip.levels.iter_mut().zip(&self.read_gbps) {
            put(&mut level.bytes_per_cycle, gbps / clock, Kind::Derived);
        }
        for (level, &gbps) in chip.levels.iter_mut().zip(&self.read_gbps_all) {
            if let Some(quantity) = &mut level.bytes_per_cycle_all {
                put(quantity, gbps / clock, Kind::Derived);
            }
        }
        chip.check()?;
        Ok(chip)
    }
}
