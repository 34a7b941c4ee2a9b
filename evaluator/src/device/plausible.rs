//! Times below the roofline's bound cannot be true, and are never ranked.

use tilewright_journal::EvalError;

use super::DeviceRunner;

/// A time below the arithmetic ceiling's by more than this share cannot be true: room for a ceiling that
/// was measured while the machine was busy.
const CEILING_MARGIN: f64 = 1.05;

/// The same for the rate at which operands are moved: a loop that only reads falls short of the rate at which a cache
/// serves loads and stores together.
const TRAFFIC_MARGIN: f64 = 2.0;

/// Fewest bytes whose reading is long enough to be measured as a rate.
const FEWEST_BYTES: u64 = 64 << 10;

/// Measurements of the ceilings before a time is called impossible: a busy machine shows too low ones.
const CEILING_ATTEMPTS: u32 = 10;

/// What any kernel of a workload has to do at least.
#[derive(Debug, Clone, Copy)]
struct Work {
    operations: f64,
    bytes: u64,
}

/// Least time of a launch at these rates, ns (GFLOP/s, GB/s); a rate that is not known bounds nothing.
fn least_ns(work: Work, fma_gflops: f64, read_gbps: f64) -> f64 {
    let at = |amount: f64, rate: f64| if rate > 0.0 { amount / rate } else { 0.0 };
    let moving =
        if work.bytes < FEWEST_BYTES { 0.0 } else { at(work.bytes as f64, read_gbps * TRAFFIC_MARGIN) };
    at(work.operations, fma_gflops * CEILING_MARGIN).max(moving)
}

impl DeviceRunner {
    /// Compares a time with the ceilings of arithmetic and of moving the operands once, measured again before
    /// anything is called impossible.
    pub(super) fn plausible(&mut self, launch_ns: f64) -> Result<(), EvalError> {
        let computation = self.stand.computation();
        let work = Work { operations: computation.operations(), bytes: computation.compulsory_bytes() };
        for _ in 0..CEILING_ATTEMPTS {
            if launch_ns >= least_ns(work, self.fma_gflops, self.read_gbps) {
                return Ok(());
            }
            self.raise_ceiling()?;
        }
        Err(EvalError::Implausible(format!(
            "{:.1} GFLOP/s and {:.1} GB/s, the ceilings are {:.1} and {:.1}",
            work.operations / launch_ns,
            work.bytes as f64 / launch_ns,
            self.fma_gflops,
            self.read_gbps
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// U005: neither arithmetic nor moving the operands can be faster than the machine.
    #[test]
    fn a_time_below_the_roofline_is_impossible() {
        let square = Work { operations: 2.0 * 1024_f64.powi(3), bytes: 12 << 20 };
        let bound = least_ns(square, 100.0, 20.0);
        assert!((bound - square.operations / 105.0).abs() < 1.0, "{bound}");
        let vector = Work { operations: 2.0 * 3072.0 * 1024.0, bytes: 12 << 20 };
        let bound = least_ns(vector, 100.0, 20.0);
        assert!((bound - f64::from(12 << 20) / 40.0).abs() < 1.0, "{bound}");
    }

    #[test]
    fn what_was_not_measured_bounds_nothing() {
        let work = Work { operations: 1e6, bytes: 1 << 20 };
        assert_eq!(least_ns(work, 0.0, 0.0), 0.0);
        assert_eq!(least_ns(Work { bytes: 12, ..work }, 0.0, 1e-9), 0.0);
    }
}
