//! Reads whole, cut off, damaged and hostile files.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tilewright_recorded::{Content, FailureKind, Problem, RecordedError, RecordedSpace, Value, parse, read};

const CACHE: &str = r#"{
"device_name": "Some GPU", "kernel_name": "blur", "problem_size": [4096, 4096],
"tune_params_keys": ["block", "mode", "scale"],
"tune_params": {"block": [32, 8], "mode": ["a", "b"], "scale": [0.5]},
"objective": "time",
"cache": {
"32,a,0.5": {"block": 32, "mode": "a", "scale": 0.5, "time": 2.0, "times": [1.5, 2.5], "compile_time": 100.0, "verification_time": 1, "benchmark_time": 99999.0, "GFLOP/s": 7.5, "strategy_time": 2, "framework_time": 3.0, "timestamp": "2023-12-22"},
"8,a,0.5": {"block": 8, "mode": "a", "scale": 0.5, "time": "CompilationFailedConfig", "compile_time": 50.0, "benchmark_time": null},
"8,b,0.5": {"block": 8, "mode": "b", "scale": 0.5, "time": 1e20}
}}
"#;

const T4: &str = r#"{"schema_version": "1.0.0", "metadata": {"device": "Some GPU"}, "results": [
{"timestamp": "x", "configuration": {"block": 32, "mode": "a"}, "objectives": ["time"], "times": {"compilation_time": 10.0, "runtimes": [1.0, 3.0], "framework": 1.0, "search_algorithm": 0.0, "validation": 0.0}, "invalidity": "correct", "correctness": 1, "measurements": [{"name": "time", "value": 2.0, "unit": "ms"}]},
{"configuration": {"block": 64, "mode": "a"}, "times": {"compilation": 20.0, "runtimes": []}, "invalidity": "timeout", "correctness": 0}
]}"#;

const T1: &str = r#"{"General": {"BenchmarkName": "blur"}, "ConfigurationSpace": {"TuningParameters": [
{"Name": "block", "Type": "int", "Values": "[8 * i for i in range(1, 5)]", "Default": 8},
{"Name": "mode", "Type": "string", "Values": ["a", "b"], "Default": "a"},
{"Name": "scale", "Type": "float", "Values": "[0.5]"}],
"Conditions": [{"Expression": "block <= 16 or mode == 'b'", "Parameters": ["block", "mode"]}]}}"#;

fn space(bytes: &[u8]) -> Result<RecordedSpace, RecordedError> {
    match parse(bytes, "file.json")? {
        Content::Space(space) => Ok(space),
        Content::Problem(_) => panic!("a problem"),
    }
}

fn problem(text: &str) -> Result<Problem, RecordedError> {
    match parse(text.as_bytes(), "file.json")? {
        Content::Problem(problem) => Ok(problem),
        Content::Space(_) => panic!("a space"),
    }
}

fn error(text: &str) -> String {
    parse(text.as_bytes(), "file.json").expect_err("it is damaged").to_string()
}

fn zipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[test]
fn a_cache_becomes_a_space() {
    let space = space(CACHE.as_bytes()).unwrap();
    assert_eq!((space.kernel(), space.device(), space.is_cut_off()), ("blur", "Some GPU", false));
    let [block, mode, scale] = space.parameters() else { panic!("three parameters") };
    assert_eq!((&*block.values, block.ordered), (&[Value::Integer(8), Value::Integer(32)][..], true));
    assert!(!mode.ordered && !scale.ordered);
    assert_eq!(space.configurations().len(), 3);
    let fast = space.find(&[1, 0, 0]).unwrap();
    let configuration = &space.configurations()[fast];
    let timing = configuration.result.as_ref().unwrap();
    assert_eq!((timing.time_ms, &timing.samples_ms[..]), (2.0, &[1.5, 2.5][..]));
    // The time of benchmarking is in the launches already.
    assert!((configuration.cost.seconds() - 0.110).abs() < 1e-12);
    assert_eq!(space.schedule(fast).unwrap().to_string(), "block=32 mode=a scale=0.5");
    let kinds: Vec<_> =
        space.configurations().iter().map(|of| of.result.as_ref().err().map(|f| f.kind)).collect();
    assert_eq!(kinds, [Some(FailureKind::Compile), Some(FailureKind::Run), None]);
    assert!((space.configurations()[0].cost.seconds() - 0.05).abs() < 1e-12);
}

#[test]
fn samples_of_another_run_are_scaled_to_the_time() {
    let text = CACHE.replace("[1.5, 2.5]", "[3.0, 5.0]");
    let space = space(text.as_bytes()).unwrap();
    let timing = space.configurations()[2].result.as_ref().unwrap();
    assert_eq!(timing.evidence_ns(), [1.5e6, 2.5e6]);
}

#[test]
fn a_file_that_was_cut_off_keeps_its_whole_configurations() {
    let end = CACHE.find(r#""8,b"#).unwrap();
    for cut in [end - 2, end, end + 20, CACHE.len() - 3] {
        let cut_off = space(&CACHE.as_bytes()[..cut]).unwrap();
        assert!(cut_off.is_cut_off());
        assert_eq!(cut_off.configurations().len(), if cut == CACHE.len() - 3 { 3 } else { 2 });
    }
    let early = error(&CACHE[..CACHE.find("2.5]").unwrap()]);
    assert!(early.starts_with("file.json, line 7, column "), "{early}");
    let whole = zipped(CACHE);
    assert_eq!(space(&whole).unwrap(), space(CACHE.as_bytes()).unwrap());
    for length in 0..whole.len() {
        let _ = parse(&whole[..length], "cut.json.gz");
    }
    // All data are there, only the checksum is missing.
    assert!(space(&whole[..whole.len() - 8]).unwrap().is_cut_off());
    let mut damaged = whole.clone();
    let last = damaged.len() - 6;
    damaged[last] ^= 0xFF;
    assert!(space(&damaged).unwrap_err().to_string().contains("fetch the file again"));
}

#[test]
fn t4_results_become_a_space() {
    let space = space(T4.as_bytes()).unwrap();
    assert_eq!((space.device(), space.configurations().len()), ("Some GPU", 2));
    let first = &space.configurations()[0];
    assert_eq!(first.result.as_ref().unwrap().samples_ms, [1.0, 3.0]);
    assert!((first.cost.seconds() - 0.015).abs() < 1e-12);
    let second = &space.configurations()[1];
    assert_eq!(second.result.as_ref().unwrap_err().kind, FailureKind::Timeout);
    assert!((second.cost.seconds() - 0.020).abs() < 1e-12);
    assert!(error(&T4.replace("\"ms\"", "\"GB/s\"")).contains("`unit`"));
    assert!(error(&T4.replace("\"block\": 64", "\"black\": 64")).contains("result 2, `block`"));
}

// U111, U115
#[test]
fn a_problem_restricts_a_space() {
    let problem = problem(T1).unwrap();
    assert_eq!(problem.parameters[0].values.len(), 4);
    assert_eq!(problem.parameters[1].default, Some(Value::Text("a".to_owned())));
    let whole = space(CACHE.as_bytes()).unwrap();
    let left = problem.restrict(&whole).unwrap();
    let schedules: Vec<String> = (0..2).map(|at| left.schedule(at).unwrap().to_string()).collect();
    assert_eq!(left.configurations().len(), 2);
    assert_eq!(schedules, ["block=8 mode=a scale=0.5", "block=8 mode=b scale=0.5"]);
    let other = self::problem(&T1.replace("\"scale\"", "\"scales\"")).unwrap();
    assert!(other.restrict(&whole).unwrap_err().to_string().contains("`scale`"));
    let nothing =
        self::problem(&T1.replace("block <= 16", "block < 8 and mode == 'c'").replace(" or ", " and "))
            .unwrap();
    assert!(nothing.restrict(&whole).unwrap_err().to_string().contains("no configuration"));
}

#[test]
fn errors_name_file_place_field_and_remedy() {
    for (from, to, wanted) in [
        ("\"time\": 2.0", "\"time\": -2.0", "configuration 32,a,0.5, `time`: -2 ms is no time"),
        ("\"time\": 2.0", "\"time\": 1e999", "line 7"),
        ("\"time\": 2.0", "\"time\": NaN", "line 7"),
        ("\"time\": 2.0", "\"time\": [2.0]", "configuration 32,a,0.5, `time`: it is missing"),
        ("\"time\": 2.0", "\"time\": true", "`time`: not a number"),
        ("[1.5, 2.5]", "[1.5, 0]", "`times`: 0 ms"),
        ("[1.5, 2.5]", "[1.5, \"x\"]", "line 7, column"),
        ("100.0", "-100.0", "`compile_time`: -100 ms is no time"),
        ("100.0", "1e300", "`compile_time`"),
        (
            "\"block\": 8, \"mode\": \"b\"",
            "\"block\": 8, \"mode\": \"a\"",
            "has the values of configuration 8,a,0.5",
        ),
        ("\"block\": 32,", "", "`block`: the parameter has no value"),
        ("\"tune_params_keys\"", "\"keys\"", "`tune_params_keys`: it is missing"),
        ("[\"block\", ", "[\"block\", \"block\", ", "`block` stands twice"),
        ("\"objective\": \"time\"", "\"objective\": \"GFLOP/s\"", "`objective`: `GFLOP/s`"),
        ("\"objective\": \"time\"", "\"kernel_name\": \"time\"", "duplicate field"),
        ("\"cache\"", "\"cash\"", "neither a Kernel Tuner cache"),
        ("\"cache\": {", "\"cache\": {}, \"rest\": {", "no configuration was recorded"),
        ("\"device_name\"", "device_name", "line 2, column 1"),
    ] {
        let text = CACHE.replacen(from, to, 1);
        assert_ne!(text, CACHE, "{from}");
        let error = error(&text);
        assert!(
            error.starts_with("file.json") && error.contains(wanted) && error.contains(';'),
            "{wanted}: {error}"
        );
    }
    for (from, to, wanted) in [
        ("block <= 16", "black <= 16", "`black`, which is no parameter"),
        ("block <= 16", "block <=", "`block <= or mode == 'b'`: character"),
        ("[8 * i for i in range(1, 5)]", "[]", "parameter `block`, `Values`: no value"),
        ("[8 * i for i in range(1, 5)]", "[i for i in range(10 ** 9)]", "elements of a list"),
        ("[\"a\", \"b\"]", "[[\"a\"], \"b\"]", "neither a number nor a text"),
        ("\"TuningParameters\"", "\"Parameters\"", "`TuningParameters`: no parameter"),
    ] {
        let text = T1.replacen(from, to, 1);
        assert_ne!(text, T1, "{from}");
        let error = error(&text);
        assert!(error.contains(wanted) && error.contains(';'), "{wanted}: {error}");
    }
    let missing = read(Path::new("/nowhere/file.json")).unwrap_err().to_string();
    assert!(missing.starts_with("/nowhere/file.json"), "{missing}");
}

#[test]
fn deep_nesting_ends_in_an_error() {
    let deep = "[".repeat(1_000_000);
    assert!(parse(deep.as_bytes(), "deep").is_err());
    let deep = format!("{{\"cache\": {}", "{\"a\": ".repeat(200_000));
    assert!(parse(deep.as_bytes(), "deep").is_err());
    // What is passed over may be as deep as it likes.
    let inside = CACHE.replace("\"2023-12-22\"", &format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000)));
    assert_eq!(space(inside.as_bytes()).unwrap().configurations().len(), 3);
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says why")]
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/recorded-spaces").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}

#[test]
fn published_spaces_are_read_whole_and_agree_with_their_descriptions() {
    for (kernel, device, configurations, valid) in [
        ("convolution_milo", "A100", 4362, 4201),
        ("convolution_milo", "W6600", 4362, 4362),
        ("convolution_old", "RTX_2080_Ti", 6768, 5256),
        ("dedispersion_milo", "MI250X", 11130, 11130),
        ("pnpoly", "RTX_3090", 4092, 3774),
    ] {
        let Some(path) = shared(&format!("{kernel}-{device}.json.gz")) else { return };
        let Content::Space(space) = read(&path).unwrap() else { panic!("a space") };
        assert_eq!(space.configurations().len(), configurations);
        let works = space.configurations().iter().filter(|configuration| configuration.result.is_ok());
        assert_eq!(works.count(), valid);
        assert!(space.parameters().iter().all(|parameter| parameter.ordered));
        let Content::Problem(problem) = read(&shared(&format!("{kernel}.t1.json")).unwrap()).unwrap() else {
            panic!("a problem")
        };
        assert_eq!(problem.restrict(&space).unwrap(), space);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn no_damage_breaks_a_reader(
        which in 0..3_usize,
        cut in 0..2_000_usize,
        changes in prop::collection::vec((0..2_000_usize, prop_oneof![any::<u8>(), prop::sample::select(b"{}[],:\"0-9eE.nt \\".to_vec())]), 0..6),
    ) {
        let mut bytes = [CACHE, T4, T1][which].as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(cut.max(1));
        if let Ok(Content::Space(space)) = parse(&bytes, "file") {
            for at in 0..space.configurations().len() {
                prop_assert!(space.schedule(at).is_some());
                prop_assert_eq!(space.find(&space.configurations()[at].values), Some(at));
            }
        }
    }

    #[test]
    fn no_damage_breaks_the_decompressor(
        changes in prop::collection::vec((0..2_000_usize, any::<u8>()), 1..4), cut in 0..2_000_usize
    ) {
        let mut bytes = zipped(CACHE);
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(cut.max(1));
        let _ = parse(&bytes, "file");
    }
}
