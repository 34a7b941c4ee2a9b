use std::collections::VecDeque;
use std::sync::Arc;

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_genome::{Genome, SearchSpace};
use tilewright_journal::Trial;
use tilewright_search::score::{Contestant, ScoredSpace};
use tilewright_search::{Proposal, StateError, Strategy};
use tilewright_stats::Judged;

/// What a tuner's runs visited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Version of the tuner.
    pub version: String,
    /// For each run the positions of the configurations in the order of their first visit.
    pub runs: Vec<Vec<usize>>,
}

/// A strategy that proposes what another tuner visited.
#[derive(Debug)]
struct Replayed {
    left: VecDeque<Genome>,
}

impl Strategy for Replayed {
    fn id(&self) -> &'static str {
        "replayed"
    }

    fn ask(&mut self, _: &SearchSpace, count: usize, _: &mut dyn Rng) -> Vec<Proposal> {
        let count = count.min(self.left.len());
        let next = self.left.drain(..count);
        next.map(|genome| Proposal { genome, operator: None, parent: None }).collect()
    }

    fn tell(&mut self, _: &SearchSpace, _: &[Judged<Trial>]) {}

    fn save(&self) -> Result<Vec<u8>, StateError> {
        Ok(Vec::new())
    }
}

/// A contestant whose runs on each space were made elsewhere: `traces` holds one for each space, by name.
pub fn contestant(name: String, traces: Vec<(String, Trace)>) -> Contestant {
    let traces: Arc<[(String, Trace)]> = traces.into();
    let create = move |space: &ScoredSpace, run: u32| -> Box<dyn Strategy> {
        let trace = traces.iter().find(|(name, _)| name == space.name());
        let visited = trace.and_then(|(_, trace)| trace.runs.get(run as usize));
        let configurations = space.recorded().configurations();
        let genome = |&at: &usize| configurations.get(at).map(|of| Genome(of.values.clone()));
        Box::new(Replayed { left: visited.into_iter().flatten().filter_map(genome).collect() })
    };
    Contestant { name, create: Box::new(create) }
}
