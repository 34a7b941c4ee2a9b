//! `tilewright fsck` and what else is said where files are damaged, missing, in use or full.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

const MATRIX: &str = "strategies = ['evolution', 'random']
seeds = [2, 4]
budget = { trials = 30 }
[[workload]]
workload = 'matmul:m=64,n=64,k=64,dtype=f32'
[[target]]
name = 'zen3'
chip = 'amd_zen3'
";

struct Bench(tempfile::TempDir);

impl Bench {
    /// With a finished matrix in `c`.
    fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        fs::write(bench.path("matrix.toml"), MATRIX).unwrap();
        bench.done(&["campaign", "run", "matrix.toml", "--out", "c"]);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn cell(&self) -> PathBuf {
        let cells = self.path("c/cells");
        let workload = fs::read_dir(cells).unwrap().next().unwrap().unwrap().path();
        let cell = workload.join("zen3/evolution/seed-2");
        assert!(cell.is_dir(), "{}", cell.display());
        cell
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        command.args(arguments).current_dir(self.0.path()).env("XDG_DATA_HOME", self.path("data"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> String {
        let (code, out, error) = self.ends(arguments);
        assert_eq!(code, 0, "{arguments:?}: {error}");
        out
    }

    fn ends(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.run(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    /// Exit code and object of `fsck`.
    fn fsck(&self, arguments: &[&str]) -> (i32, Value) {
        let (code, out, error) = self.ends(&[&["fsck", "--json"], arguments].concat());
        (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}")))
    }
}

fn flip(path: &Path, share: f64) {
    let mut bytes = fs::read(path).unwrap();
    let at = (share * bytes.len() as f64) as usize;
    bytes[at] ^= 4;
    fs::write(path, bytes).unwrap();
}

#[test]
fn damage_is_named_set_aside_and_then_gone() {
    let bench = Bench::new();
    assert_eq!(bench.fsck(&["c"]).0, 0);
    let cell = bench.cell();
    let journal = cell.join("journal.jsonl");
    let lines = fs::read_to_string(&journal).unwrap().lines().count() as u64;
    flip(&journal, 0.5);
    fs::write(cell.join("campaign.toml"), "threads = ").unwrap();
    fs::write(cell.join("checkpoint.bin"), "nonsense").unwrap();
    let (code, found) = bench.fsck(&["c"]);
    assert_eq!((code, &found["sound"]), (1, &json!(false)));
    let problems = found["places"][0]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems.iter().any(|problem| problem["line"].is_u64()));
    // Looking changes nothing.
    assert_eq!(bench.fsck(&["c"]), (code, found));
    let (code, repaired) = bench.fsck(&["c", "--repair"]);
    assert_eq!((code, &repaired["sound"]), (0, &json!(true)), "{repaired}");
    assert_eq!(repaired["places"][0]["aside"].as_array().unwrap().len(), 3);
    assert_eq!(bench.fsck(&["c"]).0, 0);
    assert_eq!(fs::read_to_string(&journal).unwrap().lines().count() as u64, lines);
    // The rest can be looked at, and the search says why it cannot go on behind the gap.
    bench.done(&["campaign", "compare", "c"]);
    let text = fs::read_to_string(bench.path("c/matrix.toml")).unwrap();
    fs::write(bench.path("c/matrix.toml"), text.replace("trials = 30", "trials = 31")).unwrap();
    let (code, _, error) = bench.ends(&["campaign", "resume", "c", "--quiet"]);
    assert!(
        code == 1 && error.contains("1 of 4 cells failed") && error.contains("lines before it"),
        "{error}"
    );
}

#[test]
fn a_registry_is_checked_and_repaired() {
    let bench = Bench::new();
    let recorded = bench.cell();
    bench.done(&["heuristics", "train", recorded.to_str().unwrap(), "--registry", "kept"]);
    assert_eq!(bench.fsck(&["kept"]).0, 0);
    let learned = fs::read_dir(bench.path("kept/heuristics")).unwrap().next().unwrap().unwrap().path();
    flip(&learned, 0.5);
    let mut log = fs::read(bench.path("kept/audit.jsonl")).unwrap();
    log.extend(b"{\"hash\":\"00");
    fs::write(bench.path("kept/audit.jsonl"), log).unwrap();
    let (code, found) = bench.fsck(&["kept"]);
    assert_eq!((code, found["places"][0]["problems"].as_array().unwrap().len()), (1, 2), "{found}");
    let (code, found) = bench.fsck(&["kept", "--repair"]);
    assert_eq!((code, &found["sound"]), (0, &json!(true)), "{found}");
    assert_eq!(bench.fsck(&["kept"]).0, 0);
    bench.done(&["heuristics", "train", recorded.to_str().unwrap(), "--registry", "kept"]);
    assert_eq!(bench.fsck(&["kept"]).0, 0);
}

#[test]
fn what_is_no_folder_of_ours_is_wrong_usage() {
    let bench = Bench(tempfile::tempdir().unwrap());
    let (code, _, error) = bench.ends(&["fsck", "."]);
    assert!(code == 2 && error.contains("no audit.jsonl"), "{error}");
}

#[test]
fn two_writers_of_one_folder_fail_clearly() {
    let bench = Bench::new();
    let lock = fs::File::options().write(true).open(bench.path("c/running.lock")).unwrap();
    lock.lock().unwrap();
    let (code, _, error) = bench.ends(&["campaign", "resume", "c"]);
    let holder = format!("process {} (", std::process::id());
    assert!(code == 1 && error.contains("being carried out by") && error.contains(&holder), "{error}");
    // Whoever looks does not wait.
    bench.done(&["campaign", "status", "c"]);
    drop(lock);
    let journal = fs::File::options().write(true).open(bench.cell().join("journal.jsonl")).unwrap();
    journal.lock().unwrap();
    let text = fs::read_to_string(bench.path("c/matrix.toml")).unwrap();
    fs::write(bench.path("c/matrix.toml"), text.replace("trials = 30", "trials = 31")).unwrap();
    let (code, _, error) = bench.ends(&["campaign", "resume", "c", "--quiet"]);
    assert!(code == 1 && error.contains("1 of 4 cells failed") && error.contains(&holder), "{error}");
}

#[test]
fn a_full_disk_is_said_once() {
    let bench = Bench(tempfile::tempdir().unwrap());
    fs::write(bench.path("matrix.toml"), MATRIX).unwrap();
    // No file may become longer than this: for the writer the same as a disk without room.
    let binary = env!("CARGO_BIN_EXE_tilewright");
    let script = format!("ulimit -f 4; trap '' XFSZ; exec {binary} campaign run matrix.toml --out c --quiet");
    let output = Command::new("bash").args(["-c", &script]).current_dir(bench.0.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.matches("no space left").count(), 1, "{error}");
    assert!(error.contains("and 3 more"), "{error}");
    // What was written is whole, and with room it goes on.
    assert_eq!(bench.fsck(&["c"]).0, 0);
    bench.done(&["campaign", "resume", "c"]);
    assert_eq!(bench.fsck(&["c"]).0, 0);
}

#[test]
fn a_half_finished_folder_can_be_compared_and_gone_on_with() {
    let bench = Bench::new();
    let cell = bench.cell();
    let journal = cell.join("journal.jsonl");
    let whole = fs::read(&journal).unwrap();
    // As a kill leaves it: some trials, and half a line.
    fs::write(&journal, &whole[..whole.len() / 2]).unwrap();
    let other = cell.with_file_name("seed-4");
    fs::remove_dir_all(&other).unwrap();
    let json = |command: &str| {
        serde_json::from_str::<Value>(&bench.done(&["campaign", command, "c", "--json"])).unwrap()
    };
    assert_eq!(json("status")["states"], json!({ "begun": 1, "ended": 2, "waiting": 1 }));
    // No seed is whole any more, so there is nothing to compare.
    let (code, out, error) = bench.ends(&["campaign", "compare", "c", "--json"]);
    let compared: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}"));
    assert_eq!((code, &compared["open"]), (3, &json!(2)), "{compared}");
    bench.done(&["campaign", "resume", "c"]);
    assert_eq!(json("status")["states"], json!({ "ended": 4 }));
    let trials = |bytes: &[u8]| {
        let lines = String::from_utf8_lossy(bytes).into_owned();
        let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone());
        events.filter(|event| event.get("trial_finished").is_some()).collect::<Vec<_>>()
    };
    assert_eq!(trials(&fs::read(&journal).unwrap()), trials(&whole));
}

#[test]
fn a_later_versions_files_are_refused_with_the_remedy() {
    let bench = Bench::new();
    let cell = bench.cell();
    let newer = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, text.replacen("version = 1", "version = 9", 1)).unwrap();
    };
    newer(&cell.join("campaign.toml"));
    let (code, found) = bench.fsck(&["c", "--repair"]);
    assert!(code == 1 && found.to_string().contains("use a newer tilewright"), "{found}");
    newer(&bench.path("c/matrix.toml"));
    for command in ["resume", "status", "compare"] {
        let (code, _, error) = bench.ends(&["campaign", command, "c"]);
        assert!(code == 2 && error.contains("use a newer tilewright"), "{command}: {error}");
    }
}
