//! T4 results: the benchmark hub's exchange form of what a tuner measured, schema 1.0.0 ("Open Autotuning
//! Results Schema"). Times are in ms; the objective is the measurement named `time`, or the first objective.

use serde::Deserialize;

use crate::builder::{Builder, Row};
use crate::document::Document;
use crate::error::RecordedError;
use crate::space::{Cost, Failure, FailureKind, RecordedSpace, Timing};
use crate::value::{Scalar, Value};

/// One result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct T4Result {
    configuration: Configuration,
    objectives: Vec<String>,
    times: Times,
    invalidity: Option<String>,
    measurements: Vec<Measurement>,
}

/// Values by parameter, in the order of the file.
#[derive(Debug, Default)]
struct Configuration(Vec<(String, Value)>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Times {
    // The schema says the first, tools write the second.
    compilation_time: Option<f64>,
    compilation: Option<f64>,
    runtimes: Vec<f64>,
    framework: Option<f64>,
    search_algorithm: Option<f64>,
    validation: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Measurement {
    name: String,
    #[serde(default)]
    value: Option<Scalar>,
    #[serde(default)]
    unit: String,
}

/// The space of a T4 file.
pub(crate) fn space(builder: Builder, document: Document) -> Result<RecordedSpace, RecordedError> {
    let results = document.results.unwrap_or_default();
    let names: Vec<String> = match results.first() {
        Some(first) => first.configuration.0.iter().map(|(name, _)| name.clone()).collect(),
        None => Vec::new(),
    };
    let file = builder.file.clone();
    let rows = results.into_iter().zip(1..).map(|(result, number)| row(&file, &names, number, result));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let text = |scalar: Option<Scalar>| scalar.and_then(|scalar| scalar.0).map(|value| value.to_string());
    let metadata = document.metadata.unwrap_or_default();
    let kernel = document.kernel_name.or(text(metadata.kernel)).unwrap_or(builder.kernel);
    let device = document.device_name.or(text(metadata.device)).unwrap_or(builder.device);
    Builder { kernel, device, names, rows, ..builder }.build()
}

fn row(file: &str, names: &[String], number: usize, result: T4Result) -> Result<Row, RecordedError> {
    let place = format!("result {number}");
    let remedy = "correct the file, or leave the result out";
    let given = &result.configuration.0;
    let values = names.iter().map(|name| {
        let found = given.iter().find(|(of, _)| of == name).map(|(_, value)| value.clone());
        found.ok_or_else(|| RecordedError::field(file, &place, name, "the parameter has no value", remedy))
    });
    let values = values.collect::<Result<Vec<_>, _>>()?;
    if let Some((extra, _)) = given.iter().find(|(name, _)| !names.contains(name)) {
        let problem = "the first result has no such parameter";
        return Err(RecordedError::field(file, place, extra, problem, remedy));
    }
    let Times { compilation_time, compilation, runtimes, framework, search_algorithm, validation } =
        result.times;
    let cost = Cost {
        compile_ms: compilation_time.or(compilation).unwrap_or(0.0),
        launches_ms: 0.0,
        framework_ms: framework.unwrap_or(0.0),
        strategy_ms: search_algorithm.unwrap_or(0.0),
        verification_ms: validation.unwrap_or(0.0),
    };
    if let Some(kind) = result.invalidity.as_deref().and_then(failure) {
        let text = result.invalidity.unwrap_or_default();
        return Ok(Row { place, values, result: Err(Failure { kind, text }), cost });
    }
    let objective = match result.objectives.first() {
        Some(first) => first.as_str(),
        None => "time",
    };
    let measured = result.measurements.iter().find(|measurement| measurement.name == objective);
    if let Some(measured) = measured.filter(|measured| !matches!(measured.unit.as_str(), "" | "ms")) {
        let problem = format!("`{objective}` is in `{}`: only times in ms can be replayed", measured.unit);
        return Err(RecordedError::field(file, place, "unit", problem, remedy));
    }
    let value = measured.and_then(|measured| measured.value.as_ref()?.0.as_ref()?.number());
    let mean = || (!runtimes.is_empty()).then(|| runtimes.iter().sum::<f64>() / runtimes.len() as f64);
    let Some(time_ms) = value.or_else(mean) else {
        let problem = "neither a measured value nor run times";
        return Err(RecordedError::field(file, place, objective, problem, remedy));
    };
    let cost = Cost { launches_ms: runtimes.iter().sum(), ..cost };
    Ok(Row { place, values, result: Ok(Timing { time_ms, samples_ms: runtimes }), cost })
}

/// The stage of a failure; `None` for a result that is right.
fn failure(invalidity: &str) -> Option<FailureKind> {
    match invalidity {
        "correct" => None,
        "constraints" => Some(FailureKind::Illegal),
        "compile" => Some(FailureKind::Compile),
        "timeout" => Some(FailureKind::Timeout),
        "correctness" => Some(FailureKind::WrongAnswer),
        _ => Some(FailureKind::Run),
    }
}

impl<'de> Deserialize<'de> for Configuration {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> serde::de::Visitor<'de> for InOrder {
            type Value = Configuration;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("values by parameter")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Configuration, A::Error> {
                let mut values = Vec::new();
                while let Some((name, scalar)) = map.next_entry::<String, Scalar>()? {
                    values.extend(scalar.0.map(|value| (name, value)));
                }
                Ok(Configuration(values))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}
