//! `tilewright campaign` from the outside, on simulated and recorded answers.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Map, Value, json};

/// The example that is checked in.
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/examples/strategies.toml");

/// Two strategies on a simulated chip and on a recording.
const SMALL: &str = "strategies = ['evolution', 'random']
seeds = [2, 4]
objectives = ['median', 'p99']
budget = { trials = 30 }
[[workload]]
workload = 'matmul:m=64,n=64,k=64,dtype=f32'
[[workload]]
recorded = 'blur.json'
[[target]]
name = 'zen3'
chip = 'amd_zen3'
";

struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        bench.write("small.toml", SMALL);
        bench.write("blur.json", &recording());
        bench
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        command.arg("campaign").args(arguments).current_dir(self.0.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn failure(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// What every cell of a folder tried and was answered, in order, by cell.
    fn trials(&self, folder: &str) -> BTreeMap<String, Vec<Value>> {
        let mut trials = BTreeMap::new();
        for journal in journals(&self.path(folder).join("cells")) {
            let text = std::fs::read_to_string(&journal).unwrap();
            let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let finished = events.filter_map(|line| line["event"].get("trial_finished").cloned());
            let cell = journal.strip_prefix(self.path(folder)).unwrap().display().to_string();
            trials.insert(cell, finished.collect());
        }
        trials
    }
}

fn journals(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(journals(&path));
        } else if path.ends_with("journal.jsonl") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A Kernel Tuner cache of a valley over two parameters.
fn recording() -> String {
    let mut entries = Map::new();
    for (x, y) in (0..16_i64).flat_map(|x| (0..16_i64).map(move |y| (x, y))) {
        let time = 1.0 + 0.1 * ((x - 5).pow(2) + (y - x).pow(2)) as f64;
        let entry = json!({ "x": x, "y": y, "time": time, "times": vec![time; 8], "compile_time": 500.0 });
        entries.insert(format!("{x},{y}"), entry);
    }
    json!({ "device_name": "one", "kernel_name": "blur", "tune_params_keys": ["x", "y"], "cache": entries })
        .to_string()
}

#[test]
fn the_example_runs_and_its_strategies_are_compared() {
    let bench = Bench::new();
    let done = bench.json(&["run", EXAMPLE, "--out", "c"]);
    assert_eq!((&done["states"]["ended"], done["cells"].as_array().unwrap().len()), (&json!(30), 30));
    assert!(done["cells"].as_array().unwrap().iter().all(|cell| cell["best_ns"].as_f64().unwrap() > 0.0));
    assert_eq!(bench.json(&["status", "c"]), done);
    let compared = bench.json(&["compare", "c"]);
    assert_eq!((&compared["version"], &compared["baseline"]), (&json!(1), &json!("random")));
    assert_eq!((&compared["blocks"], &compared["open"]), (&json!(10), &json!(0)));
    for strategy in compared["strategies"].as_array().unwrap() {
        let quality = |name: &str| strategy["quality"][name].as_f64().unwrap();
        assert!(quality("low") <= quality("mean") && quality("mean") <= quality("high"));
        assert!((0.0..=1.0).contains(&quality("mean")), "{strategy}");
        assert_eq!(strategy["ratio"].is_null(), strategy["strategy"] == "random", "{strategy}");
    }
    // 80 candidates tell a search that learns from one that does not.
    assert_eq!(compared["strategies"][2]["strategy"], "random");
    assert!(compared["ranking"]["p_value"].as_f64().unwrap() < 0.05, "{}", compared["ranking"]);
    // Kernels that pack their operands need scratch memory, simulated or not.
    assert!(!compared["problems"][0]["front"].as_array().unwrap().is_empty());
    let workspace = |trial: &Value| trial["trial"]["outcome"]["Ok"]["workspace_bytes"].as_u64();
    assert!(bench.trials("c").values().flatten().filter_map(workspace).any(|bytes| bytes > 0));
    let page = std::fs::read_to_string(bench.path("c/compare.html")).unwrap();
    for part in ["<svg", "Convergence", "Regret", "Time to quality", "critical difference", "Operators of"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org").count()
    );
    assert!(compared["charts"].as_array().unwrap().len() > 10);
    let text = String::from_utf8(bench.run(&["compare", "c", "--out", "d"]).stdout).unwrap();
    assert!(text.contains("time / random") && bench.path("d/compare/ranks.svg").is_file(), "{text}");
    assert_eq!(std::fs::read_to_string(bench.path("d/compare.html")).unwrap(), page);
}

#[test]
fn one_thread_or_eight_killed_and_resumed_the_same_candidates_are_tried() {
    let bench = Bench::new();
    bench.json(&["run", "small.toml", "--out", "one", "--jobs", "1"]);
    let wanted = bench.trials("one");
    assert_eq!(wanted.len(), 8);
    assert!(wanted.values().all(|trials| trials.len() >= 30));
    bench.json(&["run", "small.toml", "--out", "eight", "--jobs", "8"]);
    assert!(bench.trials("eight") == wanted, "eight threads tried other candidates");
    // Killed as soon as something is written.
    let mut child = bench
        .command(&["run", "small.toml", "--out", "killed", "--jobs", "2", "--quiet"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let cells = bench.path("killed/cells");
    while journals(&cells).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What a killed system leaves: a journal with half a line.
    let torn = &journals(&bench.path("killed/cells"))[0];
    let bytes = std::fs::read(torn).unwrap();
    std::fs::write(torn, &bytes[..bytes.len() * 2 / 3]).unwrap();
    let resumed = bench.json(&["resume", "killed", "--jobs", "2"]);
    assert_eq!(resumed["states"], json!({ "ended": 8 }));
    assert!(bench.trials("killed") == wanted, "the resumed campaign tried other candidates");
}

#[test]
fn what_has_ended_is_left_alone_until_it_is_given_more_to_do() {
    let bench = Bench::new();
    bench.json(&["run", "small.toml", "--out", "c"]);
    let before = bench.trials("c");
    let written = |bench: &Bench| {
        let of = |path: &PathBuf| std::fs::read(path).unwrap();
        journals(&bench.path("c")).iter().map(of).collect::<Vec<_>>()
    };
    let bytes = written(&bench);
    bench.json(&["resume", "c"]);
    assert!(written(&bench) == bytes, "a finished cell was written to");
    let file = bench.path("c/matrix.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("trials = 30", "trials = 40")).unwrap();
    bench.json(&["resume", "c"]);
    for (cell, trials) in bench.trials("c") {
        let known = &before[&cell];
        assert!(trials.len() >= known.len() + 10 && trials[..known.len()] == known[..], "{cell}");
    }
}

// U152
#[test]
fn objectives_that_were_measured_make_a_front() {
    let bench = Bench::new();
    bench.json(&["run", "small.toml", "--out", "c"]);
    let compared = bench.json(&["compare", "c", "--baseline", "evolution"]);
    let problem = |name: &str| {
        let problems = compared["problems"].as_array().unwrap();
        problems.iter().find(|problem| problem["problem"].as_str().unwrap().contains(name)).unwrap().clone()
    };
    // Recorded launches have a 99 % quantile, simulated ones have none.
    assert!(!problem("blur")["front"].as_array().unwrap().is_empty());
    assert!(problem("matmul")["front"].as_array().unwrap().is_empty());
    let page = std::fs::read_to_string(bench.path("c/compare.html")).unwrap();
    assert!(page.contains("no Pareto front") && page.contains("Pareto front: "));
}

#[test]
fn what_cannot_be_used_is_said_with_its_place_and_its_remedy() {
    let bench = Bench::new();
    bench.write("typo.toml", &SMALL.replace("seeds", "seed"));
    let (code, error) = bench.failure(&["run", "typo.toml"]);
    assert!(code == 2 && error.contains("typo.toml, line 2, `seed`"), "{error}");
    assert!(error.contains("did you mean `seeds`?"), "{error}");
    bench.write("unknown.toml", &SMALL.replace("'random'", "'randm'"));
    let (code, error) = bench.failure(&["run", "unknown.toml"]);
    assert!(code == 2 && error.contains("did you mean `random`?"), "{error}");
    bench.write("missing.toml", &SMALL.replace("blur.json", "blue.json"));
    let (code, error) = bench.failure(&["run", "missing.toml", "--out", "m"]);
    assert!(code == 2 && error.contains("blue"), "{error}");
    assert!(!bench.path("m").exists(), "a folder was made for nothing");
    let (code, error) = bench.failure(&["resume", "m"]);
    assert!(code == 2 && error.contains("matrix.toml"), "{error}");
    bench.json(&["run", "small.toml", "--out", "c"]);
    let (code, error) = bench.failure(&["run", "small.toml", "--out", "c"]);
    assert!(code == 2 && error.contains("campaign resume c"), "{error}");
    let (code, error) = bench.failure(&["compare", "c", "--baseline", "islands"]);
    assert!(code == 2 && error.contains("there are: evolution, random"), "{error}");
    // Another recording under the same name is another campaign.
    bench.write("blur.json", &recording().replace("\"one\"", "\"two\""));
    let text = std::fs::read_to_string(bench.path("c/matrix.toml")).unwrap();
    std::fs::write(bench.path("c/matrix.toml"), text.replace("trials = 30", "trials = 31")).unwrap();
    let (code, error) = bench.failure(&["resume", "c", "--quiet"]);
    assert!(
        code == 1 && error.contains("4 of 8 cells failed") && error.contains("use a new folder"),
        "{error}"
    );
}

// U160
#[test]
fn a_campaign_that_found_nothing_says_so() {
    let bench = Bench::new();
    bench.write(
        "idle.toml",
        "strategies = ['random']\nbudget = { trials = 3 }\n[[workload]]\nrecorded = 'bad.json'\n",
    );
    let entry = json!({ "x": 1, "time": "RuntimeFailedConfig", "times": [], "compile_time": 500.0 });
    let bad = json!({ "device_name": "one", "kernel_name": "bad", "tune_params_keys": ["x"], "cache": { "1": entry } });
    bench.write("bad.json", &bad.to_string());
    let (code, error) = bench.failure(&["run", "idle.toml", "--quiet"]);
    assert!(code == 2 && error.contains("nothing to find"), "{code} {error}");
}
