//! The programs `record` and `field`, run as a user runs them, on the smallest sub-space.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use tilewright_benchmarks::field::{Plan, Trace, contestant, seed};
use tilewright_recorded::{Content, RecordedSpace, read};
use tilewright_search::score::{Contestant, ScoreSettings, ScoredSpace, score};
use tilewright_search::strategy;

fn record(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_record"));
    command.args(["matmul-tiny", "--out"]).arg(folder).args(more).output().unwrap()
}

fn space(file: &Path) -> RecordedSpace {
    match read(file).unwrap() {
        Content::Space(space) => space,
        Content::Problem(_) => panic!("a recording was written"),
    }
}

#[test]
fn a_sub_space_is_recorded_whole_and_goes_on_where_it_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let first = record(folder.path(), &["--most", "7"]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let (open, whole) =
        (folder.path().join("matmul-tiny.open.json"), folder.path().join("matmul-tiny.json.gz"));
    assert!(!whole.exists());
    let begun = space(&open);
    assert!(begun.is_cut_off() && begun.configurations().len() == 7);
    // What a killed process leaves of its last line.
    let mut file = std::fs::OpenOptions::new().append(true).open(&open).unwrap();
    file.write_all(br#""8,1,none,1": {"register.n": 8, "regi"#).unwrap();
    let second = record(folder.path(), &[]);
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    let text = String::from_utf8_lossy(&second.stdout).into_owned();
    let recorded = space(&whole);
    assert!(text.contains(&format!("{} legal schedules", recorded.configurations().len())), "{text}");
    assert!(recorded.configurations().len() > 16 && !recorded.is_cut_off());
    assert_eq!(recorded.kernel(), "matmul:m=12,n=16,k=20,dtype=f32");
    for configuration in recorded.configurations() {
        let timing = configuration.result.as_ref().unwrap();
        assert!(timing.time_ms > 0.0 && timing.samples_ms.len() >= 8 && configuration.cost.seconds() > 0.0);
    }
    for known in begun.configurations() {
        let at = recorded.find(&known.values);
        // Indices of values may have moved; the parameters' values are found by their text.
        assert!(at.is_some() || begun.parameters() != recorded.parameters());
    }
    // Another kernel's file is not written on.
    std::fs::write(&open, "{\"device_name\":\"other\"}\n").unwrap();
    let refused = record(folder.path(), &[]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("remove it"), "{text}");
}

/// A made-up recording: one parameter, the last value the fastest.
fn scored() -> ScoredSpace {
    let entry = |at: u32| {
        let time = 200.0 - f64::from(at);
        format!("\"{at}\": {{\"at\": {at}, \"time\": {time}, \"times\": [{time}], \"compile_time\": 10.0}}")
    };
    let entries: Vec<String> = (0..100).map(entry).collect();
    let text = format!("{{\"tune_params_keys\": [\"at\"], \"cache\": {{{}}}}}", entries.join(","));
    let Content::Space(space) = tilewright_recorded::parse(text.as_bytes(), "made-up.json").unwrap() else {
        panic!("a recording")
    };
    ScoredSpace::new("made-up", space).unwrap()
}

#[test]
fn what_another_tuner_visited_is_scored_like_a_strategy() {
    let spaces = [scored()];
    let trace = |runs: Vec<Vec<usize>>| vec![("made-up".to_owned(), Trace { version: "1".to_owned(), runs })];
    let contestants: Vec<Contestant> = vec![
        strategy("random").unwrap().into(),
        contestant("clairvoyant".to_owned(), trace(vec![vec![99], vec![99]])),
        contestant("unlucky".to_owned(), trace(vec![(0..100).collect(), vec![0, 1]])),
        contestant("silent".to_owned(), trace(vec![vec![], vec![1_000_000]])),
    ];
    let report = score(&spaces, &contestants, ScoreSettings { runs: 2, seed: 1 }, &|| ()).unwrap();
    let [random, clairvoyant, unlucky, silent] = &report.strategies[..] else { panic!("four of them") };
    let of = |strategy: &tilewright_search::score::StrategyScore| strategy.aggregate.score;
    assert!(of(clairvoyant) > 0.9 && of(clairvoyant) > of(random), "{}", of(clairvoyant));
    assert!(of(unlucky) < of(random));
    assert_eq!((silent.spaces[0].evaluations, clairvoyant.spaces[0].evaluations), (0.0, 1.0));
}

#[test]
fn a_plan_says_all_that_a_tuner_needs() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::write(&scored(), vec![seed(0, 0), seed(0, 1)], folder.path()).unwrap();
    let plan = serde_json::to_value(&plan).unwrap();
    assert_eq!(plan["points"].as_array().unwrap().len(), 100);
    assert_eq!(
        (&plan["seeds"], &plan["times_ms"][0]),
        (&serde_json::json!([0, 1]), &serde_json::json!(200.0))
    );
    assert!(plan["budget_s"].as_f64().unwrap() > 0.0 && plan["questions"].as_u64().unwrap() > 0);
    assert_eq!(space(Path::new(plan["cache"].as_str().unwrap())).configurations().len(), 100);
}

#[test]
fn unknown_names_are_told_with_what_there_is() {
    let wrong = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(wrong(env!("CARGO_BIN_EXE_record"), &["matmul-huge"]).contains("matmul-64x64x64"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made-up.json");
    let space = scored();
    std::fs::write(&file, tilewright_recorded::kernel_tuner_cache(space.recorded(), "").to_string()).unwrap();
    let file = file.display().to_string();
    let traces = folder.path().join("traces").display().to_string();
    let arguments = [file.as_str(), "--tools", "nobody", "--traces", &traces];
    assert!(wrong(env!("CARGO_BIN_EXE_field"), &arguments).contains("kernel_tuner"));
}
