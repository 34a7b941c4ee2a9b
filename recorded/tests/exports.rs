//! What is written for other tools is what they ask for, and reads back as what it was.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::Path;

use serde_json::{Value as Json, json};
use tilewright_recorded::{
    Builder, Content, Cost, Failure, FailureKind, RecordedSpace, Row, Timing, Value, kernel_tuner_cache,
    parse, read, t4,
};

fn space() -> RecordedSpace {
    let row = |block: i64, mode: &str, result| Row {
        place: String::new(),
        values: vec![
            Value::Integer(block),
            Value::Text(mode.to_owned()),
            Value::Real(0.5),
            Value::Boolean(block > 8),
        ],
        cost: Cost {
            compile_ms: 20.0,
            launches_ms: if Result::is_ok(&result) { 3.5 } else { 0.0 },
            framework_ms: 1.25,
            strategy_ms: 0.5,
            verification_ms: 0.25,
        },
        result,
    };
    let failed = |kind| Err(Failure { kind, text: String::new() });
    let builder = Builder {
        file: "test".to_owned(),
        kernel: "blur".to_owned(),
        device: "Some GPU".to_owned(),
        digest: String::new(),
        cut_off: false,
        names: ["block", "mode", "scale", "wide"].map(str::to_owned).to_vec(),
        rows: vec![
            row(8, "a", Ok(Timing { time_ms: 1.75, samples_ms: vec![1.5, 2.0] })),
            row(16, "a", failed(FailureKind::Illegal)),
            row(32, "a", failed(FailureKind::Compile)),
            row(8, "b, c", failed(FailureKind::Run)),
            row(16, "b, c", failed(FailureKind::Timeout)),
            row(32, "b, c", failed(FailureKind::WrongAnswer)),
        ],
    };
    builder.build().unwrap()
}

fn again(text: &str) -> RecordedSpace {
    let Content::Space(space) = parse(text.as_bytes(), "again").unwrap() else { panic!("a space") };
    space
}

/// Everything but the digest and the words of failures, which the formats have no place for.
fn same(first: &RecordedSpace, second: &RecordedSpace) -> bool {
    let alike = first.configurations().iter().zip(second.configurations()).all(|(first, second)| {
        let cost = (first.cost.seconds() - second.cost.seconds()).abs() < 1e-9;
        cost && first.values == second.values && first.result.as_ref().ok() == second.result.as_ref().ok()
    });
    alike
        && first.configurations().len() == second.configurations().len()
        && (first.kernel(), first.device()) == (second.kernel(), second.device())
        && first.parameters() == second.parameters()
}

fn kinds(space: &RecordedSpace) -> Vec<Option<FailureKind>> {
    space.configurations().iter().map(|of| of.result.as_ref().err().map(|failure| failure.kind)).collect()
}

/// What the schema of T4 results asks for.
fn check_t4(written: &Json) {
    let version: Vec<&str> = written["schema_version"].as_str().unwrap().split('.').collect();
    assert!(version.len() == 3 && version.iter().all(|part| part.parse::<u32>().is_ok()));
    for result in written["results"].as_array().unwrap() {
        assert!(result["configuration"].is_object() && result["objectives"].is_array());
        let times = result["times"].as_object().unwrap();
        for name in ["compilation_time", "framework", "search_algorithm", "validation"] {
            assert!(times[name].is_number(), "{name}");
        }
        assert!(times["runtimes"].is_array() && result["correctness"].is_number());
        let kinds = ["timeout", "compile", "runtime", "correctness", "constraints", "correct"];
        assert!(kinds.contains(&result["invalidity"].as_str().unwrap()));
        for measurement in result["measurements"].as_array().unwrap() {
            assert!(measurement["name"].is_string() && measurement["unit"].is_string());
            assert!(measurement["value"].is_number());
        }
    }
}

#[test]
fn t4_results_read_back_as_what_they_were() {
    let space = space();
    let written = t4(&space);
    check_t4(&written);
    let read = again(&written.to_string());
    assert!(same(&read, &space), "{read:?}");
    assert_eq!(kinds(&read), kinds(&space));
}

#[test]
fn a_cache_reads_back_as_what_it_was() {
    let space = space();
    let written = kernel_tuner_cache(&space, "2026-01-01T00:00:00Z");
    assert_eq!(written["tune_params_keys"], json!(["block", "mode", "scale", "wide"]));
    assert_eq!(written["tune_params"]["mode"], json!(["a", "b, c"]));
    for entry in written["cache"].as_object().unwrap().values() {
        for name in ["compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"]
        {
            assert!(entry[name].is_number(), "{name}");
        }
        assert!(entry["time"].is_number() || entry["time"].is_string());
        assert!(entry["timestamp"].is_string());
    }
    let read = again(&written.to_string());
    assert!(same(&read, &space), "{read:?}");
}

#[test]
fn a_campaign_of_our_own_becomes_a_space_and_can_be_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/examples/matmul-64");
    let Content::Space(space) = read(&folder).unwrap() else { panic!("a space") };
    assert!(space.kernel().starts_with("matmul:m=64,n=64,k=64,dtype=f32"), "{}", space.kernel());
    assert!(space.configurations().len() >= 50, "{}", space.configurations().len());
    let valid = space.configurations().iter().filter(|of| of.result.is_ok());
    assert!(valid.count() >= 50);
    assert!(space.parameters().iter().any(|parameter| parameter.ordered && parameter.values.len() > 3));
    let written = t4(&space);
    check_t4(&written);
    assert!(same(&again(&written.to_string()), &space));
    assert!(same(&again(&kernel_tuner_cache(&space, "2026-01-01T00:00:00Z").to_string()), &space));
}
