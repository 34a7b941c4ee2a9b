//! Answers from the simulator: what a candidate would take on a described chip.

use tilewright_ir::CacheState;
use tilewright_ir::workspace::workspace_layout;
use tilewright_journal::{EvalError, Fidelity, Measurement};
use tilewright_simulator::{Chip, simulate_from};
use tilewright_stats::Evidence;

use crate::runner::{BatchReport, Evaluation, Runner, Task};

/// The runner. It generates no code and runs nothing; an evaluation is charged the time of the launch that it
/// predicts.
#[derive(Debug, Clone)]
pub struct SimulatedRunner {
    chip: Chip,
    cache: CacheState,
}

impl SimulatedRunner {
    /// Launches on this chip that begin with caches in this state.
    pub fn new(chip: Chip, cache: CacheState) -> Self {
        Self { chip, cache }
    }

    fn predict(&self, task: &Task) -> Result<f64, EvalError> {
        let program = task.program.as_ref();
        let program = program.ok_or_else(|| EvalError::Lost("there is no program to simulate".to_owned()))?;
        let predicted = simulate_from(program, &self.chip, self.cache);
        predicted
            .map(|prediction| prediction.time_ns)
            .map_err(|error| EvalError::Compile(format!("cannot be simulated: {error}")))
    }

    fn evaluate(&self, incumbent_ns: Option<f64>, task: &Task) -> Evaluation {
        match self.predict(task) {
            Ok(time_ns) => Evaluation {
                outcome: Ok(Measurement {
                    workspace_bytes: workspace_bytes(task),
                    ..Measurement::predicted(time_ns)
                }),
                // The first stands beside itself.
                evidence: Evidence::Exact { incumbent: incumbent_ns.unwrap_or(time_ns), candidate: time_ns },
                elapsed_ns: time_ns as u64,
            },
            Err(error) => {
                let evidence = Evidence::Failure { kind: error.kind().to_owned(), reproduced: true };
                Evaluation { outcome: Err(error), evidence, elapsed_ns: 0 }
            }
        }
    }
}

/// Scratch memory of a launch, placed as the code generators place it.
fn workspace_bytes(task: &Task) -> u64 {
    let layout = task.program.as_deref().and_then(workspace_layout);
    layout.map_or(0, |layout| layout.bytes)
}

impl Runner for SimulatedRunner {
    fn run(&mut self, incumbent: Option<&Task>, batch: &[Task]) -> BatchReport {
        let incumbent_ns = incumbent.and_then(|task| self.predict(task).ok());
        let evaluations = batch.iter().map(|task| self.evaluate(incumbent_ns, task)).collect();
        BatchReport { evaluations, overhead_ns: 0 }
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Simulated
    }
}
