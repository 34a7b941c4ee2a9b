use std::path::{Path, PathBuf};
use std::process::Command;

use super::trace::Trace;

/// A tuner outside with the strategies of it that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its strategies.
    pub strategies: &'static [&'static str],
    /// Program and script, below `benchmarks/field`.
    program: &'static str,
    script: Option<&'static str>,
}

const PYTHON: &str = "build/venv/bin/python";

/// All of them.
pub const TOOLS: [Tool; 3] = [
    Tool { name: "optuna", strategies: &["tpe"], program: PYTHON, script: Some("optuna_peer.py") },
    Tool {
        name: "kernel_tuner",
        strategies: &[
            "adaptive_tabu_greywolf",
            "hybrid_vndx",
            "diff_evo",
            "genetic_algorithm",
            "pso",
            "dual_annealing",
        ],
        program: PYTHON,
        script: Some("kernel_tuner_peer.py"),
    },
    Tool {
        name: "optimizer",
        strategies: &["tpe", "multivariate_tpe", "differential_evolution"],
        program: "build/target/release/tilewright-field-optimizer",
        script: None,
    },
];

/// Why a tuner gave no trace.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It could not be started.
    #[error("{program}: {error}")]
    Start {
        /// What was to be started.
        program: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// It failed.
    #[error("{tool}, {strategy} on {plan}: {problem}")]
    Failed {
        /// Its name.
        tool: &'static str,
        /// The strategy.
        strategy: String,
        /// The file that it read.
        plan: String,
        /// The end of what it said.
        problem: String,
    },
}

impl Tool {
    /// Whether it is installed below `field`.
    pub fn is_installed(&self, field: &Path) -> bool {
        field.join(self.program).exists()
    }

    /// Has it run a strategy on the space of a plan.
    ///
    /// # Errors
    /// When it cannot be started, or fails.
    pub fn run(&self, field: &Path, plan: &Path, strategy: &str) -> Result<Trace, ToolError> {
        let program: PathBuf = field.join(self.program);
        let script = self.script.map(|script| field.join(script));
        let output = Command::new(&program)
            .args(script)
            .arg(plan)
            .arg(strategy)
            .output()
            .map_err(|error| ToolError::Start { program: program.display().to_string(), error })?;
        let failed = |problem: String| ToolError::Failed {
            tool: self.name,
            strategy: strategy.to_owned(),
            plan: plan.display().to_string(),
            problem,
        };
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let last: Vec<&str> = text.lines().rev().take(3).collect();
            return Err(failed(last.into_iter().rev().collect::<Vec<_>>().join("; ")));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let answer = text.lines().next_back().unwrap_or_default();
        serde_json::from_str(answer).map_err(|error| failed(error.to_string()))
    }
}
