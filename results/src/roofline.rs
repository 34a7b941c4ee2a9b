//! The roofline model (Williams, Waterman & Patterson 2009): a kernel is bound by arithmetic, or by the
//! bandwidth of the memory level in which its operands lie.

use tilewright_ir::CacheState;
use tilewright_journal::{Bandwidth, Ceilings, Work};

/// Name of the arithmetic ceiling.
pub(crate) const COMPUTE: &str = "compute";

/// What bounds a workload on a device, and at which rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// `compute`, or the name of the level whose bandwidth binds.
    pub name: String,
    /// Rate that no kernel can exceed, 10⁹ operations a second.
    pub gflops: f64,
    /// Operations for each byte that has to be moved.
    pub intensity: f64,
    /// Level in which the operands lie before a launch; `None` where no bandwidth was measured.
    pub level: Option<Bandwidth>,
}

impl Bound {
    /// What binds, in words.
    pub(crate) fn title(&self) -> String {
        if self.name == COMPUTE { "arithmetic".to_owned() } else { format!("{} bandwidth", self.name) }
    }
}

/// The bound of `work`.
///
/// Operands lie in the nearest level that holds all of them, or in the last one when caches are cold. Only
/// compulsory traffic is counted, so this is a bound for every kernel, not a prediction of one.
pub fn bound(work: &Work, ceilings: &Ceilings, cache: CacheState) -> Bound {
    let intensity = work.operations / work.compulsory_bytes.max(1) as f64;
    let holds = |bandwidth: &&Bandwidth| {
        bandwidth.capacity_bytes.is_none_or(|capacity| capacity >= work.compulsory_bytes)
    };
    let level = match cache {
        CacheState::Warm => ceilings.bandwidths.iter().find(holds).or(ceilings.bandwidths.last()),
        CacheState::Cold => ceilings.bandwidths.last(),
    };
    let moved = level.map_or(f64::INFINITY, |level| level.gbps * intensity);
    let (name, gflops) = match level {
        Some(level) if moved < ceilings.gflops => (level.level.clone(), moved),
        _ => (COMPUTE.to_owned(), ceilings.gflops),
    };
    Bound { name, gflops, intensity, level: level.cloned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ceilings() -> Ceilings {
        let level =
            |name: &str, gbps, capacity_bytes| Bandwidth { level: name.to_owned(), gbps, capacity_bytes };
        Ceilings {
            threads: 1,
            gflops: 100.0,
            bandwidths: vec![
                level("L1", 200.0, Some(32_768)),
                level("L3", 60.0, Some(1 << 25)),
                level("memory", 12.0, None),
            ],
            noise_floor: None,
        }
    }

    // U128
    #[test]
    fn a_square_matmul_is_bound_by_arithmetic_and_a_row_by_bandwidth() {
        let square = Work { operations: 2.0 * 1024_f64.powi(3), compulsory_bytes: 12 << 20 };
        assert_eq!(bound(&square, &ceilings(), CacheState::Warm).name, "compute");
        let row = Work { operations: 2.0 * 3072.0 * 1024.0, compulsory_bytes: 12 << 20 };
        let warm = bound(&row, &ceilings(), CacheState::Warm);
        assert_eq!((warm.name.as_str(), warm.level.unwrap().level.as_str()), ("L3", "L3"));
        assert!((warm.gflops - 60.0 * 0.5).abs() < 1e-9);
        let cold = bound(&row, &ceilings(), CacheState::Cold);
        assert_eq!(cold.name, "memory");
    }

    #[test]
    fn without_bandwidths_only_arithmetic_bounds() {
        let none = Ceilings { bandwidths: Vec::new(), ..ceilings() };
        let work = Work { operations: 1.0, compulsory_bytes: 0 };
        assert_eq!(bound(&work, &none, CacheState::Warm).name, "compute");
    }
}
