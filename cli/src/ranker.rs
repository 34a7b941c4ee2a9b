//! Ranks candidates by the simulator.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use tilewright_ir::CacheState;
use tilewright_search::{Ranked, Ranker};
use tilewright_simulator::{Chip, simulate_from};

/// Predicted times on a chip.
pub(crate) struct SimulatorRanker {
    pub(crate) chip: Chip,
    pub(crate) cache: CacheState,
}

impl Ranker for SimulatorRanker {
    fn rank(&mut self, candidates: &[Ranked<'_>]) -> Vec<Option<f64>> {
        let predict =
            |ranked: &Ranked<'_>| Some(simulate_from(ranked.program?, &self.chip, self.cache).ok()?.time_ns);
        candidates.par_iter().map(predict).collect()
    }
}
