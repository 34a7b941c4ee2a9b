//! The cache file of Kernel Tuner: an object whose `cache` holds one object a configuration, with the values
//! of `tune_params_keys`, the mean `time` or the name of a failure, the single `times`, and what each step
//! took, in ms (format versions 1.0 and 1.1, <https://kerneltuner.github.io/kernel_tuner/stable/cache_files.html>).

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::builder::{Builder, Row};
use crate::document::Document;
use crate::error::RecordedError;
use crate::space::{Cost, Failure, FailureKind, Timing};
use crate::value::{Scalar, Value};

/// Older versions wrote this time, ms, for what failed.
const OLD_FAILURE_MS: f64 = 1e20;

/// Configurations by key, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Entries(Vec<(String, Entry)>);

#[derive(Debug, Default)]
struct Entry {
    scalars: Vec<(String, Value)>,
    time: Option<Value>,
    times: Option<Vec<f64>>,
    cost: Cost,
}

/// The space of a cache.
pub(crate) fn space(builder: Builder, document: Document) -> Result<crate::RecordedSpace, RecordedError> {
    let file = builder.file.clone();
    let Some(names) = document.tune_params_keys else {
        let problem = "it is missing, so nobody knows which values are parameters";
        let remedy = "give the whole file, from its beginning";
        return Err(RecordedError::field(&file, "the header", "tune_params_keys", problem, remedy));
    };
    if let Some(objective) = document.objective.filter(|objective| objective != "time") {
        let problem = format!("`{objective}`: only times can be replayed");
        return Err(RecordedError::field(&file, "the header", "objective", problem, "record `time`"));
    }
    let entries = document.cache.map(|entries| entries.0).unwrap_or_default();
    let rows = entries.into_iter().map(|(key, entry)| row(&file, &names, &key, entry));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let named = |name: Option<String>| name.filter(|name| !name.trim().is_empty());
    let kernel = named(document.kernel_name).unwrap_or(builder.kernel);
    let device = named(document.device_name).unwrap_or(builder.device);
    Builder { kernel, device, names, rows, ..builder }.build()
}

fn row(file: &str, names: &[String], key: &str, entry: Entry) -> Result<Row, RecordedError> {
    let place = format!("configuration {key}");
    let remedy = "correct the file, or leave the configuration out";
    let values = names.iter().map(|name| {
        let found = entry.scalars.iter().find(|(of, _)| of == name).map(|(_, value)| value.clone());
        found.ok_or_else(|| RecordedError::field(file, &place, name, "the parameter has no value", remedy))
    });
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let samples_ms = entry.times.unwrap_or_default();
    let launches_ms = samples_ms.iter().sum();
    let result = match entry.time {
        Some(Value::Text(text)) => Err(Failure { kind: kind(&text), text }),
        Some(value) => match value.number() {
            Some(time_ms) if time_ms >= OLD_FAILURE_MS => {
                Err(Failure { kind: FailureKind::Run, text: "recorded without a time".to_owned() })
            }
            Some(time_ms) => Ok(Timing { time_ms, samples_ms }),
            None => return Err(RecordedError::field(file, place, "time", "not a number", remedy)),
        },
        None => return Err(RecordedError::field(file, place, "time", "it is missing", remedy)),
    };
    let launches_ms = if result.is_ok() { launches_ms } else { 0.0 };
    Ok(Row { place, values, result, cost: Cost { launches_ms, ..entry.cost } })
}

/// The stage of a failure, by the name of its class in Kernel Tuner.
fn kind(name: &str) -> FailureKind {
    match name {
        "InvalidConfig" => FailureKind::Illegal,
        "CompilationFailedConfig" => FailureKind::Compile,
        _ => FailureKind::Run,
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("configurations by their key")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a configuration")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
        let mut entry = Entry::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "time" => entry.time = map.next_value::<Scalar>()?.0,
                "times" => entry.times = map.next_value()?,
                "compile_time" => entry.cost.compile_ms = part(&mut map)?,
                "framework_time" => entry.cost.framework_ms = part(&mut map)?,
                "strategy_time" => entry.cost.strategy_ms = part(&mut map)?,
                "verification_time" => entry.cost.verification_ms = part(&mut map)?,
                _ => {
                    if let Scalar(Some(value)) = map.next_value()? {
                        entry.scalars.push((name, value));
                    }
                }
            }
        }
        Ok(entry)
    }
}

/// A part of the cost; 0 where it was not recorded.
fn part<'de, A: MapAccess<'de>>(map: &mut A) -> Result<f64, A::Error> {
    Ok(map.next_value::<Option<f64>>()?.unwrap_or(0.0))
}
