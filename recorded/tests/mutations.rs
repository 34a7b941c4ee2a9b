//! A deterministic fuzzer: files of every kind, and expressions, changed at random in ways that damage and malice
//! change them. Nothing may panic, hang or be read as something that contradicts itself.

use flate2::Compression;
use flate2::write::GzEncoder;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::Write;
use tilewright_recorded::expression::Expression;
use tilewright_recorded::{Content, Problem, RecordedSpace, Value, kernel_tuner_cache, parse, t4};

const FILES: [&str; 3] = [
    r#"{"device_name": "Some GPU", "kernel_name": "blur", "tune_params_keys": ["block", "mode"],
"tune_params": {"block": [8, 32], "mode": ["a", "b"]}, "objective": "time", "cache": {
"32,a": {"block": 32, "mode": "a", "time": 2.0, "times": [1.5, 2.5], "compile_time": 100.0, "framework_time": 3},
"8,a": {"block": 8, "mode": "a", "time": "CompilationFailedConfig", "compile_time": 50.0},
"8,b": {"block": 8, "mode": "b", "time": 1e20}}}"#,
    r#"{"schema_version": "1.0.0", "metadata": {"device": "d"}, "results": [
{"configuration": {"block": 32, "mode": "a"}, "objectives": ["time"], "times": {"compilation_time": 10.0, "runtimes": [1.0, 3.0]}, "invalidity": "correct", "measurements": [{"name": "time", "value": 2.0, "unit": "ms"}]},
{"configuration": {"block": 8, "mode": "b"}, "times": {"compilation": 20.0, "runtimes": []}, "invalidity": "timeout"}]}"#,
    r#"{"General": {"BenchmarkName": "blur"}, "ConfigurationSpace": {"TuningParameters": [
{"Name": "block", "Type": "int", "Values": "[8 * i for i in range(1, 5)]", "Default": 8},
{"Name": "mode", "Type": "string", "Values": ["a", "b"], "Default": "a"}],
"Conditions": [{"Expression": "block <= 16 or mode == 'b'", "Parameters": ["block", "mode"]}]}}"#,
];

const EXPRESSIONS: [&str; 6] = [
    "32 <= block * block <= 1024 or mode in ['a', 'b']",
    "[2 ** i for i in range(0, 10, 2)] + [1, 3]",
    "block % 8 == 0 if mode != 'a' else not (block // 3 - -block > 1.5e3)",
    "min(block, 7) * max([1, 2]) - abs(-block) + len(mode) + int(2.5)",
    "(1, 2, block) == (1, 2, 8) and True",
    "block in [i * j for i in range(4)]",
];

/// Pieces that mean something to some reader.
const PIECES: [&str; 28] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "-",
    "1e400",
    "1e-400",
    "-0.0",
    "9223372036854775808",
    "NaN",
    "\"cache\"",
    "\"results\"",
    "\"ConfigurationSpace\"",
    "\"time\"",
    "\u{feff}",
    "é",
    " or ",
    " ** ",
    "range(",
    "((((((((((((((((",
];

/// Changes a text in one to four places.
fn mutated(rng: &mut ChaCha8Rng, source: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = source.to_vec();
    for _ in 0..rng.random_range(1..=4_u32) {
        let at = rng.random_range(0..=bytes.len());
        let end = (at + rng.random_range(0..40_usize)).min(bytes.len());
        match rng.random_range(0..8_u32) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8_u32),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.truncate(at),
            3 => {
                // Something stands twice.
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                let from = rng.random_range(0..other.len());
                let to = (from + rng.random_range(1..60_usize)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            5 => {
                let digit = bytes.iter().skip(at).position(u8::is_ascii_digit);
                if let Some(digit) = digit {
                    bytes[at + digit] = b'0' + (rng.next_u32() % 10) as u8;
                }
            }
            _ => {
                let piece = PIECES.choose(rng).unwrap_or(&"");
                bytes.splice(at..at, piece.bytes());
            }
        }
    }
    bytes
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// What was read agrees with itself, and is written and read back as what it is.
fn check_space(space: &RecordedSpace) {
    for (at, configuration) in space.configurations().iter().enumerate() {
        assert_eq!(space.find(&configuration.values), Some(at));
        assert_eq!(space.values(at).map(|values| values.len()), Some(space.parameters().len()));
        assert!(space.schedule(at).is_some());
        let valid = configuration.result.as_ref().map_or(1.0, |timing| timing.time_ms);
        assert!(valid.is_finite() && valid > 0.0 && configuration.cost.seconds() >= 0.0);
    }
    for text in [t4(space).to_string(), kernel_tuner_cache(space, "").to_string()] {
        let Ok(Content::Space(again)) = parse(text.as_bytes(), "again") else {
            panic!("not read back: {text}")
        };
        assert_eq!(again.configurations().len(), space.configurations().len(), "{text}");
    }
}

fn check_problem(problem: &Problem, space: &RecordedSpace) {
    assert!(problem.parameters.iter().all(|parameter| !parameter.values.is_empty()));
    if let Ok(left) = problem.restrict(space) {
        assert!(left.configurations().len() <= space.configurations().len());
    }
}

#[test]
fn no_change_of_a_file_breaks_its_reader() {
    let Ok(Content::Space(whole)) = parse(FILES[0].as_bytes(), "whole") else { panic!("it is whole") };
    let mut rng = ChaCha8Rng::seed_from_u64(20_240_607);
    let (mut spaces, mut problems, mut refused) = (0, 0, 0);
    for round in 0..40_000 {
        let (source, other) = (FILES[round % 3], FILES[rng.random_range(0..3_usize)]);
        let mut bytes = mutated(&mut rng, source.as_bytes(), other.as_bytes());
        if round % 10 == 0 {
            bytes = zipped(&bytes);
            if round % 20 == 0 {
                bytes = mutated(&mut rng, &bytes, source.as_bytes());
            }
        }
        match parse(&bytes, "file") {
            Ok(Content::Space(space)) => {
                check_space(&space);
                spaces += 1;
            }
            Ok(Content::Problem(problem)) => {
                check_problem(&problem, &whole);
                problems += 1;
            }
            Err(error) => {
                assert!(error.to_string().starts_with("file"), "{error}");
                refused += 1;
            }
        }
    }
    // The changes are neither all harmless nor all deadly.
    assert!(spaces > 1_000 && problems > 300 && refused > 5_000, "{spaces} {problems} {refused}");
}

#[test]
fn no_change_of_an_expression_breaks_parser_or_evaluator() {
    let value_of = |name: &str| match name {
        "block" => Some(Value::Integer(64)),
        "mode" => Some(Value::Text("a".to_owned())),
        _ => None,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(20_240_608);
    let (mut held, mut refused) = (0, 0);
    for round in 0..40_000 {
        let (source, other) = (EXPRESSIONS[round % 6], EXPRESSIONS[rng.random_range(0..6_usize)]);
        let bytes = mutated(&mut rng, source.as_bytes(), other.as_bytes());
        let text = String::from_utf8_lossy(&bytes);
        match Expression::parse(&text) {
            Ok(expression) => {
                // The same every time, and its names are all that it asks for.
                assert_eq!(expression.holds(&value_of), expression.holds(&value_of), "{text}");
                let known = |name: &str| {
                    assert!(expression.names().iter().any(|of| of == name), "{text}: `{name}` was not named");
                    value_of(name)
                };
                let _ = expression.holds(&known);
                let _ = expression.list(&known);
                held += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(held > 2_000 && refused > 10_000, "{held} {refused}");
}
