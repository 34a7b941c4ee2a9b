//! `tilewright score` from the outside.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::{Command, Output};

use serde_json::{Map, Value, json};

/// A cache of a valley over two parameters, with failures.
fn cache(device: &str, shift: i64) -> String {
    let mut entries = Map::new();
    for (x, y) in (0..16_i64).flat_map(|x| (0..16_i64).map(move |y| (x, y))) {
        let time = 1.0 + 0.1 * ((x - 5 - shift).pow(2) + (y - x).pow(2)) as f64;
        let mut entry =
            json!({ "x": x, "y": y, "time": time, "times": vec![time; 8], "compile_time": 500.0 });
        if (x * 7 + y) % 23 == 0 {
            entry["time"] = json!("RuntimeFailedConfig");
        }
        entries.insert(format!("{x},{y}"), entry);
    }
    json!({ "device_name": device, "kernel_name": "blur", "tune_params_keys": ["x", "y"], "cache": entries })
        .to_string()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("blur-one.json", &cache("one", 0));
        folder.write("blur-two.json", &cache("two", 3));
        folder
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        command.arg("score").args(arguments).current_dir(self.0.path()).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn failure(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        assert!(output.stdout.is_empty(), "{arguments:?} wrote to standard output");
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[test]
fn scores_are_printed_for_programs_and_for_people() {
    let folder = Folder::new();
    let arguments =
        ["blur-one.json", "blur-two.json", "--strategy", "evolution", "--runs", "5", "--seed", "2"];
    let scores = folder.json(&[&arguments[..], &["--json"]].concat());
    assert_eq!((&scores["version"], &scores["runs"]), (&json!(1), &json!(5)));
    assert_eq!(scores["spaces"]["blur-one"]["valid"], json!(245));
    for strategy in ["evolution", "random"] {
        let aggregate = &scores["strategies"][strategy]["aggregate"];
        let space = &scores["strategies"][strategy]["spaces"]["blur-two"];
        for estimate in [aggregate, space] {
            let number = |name: &str| estimate[name].as_f64().unwrap();
            assert!(number("low") <= number("score") && number("score") <= number("high"), "{estimate}");
        }
        assert!(space["runs"] == json!(5) && space["evaluations"].as_f64().unwrap() > 1.0);
    }
    assert_eq!(scores, folder.json(&[&arguments[..], &["--json"]].concat()));
    let text = String::from_utf8(folder.run(&arguments).stdout).unwrap();
    for part in ["evolution", "random", "(2) blur-two: blur on two, 256 configurations"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn other_recordings_advise_and_a_recording_never_itself() {
    let folder = Folder::new();
    let arguments = ["blur-two.json", "--strategy", "auto", "--runs", "20", "--json"];
    let score = |with: &[&str]| {
        let scores = folder.json(&[&arguments[..], with].concat());
        let of = |name: &str| scores["strategies"][name]["aggregate"]["score"].as_f64().unwrap();
        (of("auto"), of("random"), scores["warm"] == json!(true), scores["advice"].clone())
    };
    let cold = score(&[]);
    let warm = score(&["--warm-from", "blur-one.json", "blur-two.json"]);
    assert!(!cold.2 && warm.2 && warm.1 == cold.1);
    assert_eq!(warm.3, json!({ "blur-two": ["blur recorded on one"] }));
    assert!(warm.0 > cold.0, "{warm:?} {cold:?}");
    let own = score(&["--warm-from", "blur-two.json"]);
    assert_eq!((own.0, own.2), (cold.0, false));
}

#[test]
fn charts_are_written_and_a_problem_restricts() {
    let folder = Folder::new();
    let problem = json!({ "ConfigurationSpace": {
        "TuningParameters": [{ "Name": "x", "Values": "range(16)" }, { "Name": "y", "Values": "range(16)" }],
        "Conditions": [{ "Expression": "x + y <= 20" }],
    } });
    folder.write("blur.t1.json", &problem.to_string());
    let scores = folder.json(&[
        "blur-one.json",
        "--problem",
        "blur.t1.json",
        "--strategy",
        "random",
        "--runs",
        "3",
        "--charts",
        "charts",
        "--json",
    ]);
    assert_eq!(scores["spaces"]["blur-one"]["configurations"], json!(256 - 55));
    for chart in ["charts/score-map.svg", "charts/performance-blur-one.svg"] {
        assert!(std::fs::read_to_string(folder.0.path().join(chart)).unwrap().contains("<svg"));
    }
}

#[test]
fn a_recording_is_exported_and_scores_the_same() {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.path().join("t4")).unwrap();
    let export = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        command.arg("export").args(arguments).current_dir(folder.0.path()).output().unwrap()
    };
    let output = export(&["blur-one.json", "--t4", "t4/blur-one.json", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let scores = |file: &str| {
        folder.json(&[file, "--strategy", "random", "--runs", "4", "--json"])["strategies"].take()
    };
    assert_eq!(scores("t4/blur-one.json"), scores("blur-one.json"));
    assert_eq!(export(&["blur-one.json"]).status.code(), Some(2));
    assert_eq!(export(&["blur-one.json", "--csv", "table.csv"]).status.code(), Some(1));
}

#[test]
fn wrong_input_is_told_with_its_remedy() {
    let folder = Folder::new();
    folder.write("broken.json", "{\"cache\": {\"1\": {\"x\": }}}");
    folder.write(
        "other.t1.json",
        "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"z\", \"Values\": \"[1]\"}]}}",
    );
    std::fs::create_dir(folder.0.path().join("copy")).unwrap();
    folder.write("copy/blur-one.json", &cache("one", 0));
    for (arguments, code, wanted) in [
        (vec!["nowhere.json"], 2, "cannot read nowhere.json"),
        (vec!["broken.json"], 2, "broken.json, line 1, column"),
        (vec!["blur-one.json", "--strategy", "guess"], 2, "there are: all,"),
        (vec!["blur-one.json", "copy/blur-one.json"], 2, "rename one"),
        (vec!["other.t1.json"], 2, "no recording"),
        (vec!["blur-one.json", "other.t1.json"], 2, "has its parameters"),
        (vec!["blur-one.json", "--problem", "blur-two.json"], 2, "give it among the files"),
        (vec!["blur-one.json", "--warm-from", "nowhere.json"], 2, "cannot read nowhere.json"),
        (vec!["blur-one.json", "--runs", "0"], 2, "runs"),
        (vec![], 2, "FILES"),
    ] {
        let (found, text) = folder.failure(&arguments);
        assert!(found == code && text.contains(wanted), "{arguments:?}: {found} {text}");
    }
}
