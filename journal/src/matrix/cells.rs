use std::path::PathBuf;

use super::{CELLS_FOLDER, Matrix, MatrixTarget, MatrixWorkload, Source};

/// Name of the place where recorded spaces are answered.
const REPLAY: &str = "recorded";

/// One campaign of a matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell<'a> {
    /// What is made fast.
    pub workload: &'a MatrixWorkload,
    /// For what; `None` for a recorded space.
    pub target: Option<&'a MatrixTarget>,
    /// Name of the strategy.
    pub strategy: &'a str,
    /// Seed.
    pub seed: u64,
}

impl Cell<'_> {
    /// Its folder, inside the matrix's.
    pub fn folder(&self) -> PathBuf {
        let target = self.target.map_or(REPLAY, |target| &target.name);
        PathBuf::from(CELLS_FOLDER)
            .join(&self.workload.name)
            .join(target)
            .join(self.strategy)
            .join(format!("seed-{}", self.seed))
    }

    /// Workload and target in words: cells with the same problem can be compared.
    pub fn problem(&self) -> String {
        match self.target {
            Some(target) => format!("{} on {}", self.workload.name, target.name),
            None => self.workload.name.clone(),
        }
    }

    /// Whether evaluations are measurements of this machine, which nothing may disturb.
    pub fn is_timed(&self) -> bool {
        self.target.is_some_and(|target| target.chip.is_none())
    }
}

impl Matrix {
    /// All cells, in the order in which they are run: one seed after the other, so that a matrix that is
    /// stopped early has compared all strategies on whole repetitions.
    pub fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells = Vec::new();
        for &seed in &self.seeds {
            for workload in &self.workloads {
                let targets: Vec<Option<&MatrixTarget>> = match workload.source {
                    Source::Workload(_) => self.targets.iter().map(Some).collect(),
                    Source::Recorded(_) => vec![None],
                };
                for target in targets {
                    for strategy in &self.strategies {
                        cells.push(Cell { workload, target, strategy, seed });
                    }
                }
            }
        }
        cells
    }
}
