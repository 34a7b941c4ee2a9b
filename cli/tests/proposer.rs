//! Programs outside as strategies: the documented example, and those that misbehave.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Map, Value, json};

const EXAMPLE: &str = concat!("python3 ", env!("CARGO_MANIFEST_DIR"), "/../docs/proposer.py");
const SMALL: &str = "matmul:m=12,n=16,k=20,dtype=f32";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = Map::new();
    for (x, y) in (0..16_i64).flat_map(|x| (0..16_i64).map(move |y| (x, y))) {
        let time = 1.0 + 0.1 * ((x - 5).pow(2) + (y - x).pow(2)) as f64;
        let entry = json!({ "x": x, "y": y, "time": time, "times": vec![time; 8], "compile_time": 500.0 });
        entries.insert(format!("{x},{y}"), entry);
    }
    let cache =
        json!({ "device_name": "d", "kernel_name": "k", "tune_params_keys": ["x", "y"], "cache": entries });
    std::fs::write(folder.path().join("valley.json"), cache.to_string()).unwrap();
    folder
}

fn run(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(arguments)
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .output()
        .unwrap()
}

fn score(folder: &tempfile::TempDir, proposer: &str) -> Output {
    let fixed = ["score", "valley.json", "--strategy", "external", "--runs", "4", "--json", "--quiet"];
    run(folder, &[&fixed[..], &["--proposer", proposer, "--proposer-timeout", "20s"]].concat())
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says why")]
fn python_is_here() -> bool {
    let here = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !here {
        eprintln!("skipped: there is no python3 here");
    }
    here
}

#[test]
fn the_documented_example_is_scored_like_any_strategy() {
    if !python_is_here() {
        return;
    }
    let folder = folder();
    let output = score(&folder, EXAMPLE);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let scores: Value = serde_json::from_slice(&output.stdout).unwrap();
    let space = &scores["strategies"]["external"]["spaces"]["valley"];
    assert!(space["evaluations"].as_f64().unwrap() > 5.0 && space["score"].is_number(), "{scores}");
    assert_eq!(output.stdout, score(&folder, EXAMPLE).stdout, "the same seed gives the same scores");
}

/// Schedules of a campaign's trials, in order.
fn schedules(folder: &tempfile::TempDir, name: &str) -> Vec<Value> {
    let journal = std::fs::read_to_string(folder.path().join(name).join("journal.jsonl")).unwrap();
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let trials = lines.map(|line| line["event"]["trial_finished"]["trial"]["candidate"]["schedule"].clone());
    trials.filter(|schedule| !schedule.is_null()).collect()
}

#[test]
fn a_campaign_of_the_example_goes_on_after_the_program_has_died() {
    if !python_is_here() {
        return;
    }
    let folder = folder();
    let tune = |proposer: &[&str], trials: &str, more: &[&str]| {
        let fixed = ["tune", SMALL, "--out", "c", "--registry", "r", "--json", "--trials", trials];
        run(&folder, &[&fixed[..], proposer, more].concat())
    };
    // Ends when it is asked for the sixth time.
    let mortal =
        format!(r#"sh -c "awk '/\"ask\"/ && ++n > 5 {{ exit }} {{ print; fflush() }}' | {EXAMPLE}""#);
    let died = tune(&["--strategy", "external", "--proposer", &mortal], "60", &[]);
    let text = String::from_utf8_lossy(&died.stderr);
    assert!(died.status.code() == Some(1) && text.contains("--resume"), "{text}");
    let summary: Value = serde_json::from_slice(&died.stdout).unwrap();
    assert!(!summary["winner"].is_null(), "what was found is kept: {summary}");
    let before = schedules(&folder, "c");
    // The command is known to the campaign; this one is to be used from now on.
    let resumed = tune(&["--proposer", EXAMPLE], "60", &["--resume"]);
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    let after = schedules(&folder, "c");
    assert!(after.len() > before.len() && after.starts_with(&before));
    let again = tune(&[], "64", &["--resume"]);
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert!(schedules(&folder, "c").starts_with(&after));
}

#[test]
fn a_program_that_misbehaves_is_named_with_what_it_did() {
    let folder = folder();
    for (proposer, wanted) in [
        ("/nowhere/proposer", "cannot start the proposer `/nowhere/proposer`"),
        ("sh -c 'exit 3'", "exit status: 3"),
        ("sh -c 'read line; read line; exit 4'", "exit status: 4"),
        ("sh -c 'while read line; do echo hello; done'", "answered `hello`"),
        ("sh -c 'while read line; do echo; done'", "answered ``"),
        ("sh -c 'exec >&-; cat >/dev/null'", "closed its streams"),
        ("sh -c 'yes | tr -d \"\\n\" & cat > /dev/null'", "a line of more than"),
    ] {
        let output = score(&folder, proposer);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && text.contains(wanted), "{proposer}: {text}");
        assert!(text.contains("external") && output.stdout.is_empty(), "{proposer}: {text}");
    }
    let silent = ["--strategy", "external", "--proposer", "sleep 1000", "--proposer-timeout", "100ms"];
    let output = run(&folder, &[&["score", "valley.json"][..], &silent].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && text.contains("no answer within 0.1 s"), "{text}");
}

#[test]
fn wrong_use_is_told_before_anything_is_written() {
    let folder = folder();
    let campaign = ["tune", SMALL, "--trials", "3", "--out", "c"];
    for (arguments, wanted) in [
        (&["--strategy", "external"][..], "--proposer"),
        (&["--proposer", "cat"], "--strategy external"),
        (&["--strategy", "external", "--proposer", ""], "no command"),
        (&["--strategy", "external", "--proposer", "cat 'x"], "quotation mark"),
    ] {
        for command in [&campaign[..], &["score", "valley.json", "--strategy", "random"][..]] {
            let arguments = [command, arguments].concat();
            let output = run(&folder, &arguments);
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(2) && text.contains(wanted), "{arguments:?}: {text}");
        }
    }
    assert!(!folder.path().join("c").exists());
}
