//! From rows of values to a space: checks every number, gives every value an index.

use std::collections::BTreeMap;

use crate::error::RecordedError;
use crate::space::{Configuration, Cost, Failure, Parameter, RecordedSpace, Timing};
use crate::value::Value;

/// Most parameters of a space: far beyond any kernel, and a bound on what a hostile file can ask for.
const MOST_PARAMETERS: usize = 256;
/// Most values of a parameter: what an index of 16 bits can tell apart.
const MOST_VALUES: usize = 1 << 16;
/// Shortest and longest time that is believed, ms: a picosecond and a month.
const TIMES_MS: (f64, f64) = (1e-9, 2.7e9);

/// One configuration before its values have indices.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where it stands in its file, for error messages.
    pub place: String,
    /// One value per parameter.
    pub values: Vec<Value>,
    /// Its times, or how it failed. Without samples the time itself becomes the only one.
    pub result: Result<Timing, Failure>,
    /// What recording it cost.
    pub cost: Cost,
}

/// Collects what a file says of a space.
#[derive(Debug, Clone)]
pub struct Builder {
    /// The file, for error messages.
    pub file: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Name of the device.
    pub device: String,
    /// BLAKE3 digest of the recording.
    pub digest: String,
    /// Whether the file ended before the recording did.
    pub cut_off: bool,
    /// Names of the parameters.
    pub names: Vec<String>,
    /// The configurations.
    pub rows: Vec<Row>,
}

impl Builder {
    /// The space.
    ///
    /// # Errors
    /// When there is no parameter or configuration, one stands twice, or a number is no time.
    pub fn build(self) -> Result<RecordedSpace, RecordedError> {
        self.check_names()?;
        let mut values: Vec<Vec<Value>> = vec![Vec::new(); self.names.len()];
        for row in &self.rows {
            self.check(row)?;
            for (list, value) in values.iter_mut().zip(&row.values) {
                list.push(value.clone());
            }
        }
        let parameters = self.names.iter().zip(values).map(|(name, list)| self.parameter(name, list));
        let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
        let mut places: BTreeMap<Box<[u16]>, String> = BTreeMap::new();
        let mut configurations = Vec::with_capacity(self.rows.len());
        for Row { place, values, result, cost } in self.rows {
            let indices: Box<[u16]> =
                parameters.iter().zip(&values).map(|(of, value)| index(of, value)).collect();
            if let Some(first) = places.get(&indices) {
                let problem = format!("has the values of {first}");
                let remedy = "remove one of the two";
                return Err(RecordedError::field(&self.file, place, "configuration", problem, remedy));
            }
            places.insert(indices.clone(), place);
            let result = result.map(with_samples);
            configurations.push(Configuration { values: indices, result, cost });
        }
        configurations.sort_by(|first, second| first.values.cmp(&second.values));
        Ok(RecordedSpace {
            kernel: self.kernel,
            device: self.device,
            digest: self.digest,
            cut_off: self.cut_off,
            parameters,
            configurations,
        })
    }

    fn check_names(&self) -> Result<(), RecordedError> {
        let wrong = |problem: String, remedy| {
            Err(RecordedError::field(&self.file, "the list of parameters", "parameters", problem, remedy))
        };
        let count = self.names.len();
        if count == 0 || count > MOST_PARAMETERS {
            return wrong(format!("{count} parameters"), "name from 1 to 256");
        }
        let mut sorted: Vec<&String> = self.names.iter().collect();
        sorted.sort_unstable();
        if let Some([twice, _]) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return wrong(format!("`{twice}` stands twice"), "name each once");
        }
        if self.rows.is_empty() {
            return wrong("no configuration was recorded".to_owned(), "record at least one");
        }
        Ok(())
    }

    fn check(&self, row: &Row) -> Result<(), RecordedError> {
        let wrong = |field: &str, problem: String| {
            let remedy = "correct the file, or leave the configuration out";
            Err(RecordedError::field(&self.file, &row.place, field, problem, remedy))
        };
        if row.values.len() != self.names.len() {
            return wrong(
                "configuration",
                format!("{} values for {} parameters", row.values.len(), self.names.len()),
            );
        }
        let believed = |time: f64| (TIMES_MS.0..=TIMES_MS.1).contains(&time);
        if let Ok(timing) = &row.result {
            if !believed(timing.time_ms) {
                return wrong("time", format!("{} ms is no time of a launch", timing.time_ms));
            }
            if let Some(sample) = timing.samples_ms.iter().find(|&&sample| !believed(sample)) {
                return wrong("times", format!("{sample} ms is no time of a launch"));
            }
        }
        let Cost { compile_ms, launches_ms, framework_ms, strategy_ms, verification_ms } = row.cost;
        for (field, cost) in [
            ("compile_time", compile_ms),
            ("times", launches_ms),
            ("framework_time", framework_ms),
            ("strategy_time", strategy_ms),
            ("verification_time", verification_ms),
        ] {
            if !(0.0..=TIMES_MS.1).contains(&cost) {
                return wrong(field, format!("{cost} ms is no time"));
            }
        }
        Ok(())
    }

    fn parameter(&self, name: &str, mut values: Vec<Value>) -> Result<Parameter, RecordedError> {
        values.sort_by(Value::order);
        values.dedup();
        if values.len() > MOST_VALUES {
            let problem = format!("{} different values", values.len());
            return Err(RecordedError::field(
                &self.file,
                "all configurations",
                name,
                problem,
                "have at most 65536",
            ));
        }
        let ordered = values.iter().all(|value| value.size().is_some());
        // Texts stand for values in a schedule, so two values of one text would be one.
        let mut texts: Vec<String> = values.iter().map(Value::to_string).collect();
        texts.sort_unstable();
        if let Some([twice, _]) = texts.windows(2).find(|pair| pair[0] == pair[1]) {
            let problem = format!("two values are written `{twice}`");
            return Err(RecordedError::field(
                &self.file,
                "all configurations",
                name,
                problem,
                "make them differ",
            ));
        }
        Ok(Parameter { name: name.to_owned(), values, ordered })
    }
}

fn index(parameter: &Parameter, value: &Value) -> u16 {
    let found = parameter.values.binary_search_by(|other| other.order(value));
    found.expect("invariant: the list was made of all values") as u16
}

fn with_samples(timing: Timing) -> Timing {
    if timing.samples_ms.is_empty() { Timing { samples_ms: vec![timing.time_ms], ..timing } } else { timing }
}
