use serde::{Deserialize, Serialize};
use tilewright_ir::{SCHEDULE_VERSION, Schedule};
use tilewright_journal::Subject;

use crate::value::Value;

/// All configurations of a kernel that were measured on a device. Made by [`Builder`](crate::Builder), which
/// checks the numbers; then no longer changed.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSpace {
    pub(crate) kernel: String,
    pub(crate) device: String,
    pub(crate) digest: String,
    pub(crate) cut_off: bool,
    pub(crate) parameters: Vec<Parameter>,
    /// In ascending order of their values, each once.
    pub(crate) configurations: Vec<Configuration>,
}

/// A tuning parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Every value that a configuration has, each once: numbers ascending, then the rest.
    pub values: Vec<Value>,
    /// Whether all values are whole numbers from 0 on, so that neighbours are alike.
    pub ordered: bool,
}

/// A configuration with what was recorded of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// Index of its value in each parameter's list.
    pub values: Box<[u16]>,
    /// Its times, or how it failed.
    pub result: Result<Timing, Failure>,
    /// What recording it cost.
    pub cost: Cost,
}

/// Times of a configuration that works.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// The objective: the recorded time of a launch, ms.
    pub time_ms: f64,
    /// Single launches in order of recording, ms; at least one.
    pub samples_ms: Vec<f64>,
}

/// How a configuration failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// At which stage.
    pub kind: FailureKind,
    /// What the recording says.
    pub text: String,
}

/// The stage at which a configuration failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// It is not legal.
    Illegal,
    /// It does not compile.
    Compile,
    /// It does not run.
    Run,
    /// It did not end in time.
    Timeout,
    /// It computes something else.
    WrongAnswer,
}

/// What recording a configuration cost, by part, ms.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Compiling.
    pub compile_ms: f64,
    /// All timed launches.
    pub launches_ms: f64,
    /// The tuner's own work.
    pub framework_ms: f64,
    /// The search strategy.
    pub strategy_ms: f64,
    /// Checking the answer.
    pub verification_ms: f64,
}

impl Cost {
    /// All parts, seconds.
    pub fn seconds(&self) -> f64 {
        let sum = self.compile_ms + self.launches_ms + self.framework_ms + self.strategy_ms;
        (sum + self.verification_ms) / 1000.0
    }
}

impl Timing {
    /// Launches as evidence, ns. Where their mean is not the recorded time (a recording whose samples come
    /// from another run than its times), they are scaled to it: their spread is all that they can tell then.
    pub fn evidence_ns(&self) -> Vec<f64> {
        let mean = self.samples_ms.iter().sum::<f64>() / self.samples_ms.len() as f64;
        let off = self.time_ms / mean;
        let scale = if (off - 1.0).abs() > 1e-3 { off } else { 1.0 };
        self.samples_ms.iter().map(|sample| sample * scale * 1e6).collect()
    }
}

impl RecordedSpace {
    /// Name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Name of the device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// BLAKE3 digest of the recording, lower-case hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether the file ended before the recording did.
    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    /// The tuning parameters, in the recording's order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// All configurations, in ascending order of their value indices, each once; at least one.
    pub fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }

    /// Position of the configuration with these value indices.
    pub fn find(&self, values: &[u16]) -> Option<usize> {
        self.configurations.binary_search_by(|configuration| (*configuration.values).cmp(values)).ok()
    }

    /// Values of a configuration, by parameter; `None` beyond the list.
    pub fn values(&self, at: usize) -> Option<Vec<&Value>> {
        let indices = &self.configurations.get(at)?.values;
        Some(
            self.parameters
                .iter()
                .zip(indices)
                .map(|(parameter, &at)| &parameter.values[usize::from(at)])
                .collect(),
        )
    }

    /// A configuration as a schedule: ordered parameters as numbers, others by the text of their value.
    pub fn schedule(&self, at: usize) -> Option<Schedule> {
        let values = self.values(at)?;
        let named = self.parameters.iter().zip(values);
        let parameters = named.map(|(of, value)| (of.name.clone(), value.parameter(of.ordered))).collect();
        Some(Schedule { version: SCHEDULE_VERSION, parameters })
    }

    /// What the trials of a replay are about.
    pub fn subject(&self) -> Subject {
        Subject::Recorded(tilewright_journal::RecordedSpace {
            space: self.kernel.clone(),
            device: self.device.clone(),
            digest: self.digest.clone(),
            parameters: self.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        })
    }
}
