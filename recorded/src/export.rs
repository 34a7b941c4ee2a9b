//! A recorded space in the forms that other tools read.

use serde_json::{Map, Value as Json, json};

use crate::space::{Configuration, FailureKind, RecordedSpace};
use crate::value::Value;

/// The space as T4 results (schema 1.0.0), times in ms. Kernel and device stand in `metadata`.
///
/// Reading it back gives the same values, times and costs; samples in launches that are not part of the
/// evidence are counted as work of the framework.
pub fn t4(space: &RecordedSpace) -> Json {
    let results = (0..space.configurations().len()).filter_map(|at| {
        let configuration = &space.configurations()[at];
        let times = Times::of(configuration);
        let values = named(space, at)?;
        let mut result = json!({
            "configuration": values,
            "objectives": ["time"],
            "times": {
                "compilation_time": configuration.cost.compile_ms,
                "runtimes": times.samples_ms,
                "framework": times.framework_ms,
                "search_algorithm": configuration.cost.strategy_ms,
                "validation": configuration.cost.verification_ms,
            },
            "invalidity": "correct",
            "correctness": 1,
            "measurements": [],
        });
        match &configuration.result {
            Ok(timing) => {
                result["measurements"] = json!([{ "name": "time", "value": timing.time_ms, "unit": "ms" }]);
            }
            Err(failure) => {
                result["invalidity"] = json!(invalidity(failure.kind));
                result["correctness"] = json!(0);
            }
        }
        Some(result)
    });
    json!({
        "schema_version": "1.0.0",
        "metadata": { "kernel": space.kernel(), "device": space.device() },
        "results": results.collect::<Vec<_>>(),
    })
}

/// The space as a cache file of Kernel Tuner (schema 1.1.0), times in ms; `recorded` is the date and time, RFC
/// 3339, that every configuration bears.
///
/// Kernel Tuner knows three kinds of failure: what timed out or computed something else failed at run time.
pub fn kernel_tuner_cache(space: &RecordedSpace, recorded: &str) -> Json {
    let names: Vec<&str> = space.parameters().iter().map(|parameter| &*parameter.name).collect();
    let lists = space.parameters().iter().map(|parameter| (parameter.name.clone(), json!(parameter.values)));
    let mut cache = Map::new();
    for (at, configuration) in space.configurations().iter().enumerate() {
        let (Some(values), Some(mut entry)) = (space.values(at), named(space, at)) else { continue };
        let times = Times::of(configuration);
        let time = match &configuration.result {
            Ok(timing) => json!(timing.time_ms),
            Err(failure) => json!(failed_class(failure.kind)),
        };
        entry.insert("time".to_owned(), time);
        if configuration.result.is_ok() {
            entry.insert("times".to_owned(), json!(times.samples_ms));
        }
        for (name, cost) in [
            ("compile_time", configuration.cost.compile_ms),
            ("verification_time", configuration.cost.verification_ms),
            ("benchmark_time", configuration.cost.launches_ms),
            ("strategy_time", configuration.cost.strategy_ms),
            ("framework_time", times.framework_ms),
        ] {
            entry.insert(name.to_owned(), json!(cost));
        }
        entry.insert("timestamp".to_owned(), json!(recorded));
        let key: Vec<String> = values.iter().map(ToString::to_string).collect();
        cache.insert(key.join(","), Json::Object(entry));
    }
    json!({
        "schema_version": "1.1.0",
        "device_name": space.device(),
        "kernel_name": space.kernel(),
        "problem_size": "",
        "tune_params_keys": names,
        "tune_params": lists.collect::<Map<_, _>>(),
        "objective": "time",
        "cache": cache,
    })
}

/// Samples, and the framework's time with the launches that are not among them: both formats take the sum of
/// the samples for the time of all launches.
struct Times<'a> {
    samples_ms: &'a [f64],
    framework_ms: f64,
}

impl<'a> Times<'a> {
    fn of(configuration: &'a Configuration) -> Self {
        let samples_ms = configuration.result.as_ref().map_or(&[][..], |timing| &timing.samples_ms);
        let others = configuration.cost.launches_ms - samples_ms.iter().sum::<f64>();
        Self { samples_ms, framework_ms: (configuration.cost.framework_ms + others).max(0.0) }
    }
}

/// Values by parameter.
fn named(space: &RecordedSpace, at: usize) -> Option<Map<String, Json>> {
    let values = space.values(at)?;
    let named = space.parameters().iter().zip(values);
    Some(named.map(|(parameter, value): (_, &Value)| (parameter.name.clone(), json!(value))).collect())
}

fn invalidity(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Illegal => "constraints",
        FailureKind::Compile => "compile",
        FailureKind::Run => "runtime",
        FailureKind::Timeout => "timeout",
        FailureKind::WrongAnswer => "correctness",
    }
}

fn failed_class(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Illegal => "InvalidConfig",
        FailureKind::Compile => "CompilationFailedConfig",
        FailureKind::Run | FailureKind::Timeout | FailureKind::WrongAnswer => "RuntimeFailedConfig",
    }
}
