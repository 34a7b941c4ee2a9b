use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value as Json, json};
use tilewright_evaluator::Evaluation;
use tilewright_journal::EvalError;
use tilewright_recorded::{Content, RecordedError, RecordedSpace, Value, kernel_tuner_cache, read};
use tilewright_stats::Evidence;

/// Digits of a time that are kept: far more than a measurement is sure of, and files stay small.
const DIGITS: usize = 5;
const NS_PER_MS: f64 = 1e6;

/// Why a recording cannot be written or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The system refused.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file is there and holds something else.
    #[error(
        "{path} is no recording of this sub-space on this processor ({problem}); remove it to begin anew"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What differs.
        problem: String,
    },
    /// The file that was written cannot be read.
    #[error(transparent)]
    Unreadable(#[from] RecordedError),
}

/// An open cache file of Kernel Tuner: a header, then one configuration a line, appended as they are measured.
/// What a killed process leaves is a cut-off file, which is gone on with.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    file: File,
    names: Vec<String>,
    /// Configurations that it holds, by their values' texts.
    known: BTreeSet<String>,
}

impl Recording {
    /// Opens a recording of a kernel on a device, with these parameters; goes on with what is there.
    ///
    /// # Errors
    /// When the file cannot be opened, or is another recording.
    pub fn open(path: &Path, kernel: &str, device: &str, names: &[&str]) -> Result<Self, RecordingError> {
        let wrong = |error| RecordingError::Io { path: path.to_owned(), error };
        let header = json!({
            "device_name": device,
            "kernel_name": kernel,
            "problem_size": "",
            "tune_params_keys": names,
            "objective": "time",
            "cache": {},
        });
        let mut header = header.to_string();
        // Everything but the two brackets at the end, which stay open.
        header.truncate(header.len() - 2);
        header.push('\n');
        let mut recording = Self {
            path: path.to_owned(),
            file: OpenOptions::new().create(true).append(true).open(path).map_err(wrong)?,
            names: names.iter().map(|&name| name.to_owned()).collect(),
            known: BTreeSet::new(),
        };
        let text = std::fs::read_to_string(path).map_err(wrong)?;
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        recording.file.set_len(whole as u64).map_err(wrong)?;
        if whole == 0 {
            recording.file.write_all(header.as_bytes()).map_err(wrong)?;
            return Ok(recording);
        }
        let foreign =
            |problem: &str| RecordingError::Foreign { path: path.to_owned(), problem: problem.to_owned() };
        let lines = text[..whole].strip_prefix(&header).ok_or_else(|| foreign("its first line differs"))?;
        for line in lines.lines() {
            let entry = line.strip_suffix(',').unwrap_or(line);
            let (key, _) = entry.split_once("\": {").ok_or_else(|| foreign("a line is no configuration"))?;
            recording.known.insert(key.trim_start_matches('"').to_owned());
        }
        Ok(recording)
    }

    /// Whether it holds a configuration already.
    pub fn contains(&self, values: &[Value]) -> bool {
        self.known.contains(&key(values))
    }

    /// Configurations that it holds.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Appends a configuration and what became of it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, values: &[Value], evaluation: &Evaluation) -> Result<(), RecordingError> {
        let mut entry: Map<String, Json> =
            self.names.iter().zip(values).map(|(name, value)| (name.clone(), json!(value))).collect();
        entry.extend(measured(evaluation));
        let key = key(values);
        let line = format!("{}: {},\n", json!(key), Json::Object(entry));
        self.known.insert(key);
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|error| RecordingError::Io { path: self.path.clone(), error })
    }

    /// Writes what it holds as a whole cache file, gzipped; `date` is when it was recorded.
    ///
    /// # Errors
    /// When it cannot be read back or the file cannot be written.
    pub fn finish(&self, into: &Path, date: &str) -> Result<RecordedSpace, RecordingError> {
        let Content::Space(space) = read(&self.path)? else {
            let problem = "it reads as a problem".to_owned();
            return Err(RecordingError::Foreign { path: self.path.clone(), problem });
        };
        let text = kernel_tuner_cache(&space, date).to_string();
        let wrong = |error| RecordingError::Io { path: into.to_owned(), error };
        let mut zipped = GzEncoder::new(File::create(into).map_err(wrong)?, Compression::best());
        zipped.write_all(text.as_bytes()).map_err(wrong)?;
        zipped.finish().map_err(wrong)?;
        Ok(space)
    }
}

fn key(values: &[Value]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The fields of an evaluation, times in ms.
fn measured(evaluation: &Evaluation) -> Vec<(String, Json)> {
    let elapsed_ms = evaluation.elapsed_ns as f64 / NS_PER_MS;
    let (time, samples, compile_ms) = match &evaluation.outcome {
        Ok(measurement) => (
            json!(rounded(measurement.median_ns / NS_PER_MS)),
            samples_ms(&evaluation.evidence),
            measurement.codegen_ns as f64 / NS_PER_MS,
        ),
        Err(EvalError::Compile(_)) => (json!("CompilationFailedConfig"), Vec::new(), elapsed_ms),
        Err(_) => (json!("RuntimeFailedConfig"), Vec::new(), 0.0),
    };
    let rest = elapsed_ms - compile_ms - samples.iter().sum::<f64>();
    let fields = [
        ("time", time),
        ("times", json!(samples)),
        ("compile_time", json!(rounded(compile_ms))),
        ("verification_time", json!(0)),
        ("benchmark_time", json!(0)),
        ("strategy_time", json!(0)),
        ("framework_time", json!(rounded(rest.max(0.0)))),
    ];
    let present = fields.into_iter().filter(|(name, value)| *name != "times" || *value != json!([]));
    present.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The candidate's samples, ms.
fn samples_ms(evidence: &Evidence) -> Vec<f64> {
    let candidate = evidence.sides().map_or(&[][..], |(_, candidate)| candidate);
    candidate.iter().map(|time_ns| rounded(time_ns / NS_PER_MS)).collect()
}

/// A number with [`DIGITS`] significant decimal digits, as its text has them.
fn rounded(number: f64) -> f64 {
    format!("{number:.*e}", DIGITS - 1).parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_five_digits() {
        assert_eq!(rounded(0.004_797_254_9), 0.004_797_3);
        assert_eq!((rounded(0.0), rounded(123_456.7)), (0.0, 123_460.0));
    }
}
