//! When a kept kernel is used, and what is said of it.
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

    /// Runs the command with data of its own; the measured device report is shared between tests.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_tilewright"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
            .env("XDG_DATA_HOME", self.folder.path().join("data"))
            .output()
            .unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn write(&self, name: &str, [rows, columns]: [usize; 2], value: f32) {
        let mut header =
            format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(value.to_le_bytes().repeat(rows * columns));
        std::fs::write(self.path(name), bytes).unwrap();
    }
}

/// U083: an archive is taken over without a campaign, but its code is not run before this machine's own generator
/// has made the same bytes, and they were verified and measured here.
#[test]
fn an_imported_kernel_is_used_once_it_was_verified_here() {
    let bench = Bench::new();
    let folder = "somebodys-folder";
    let found = bench.json(&["tune", SMALL, "--trials", "1", "--out", folder, "--registry", "r", "--json"]);
    let record = found["record"].as_str().unwrap();
    bench.json(&["registry", "export", "kernels.jsonl", "--anonymous", "--registry", "r", "--json"]);
    let text = std::fs::read_to_string(bench.path("kernels.jsonl")).unwrap();
    assert!(found["campaign"].as_str().unwrap().contains(folder) && !text.contains(folder), "{text}");
    bench.json(&["registry", "import", "kernels.jsonl", "--registry", "other", "--json"]);
    bench.write("a.npy", [13, 19], 0.0);
    bench.write("b.npy", [19, 17], 0.0);
    let run = |registry: &str| {
        let files = ["--a", "a.npy", "--b", "b.npy", "--out", "c.npy", "--registry", registry];
        let output = bench.run(&[&["run", SMALL, "--json"], &files[..]].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        (serde_json::from_slice::<Value>(&output.stdout).unwrap(), told)
    };
    assert_eq!(run("r").0["record"], record);
    let (ran, told) = run("other");
    assert_eq!((&ran["kernel"], &ran["record"]), (&Value::from("default"), &Value::Null), "{ran}");
    assert!(ran["unverified"]["reasons"][0].as_str().unwrap().contains("archive"), "{ran}");
    assert!(told.contains("tilewright registry verify") && told.contains("default schedule"), "{told}");
    bench.json(&["registry", "verify", "--registry", "other", "--json"]);
    let (ran, told) = run("other");
    assert_eq!(
        (&ran["kernel"], &ran["unverified"]),
        (&Value::from("registered"), &Value::Null),
        "{ran} {told}"
    );
    let listed = bench.json(&["registry", "list", "--registry", "other", "--json"]);
    assert!(listed["records"][0]["verified"].is_string(), "{listed}");
}

/// Every place that shows a kernel places it beside the ceiling and the best known.
#[test]
fn a_kernel_is_placed_beside_the_ceiling_and_the_best_known() {
    let bench = Bench::new();
    let workload = "matmul:m=2,n=2,k=2,dtype=f32";
    let found = bench.json(&["tune", workload, "--trials", "1", "--out", "c", "--registry", "r", "--json"]);
    // A call takes longer than eight multiplications, so nothing of this size comes near the ceiling.
    assert_eq!(found["placement"]["replacement"], false, "{found}");
    assert!(found["placement"]["ceiling_fraction"].as_f64().unwrap() < 0.1, "{found}");
    assert!(found["placement"]["best_known_ns"].is_null(), "{found}");
    let record = found["record"].as_str().unwrap();
    let shown = bench.json(&["registry", "show", record, "--registry", "r", "--json"]);
    assert_eq!(shown["placement"]["replacement"], false, "{shown}");
    assert_eq!(shown["unverified"].as_array().unwrap().len(), 0, "{shown}");
    let text = bench.run(&["registry", "show", record, "--registry", "r"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("not a replacement: "));
    bench.json(&["report", "c", "--json"]);
    let page = std::fs::read_to_string(bench.path("c/report.html")).unwrap();
    assert!(page.contains("Not a replacement."));
    // The kept kernel is the best known of the next campaign.
    let output = bench.run(&["tune", workload, "--trials", "1", "--out", "d", "--registry", "r"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("of the best known time") && text.contains("not a replacement"), "{text}");
}

/// Tuning launches a kernel that adds to its output thousands of times; a run adds once.
// U015
#[test]
fn an_accumulating_kernel_adds_once_after_it_was_tuned() {
    let bench = Bench::new();
    let workload = "matmul:m=3,n=2,k=4,dtype=f32,accumulate=true";
    bench.json(&["tune", workload, "--trials", "1", "--out", "c", "--registry", "r", "--json"]);
    bench.write("a.npy", [3, 4], 2.0);
    bench.write("b.npy", [4, 2], 5.0);
    bench.write("old.npy", [3, 2], 7.0);
    let files = ["--a", "a.npy", "--b", "b.npy", "--input", "c=old.npy", "--out", "new.npy"];
    let ran = bench.json(&[&["run", workload, "--registry", "r", "--json"], &files[..]].concat());
    assert_eq!(ran["kernel"], "registered", "{ran}");
    let bytes = std::fs::read(bench.path("new.npy")).unwrap();
    let values = &bytes[bytes.len() - 4 * 6..];
    for value in values.chunks_exact(4) {
        assert_eq!(f32::from_le_bytes(value.try_into().unwrap()), 7.0 + 4.0 * 10.0);
    }
}
