//! The command from the outside: what users type, and what they get.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const SMALL: &str = "matmul:m=13,n=17,k=19,dtype=f32";

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Runs the command with caches and data of its own.
    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            // The measured device report is worth sharing between tests: it takes seconds.
            .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
            .env("XDG_DATA_HOME", self.folder.path().join("data"));
        command
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Exit code and standard error of a command that must fail without a panic.
    fn failure(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!text.contains("panicked"), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?} wrote to standard output");
        (output.status.code().unwrap_or(-1), text)
    }
}

fn write_npy(path: &str, shape: &[usize], values: &[f32]) {
    let shape: Vec<String> = shape.iter().map(|extent| format!("{extent},")).collect();
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", shape.concat());
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    std::fs::write(path, bytes).unwrap();
}

fn read_npy(path: &str) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[start..].chunks_exact(4).map(|raw| f32::from_le_bytes(raw.try_into().unwrap())).collect()
}

/// Small integers, so that every order of summation gives the same result.
fn matrix(rows: usize, columns: usize, seed: usize) -> Vec<f32> {
    (0..rows * columns).map(|at| ((at * 31 + seed * 17) % 13) as f32 - 6.0).collect()
}

fn product(a: &[f32], b: &[f32], [m, n, k]: [usize; 3]) -> Vec<f32> {
    (0..m * n).map(|at| (0..k).map(|p| a[at / n * k + p] * b[p * n + at % n]).sum()).collect()
}

// U016, U031, U158
#[test]
fn a_campaign_from_beginning_to_use() {
    let bench = Bench::new();
    let found = bench.json(&[
        "tune",
        SMALL,
        "--trials",
        "40",
        "--out",
        "c",
        "--registry",
        "r",
        "--json",
        "--seed",
        "5",
    ]);
    for field in [
        "winner",
        "default",
        "ceiling",
        "evaluations",
        "evaluations_per_second",
        "codegen_median_us",
        "outcomes",
        "device",
        "seed",
        "campaign",
        "placement",
    ] {
        assert!(!found[field].is_null(), "{field} is missing in {found}");
    }
    for field in [
        "gflops",
        "ceiling_fraction",
        "bound",
        "median_ns",
        "low_ns",
        "high_ns",
        "p99_ns",
        "workspace_bytes",
        "schedule",
        "artifact_sha256",
    ] {
        assert!(!found["winner"][field].is_null(), "winner.{field} is missing in {found}");
    }
    assert_eq!(found["seed"], 5);
    assert!(found["evaluations"].as_u64().unwrap() <= 40);
    // How large it is depends on what else runs here, but not that it is a fraction of the ceiling measured beside it.
    let number = |value: &Value| value.as_f64().unwrap();
    let (winner, fraction) = (&found["winner"], number(&found["winner"]["ceiling_fraction"]));
    let of_arithmetic = number(&winner["gflops"]) / number(&found["ceiling"]["gflops"]);
    match winner["bound"].as_str() {
        Some("compute") => assert!((fraction / of_arithmetic - 1.0).abs() < 1e-9, "{found}"),
        _ => assert!(fraction > of_arithmetic, "{found}"),
    }

    let report = bench.json(&["report", "c", "--json"]);
    let page = std::fs::read_to_string(bench.folder.path().join(report["page"].as_str().unwrap())).unwrap();
    assert!(page.contains("<svg") && !page.contains("src=\"http") && !page.contains("<link"));

    let (a, b) = (matrix(13, 19, 1), matrix(19, 17, 2));
    write_npy(&bench.path("a.npy"), &[13, 19], &a);
    write_npy(&bench.path("b.npy"), &[19, 17], &b);
    let ran = bench.json(&[
        "run",
        SMALL,
        "--a",
        "a.npy",
        "--b",
        "b.npy",
        "--out",
        "c.npy",
        "--registry",
        "r",
        "--json",
    ]);
    assert_eq!(read_npy(&bench.path("c.npy")), product(&a, &b, [13, 17, 19]));
    if !found["record"].is_null() {
        assert_eq!(ran["kernel"], "registered");
        let listed = bench.json(&["registry", "list", "--registry", "r", "--json"]);
        assert_eq!(listed["records"].as_array().unwrap().len(), 1);
        let verified = bench.json(&["registry", "verify", "--registry", "r", "--json"]);
        assert_eq!(verified["problems"].as_array().unwrap().len(), 0, "{verified}");
        bench.json(&["registry", "export", "kernels.jsonl", "--registry", "r", "--json"]);
        let imported = bench.json(&["registry", "import", "kernels.jsonl", "--registry", "other", "--json"]);
        assert_eq!(imported["records"].as_array().unwrap().len(), 1);
    }
}

// U091, U100, U101, U102, U171
#[test]
fn an_unregistered_workload_runs_with_the_default_schedule() {
    let bench = Bench::new();
    let (a, b) = (matrix(3, 70, 3), matrix(70, 2, 4));
    write_npy(&bench.path("a.npy"), &[3, 70], &a);
    write_npy(&bench.path("b.npy"), &[70, 2], &b);
    write_npy(&bench.path("bias.npy"), &[2], &[1.0, -2.0]);
    let workload = "matmul:m=3,n=2,k=70,dtype=f32,epilogue=bias+relu";
    let output = bench.run(&[
        "run",
        workload,
        "--input",
        "a=a.npy",
        "--b",
        "b.npy",
        "--input",
        "bias=bias.npy",
        "--out",
        "c.npy",
    ]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("default schedule"));
    let expected: Vec<f32> = product(&a, &b, [3, 2, 70])
        .into_iter()
        .enumerate()
        .map(|(at, value)| (value + [1.0, -2.0][at % 2]).max(0.0))
        .collect();
    assert_eq!(read_npy(&bench.path("c.npy")), expected);
}

#[test]
fn nan_and_infinity_propagate() {
    let bench = Bench::new();
    let (mut a, b) = (vec![1.0; 9 * 20], vec![1.0; 20 * 18]);
    a[25] = f32::NAN;
    a[47] = f32::INFINITY;
    write_npy(&bench.path("a.npy"), &[9, 20], &a);
    write_npy(&bench.path("b.npy"), &[20, 18], &b);
    bench.json(&[
        "run",
        "matmul:m=9,n=18,k=20,dtype=f32",
        "--a",
        "a.npy",
        "--b",
        "b.npy",
        "--out",
        "c.npy",
        "--json",
    ]);
    for (at, value) in read_npy(&bench.path("c.npy")).into_iter().enumerate() {
        match at / 18 {
            1 => assert!(value.is_nan()),
            2 => assert_eq!(value, f32::INFINITY),
            _ => assert_eq!(value, 20.0),
        }
    }
}

#[test]
fn a_campaign_goes_on_where_it_stopped() {
    let bench = Bench::new();
    bench.json(&["tune", SMALL, "--trials", "10", "--out", "c", "--registry", "r", "--json"]);
    let count = |bench: &Bench| {
        let journal = std::fs::read_to_string(bench.folder.path().join("c/journal.jsonl")).unwrap();
        journal.lines().filter(|line| line.contains("trial_finished")).count()
    };
    let before = count(&bench);
    let (code, text) = bench.failure(&["tune", SMALL, "--trials", "10", "--out", "c"]);
    assert_eq!(code, 2);
    assert!(text.contains("--resume"), "{text}");
    bench.json(&["tune", SMALL, "--trials", "20", "--out", "c", "--registry", "r", "--resume", "--json"]);
    assert!(count(&bench) > before);
    // A torn last line is what a killed process leaves behind.
    let path = bench.folder.path().join("c/journal.jsonl");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
    bench.json(&["tune", SMALL, "--trials", "25", "--out", "c", "--registry", "r", "--resume", "--json"]);
    bench.json(&["report", "c", "--json"]);
}

// U072, U077, U078
#[test]
fn a_killed_campaign_loses_nothing_that_was_recorded() {
    let bench = Bench::new();
    let workload = "matmul:m=48,n=40,k=32,dtype=f32";
    // Measures the machine once, so that the campaigns below start at once.
    bench.json(&["devices", "--json"]);
    let journal = bench.folder.path().join("c/journal.jsonl");
    let mut kept = Vec::new();
    for (round, patience_ms) in [400, 900, 250].into_iter().enumerate() {
        let mut arguments =
            vec!["tune", workload, "--time", "600s", "--out", "c", "--registry", "r", "--quiet"];
        if round > 0 {
            arguments.push("--resume");
        }
        let mut child = bench.command(&arguments).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(patience_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let bytes = std::fs::read(&journal).unwrap_or_default();
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        assert!(bytes.starts_with(&kept), "what was recorded before has changed");
        kept = bytes[..whole].to_vec();
        if kept.is_empty() {
            // Killed before the first line: a campaign that never began.
            std::fs::remove_dir_all(bench.folder.path().join("c")).unwrap_or_default();
            return;
        }
    }
    let trials = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches("trial_finished").count();
    let budget = (trials(&kept) + 20).to_string();
    bench.json(&[
        "tune",
        workload,
        "--trials",
        &budget,
        "--out",
        "c",
        "--registry",
        "r",
        "--resume",
        "--json",
    ]);
    let bytes = std::fs::read(&journal).unwrap();
    assert!(bytes.starts_with(&kept));
    let mut indices: Vec<u64> = String::from_utf8_lossy(&bytes)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|line| line["event"]["trial_finished"]["trial"]["index"].as_u64())
        .collect();
    let count = indices.len();
    indices.dedup();
    assert_eq!(indices.len(), count, "a trial was recorded twice");
    assert!(indices.is_sorted());
}

// U067
#[test]
fn unusable_input_is_named() {
    let bench = Bench::new();
    for (workload, says) in [
        ("matmul:m=0,n=1,k=1,dtype=f32", "m=0"),
        ("matmul:m=-3,n=1,k=1,dtype=f32", "m=-3"),
        ("matmul:m=99999999,n=99999999,k=99999999,dtype=f32", "m·n·k"),
        ("matmul:m=99999999999999999999,n=1,k=1,dtype=f32", "m=99999999999999999999"),
        ("matmul:m=1,n=1,k=1,dtype=f13", "matmul takes f32"),
        ("matmul:m=1,n=1,k=1,dtype=f32,lda=0", "lda=0"),
        ("matmul:m=1,n=1,k=1", "needs `dtype`"),
        ("matmul:m=1,n=1,k=1,dtype=f32,colour=red", "no parameter `colour`"),
        ("matmul:m=1,m=2,n=1,k=1,dtype=f32", "twice"),
        ("convolve:m=1", "unknown operator"),
        ("nonsense", "operator:name=value"),
    ] {
        let (code, text) = bench.failure(&["tune", workload, "--trials", "1"]);
        assert_eq!(code, 2, "{workload}: {text}");
        assert!(text.contains(says), "{workload}: {text}");
    }
    for arguments in [
        &["tune", SMALL, "--time", "soon"][..],
        &["tune", SMALL, "--strategy", "luck"],
        &["tune", SMALL, "--threads", "1000"],
        &["tune", SMALL, "--isa", "mmx"],
        &["tune", SMALL, "--time", "-5s"],
        &["tune", SMALL, "--trials", "-5"],
        &["tune", SMALL, "--resume", "--out", "nowhere"],
        &["registry", "show", "zzz"],
        &["report", "nowhere"],
        &["score", "nowhere.json"],
        &["tune"],
        &["frobnicate"],
    ] {
        assert_eq!(bench.failure(arguments).0, 2, "{arguments:?}");
    }
}

#[test]
fn unusable_files_are_named() {
    let bench = Bench::new();
    write_npy(&bench.path("a.npy"), &[13, 19], &matrix(13, 19, 1));
    write_npy(&bench.path("b.npy"), &[17, 19], &matrix(17, 19, 2));
    std::fs::write(bench.path("text.npy"), "no array").unwrap();
    for (b, says) in [
        ("b.npy", "wants shape [19, 17], found [17, 19]"),
        ("text.npy", "text.npy"),
        ("missing.npy", "missing.npy"),
    ] {
        let (code, text) = bench.failure(&["run", SMALL, "--a", "a.npy", "--b", b, "--out", "c.npy"]);
        assert_eq!(code, 2);
        assert!(text.contains(says), "{text}");
    }
    let (_, text) = bench.failure(&["run", SMALL, "--a", "a.npy", "--out", "c.npy"]);
    assert!(text.contains("operand `b` is missing"), "{text}");
    let (_, text) = bench.failure(&["report", "nowhere"]);
    assert!(text.contains("nowhere"), "{text}");
    std::fs::create_dir(bench.path("damaged")).unwrap();
    std::fs::write(bench.path("damaged/journal.jsonl"), "{\"nothing\":1}\n\u{0}\u{1}").unwrap();
    assert_ne!(bench.failure(&["report", "damaged"]).0, 0);
    let (code, text) = bench.failure(&["tune", SMALL, "--trials", "1", "--out", "/proc/nothing"]);
    assert_ne!(code, 0);
    assert!(text.contains("/proc/nothing"), "{text}");
}

// U161
#[test]
fn a_registry_that_cannot_be_written_is_named_before_the_search() {
    let bench = Bench::new();
    std::fs::write(bench.path("file"), "").unwrap();
    let (code, text) = bench.failure(&["tune", SMALL, "--trials", "2", "--registry", "file/r", "--out", "c"]);
    assert!(code == 1 && text.contains("file/r") && text.contains("--registry DIR"), "{text}");
    assert!(!bench.folder.path().join("c").exists());
}

#[test]
fn where_the_default_wins_there_is_no_speedup_and_records_can_be_withdrawn() {
    let bench = Bench::new();
    let found = bench.json(&["tune", SMALL, "--trials", "1", "--out", "c", "--registry", "r", "--json"]);
    assert_eq!(found["winner"]["schedule"], found["default"]["schedule"]);
    assert_eq!(found["speedup"], 1.0);
    let record = found["record"].as_str().unwrap();
    let records = || bench.json(&["registry", "list", "--registry", "r", "--json"])["records"].clone();
    bench.json(&["registry", "retract", &record[..8], "--reason", "a test", "--registry", "r", "--json"]);
    assert_eq!(records()[0]["standing"], "retracted");

    // What is damaged is told where it is passed over, not by `verify` alone.
    let log = bench.path("r/audit.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.replacen("sequence", "sequenze", 1)).unwrap();
    let listed = bench.run(&["registry", "list", "--registry", "r"]);
    let told = String::from_utf8(listed.stderr).unwrap();
    assert!(told.contains("line 1") && told.contains("registry verify"), "{told}");
}

// U102
#[test]
fn an_interrupted_search_says_so_and_keeps_the_best() {
    let bench = Bench::new();
    let arguments = ["tune", SMALL, "--time", "60s", "--out", "c", "--registry", "r"];
    let mut command = bench.command(&arguments);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn();
    let child = child.unwrap();
    let journal = bench.folder.path().join("c/journal.jsonl");
    let begun =
        || std::fs::read_to_string(&journal).is_ok_and(|text| text.matches("trial_finished").count() > 3);
    while !begun() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let process = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let (printed, told) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("once more stops at once") && printed.contains("winner"), "{told}{printed}");
}

#[test]
fn a_search_beyond_a_damaged_trial_says_what_can_be_done() {
    let bench = Bench::new();
    let tune = |more: &[&str]| {
        let fixed = ["tune", SMALL, "--seed", "3", "--out", "c", "--registry", "r"];
        bench.run(&[&fixed, more].concat())
    };
    assert!(tune(&["--trials", "12"]).status.success());
    let journal = bench.path("c/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let damaged: String = text
        .split_inclusive('\n')
        .enumerate()
        .map(|(at, line)| match at {
            4 => line.replacen("trial", "tribl", 1),
            _ => line.to_owned(),
        })
        .collect();
    std::fs::write(&journal, &damaged).unwrap();
    let output = tune(&["--trials", "20", "--resume", "--quiet"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && told.contains("line 5") && told.contains("cut the file off"),
        "{told}"
    );
    assert!(std::fs::read_to_string(&journal).unwrap().starts_with(&damaged));
    let kept: String = text.split_inclusive('\n').take(4).collect();
    std::fs::write(&journal, kept).unwrap();
    assert!(tune(&["--trials", "20", "--resume"]).status.success());
}

#[test]
fn completions_and_manual_are_printed() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(String::from_utf8_lossy(&bench.run(&["completions", shell]).stdout).contains("tilewright"));
    }
    assert!(String::from_utf8_lossy(&bench.run(&["manual"]).stdout).contains(".TH"));
    for command in [&["manual", "tune"][..], &["manual", "campaign", "run"]] {
        let page = String::from_utf8(bench.run(command).stdout).unwrap();
        assert!(page.contains(".TH") && page.contains("Examples:"), "{page}");
    }
    assert_eq!(bench.failure(&["manual", "frobnicate"]).0, 2);
    let help = String::from_utf8(bench.run(&["tune", "--help"]).stdout).unwrap();
    assert!(help.contains("Examples:") && help.contains("Exit codes"));
}

// U143
#[test]
fn a_confined_process_is_on_the_same_machine() {
    let fingerprint = |command: &mut Command| -> Option<String> {
        let output = command.args(["devices", "--json"]).output().ok()?;
        let found: Value = serde_json::from_slice(&output.stdout).ok()?;
        found["fingerprint"].as_str().map(str::to_owned)
    };
    let bench = Bench::new();
    let free = fingerprint(&mut bench.command(&[])).expect("a fingerprint");
    let mut confined = Command::new("taskset");
    confined.args(["-c", "0", env!("CARGO_BIN_EXE_tilewright")]);
    confined.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    match fingerprint(&mut confined) {
        Some(confined) => assert_eq!(confined, free),
        None => println!("skipped: there is no taskset here"),
    }
}
