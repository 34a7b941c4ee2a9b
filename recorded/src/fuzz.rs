//! Hostile recordings, problems and expressions: an error, or something that can be searched.

use tilewright_fuzz::Fuzz;

use crate::expression::Expression;
use crate::{Content, Value, kernel_tuner_cache, parse, t4};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn read(bytes: &[u8]) {
    match parse(bytes, "file.json") {
        Ok(Content::Space(space)) => {
            for at in 0..space.configurations().len().min(50) {
                assert!(space.schedule(at).is_some() && space.values(at).is_some());
                assert!(space.configurations()[at].values.len() == space.parameters().len());
            }
            // What was read can be written for others.
            let _ = (t4(&space).to_string(), kernel_tuner_cache(&space, "now").to_string());
        }
        Ok(Content::Problem(problem)) => assert!(!format!("{problem:?}").is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

const CACHE: &str = r#"{"device_name":"A100","kernel_name":"blur","tune_params_keys":["x","y","mode"],
"tune_params":{"x":[1,2],"y":[1.5,2],"mode":["a","b"]},"objective":"time","cache":{
"1,1.5,a":{"x":1,"y":1.5,"mode":"a","time":2.5,"times":[2.5,2.6],"compile_time":500.0,"verification_time":0,
"benchmark_time":3.0,"strategy_time":0,"framework_time":1.0,"timestamp":"2024-01-01 00:00:00+00:00"},
"2,2,b":{"x":2,"y":2,"mode":"b","time":"RuntimeFailedConfig","times":[],"compile_time":500.0}}}"#;

const T4: &str = r#"{"schema_version":"1.0.0","metadata":{"a":1},"results":[
{"timestamp":"2024-01-01","configuration":{"x":1,"mode":"a"},"times":{"compilation_time":5.0,"framework":1,
"search_algorithm":0,"validation":0,"runtimes":[2.5,2.6]},"invalidity":"correct","correctness":1,
"measurements":[{"name":"time","value":2.5,"unit":"ms"}],"objectives":["time"]},
{"configuration":{"x":2,"mode":"a"},"times":{"compilation_time":5.0,"runtimes":[]},"invalidity":"compile",
"correctness":0,"measurements":[],"objectives":["time"]}]}"#;

const T1: &str = r#"{"ConfigurationSpace":{"TuningParameters":[
{"Name":"x","Type":"int","Values":"[1, 2, 4]","Default":1},{"Name":"y","Type":"int","Values":"[i*8 for i in range(1,9)]"}],
"Conditions":[{"Parameters":["x","y"],"Expression":"x * y <= 64 and (x > 1 or y % 16 == 0)"}]},
"General":{"BenchmarkName":"blur","FormatVersion":1},"KernelSpecification":{"Language":"CUDA","KernelName":"blur"}}"#;

#[test]
fn fuzzed_kernel_tuner_caches_are_refused_or_read() {
    Fuzz::new(HERE, "kernel-tuner-cache").seed(CACHE).run(read);
}

#[test]
fn fuzzed_t4_results_are_refused_or_read() {
    Fuzz::new(HERE, "t4").seed(T4).run(read);
}

#[test]
fn fuzzed_t1_problems_are_refused_or_read() {
    Fuzz::new(HERE, "t1").seed(T1).run(read);
}

#[test]
fn fuzzed_expressions_are_refused_or_evaluated() {
    let texts = [
        "x * y <= 64 and (x > 1 or y % 16 == 0)",
        "not (x // 2 in [1, 2, 4]) and min(x, y) ** 2 < 1e3",
        "all(i * x > 0 for i in range(1, y))",
        "x if y > 2 else -x",
        "abs(-x) + max(1, 2, y) != len([1, 2]) * 0x10",
        "1 < x < y <= 32 and 'a' == mode",
        "[i * j for i in range(3) for j in [1, 2] if i != j]",
    ];
    let fuzz = texts.iter().fold(Fuzz::new(HERE, "expression"), Fuzz::seed);
    fuzz.run(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Ok(expression) = Expression::parse(&text) else { return };
        assert_eq!(
            Expression::parse(expression.text()).as_ref().map(Expression::names),
            Ok(expression.names())
        );
        let value_of = |name: &str| match name {
            "x" => Some(Value::Integer(4)),
            "y" => Some(Value::Integer(i64::MAX)),
            "mode" => Some(Value::Text("a".to_owned())),
            _ => None,
        };
        let first = expression.holds(&value_of);
        assert_eq!(format!("{first:?}"), format!("{:?}", expression.holds(&value_of)));
    });
}
