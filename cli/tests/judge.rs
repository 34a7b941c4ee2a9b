//! `tilewright judge` on kernels in C and Rust: honest ones pass, adversaries are rejected for what they do.
//!
//! Skipped, with a reason, where there is no C compiler.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a panic is a failed test; what became of each is told"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;
use tempfile::TempDir;

const SPEC: &str = "matmul:m=32,n=32,k=32,dtype=f32";

fn evaluator() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("evaluator")
}

/// Compiles a library; `None`, and a reason, where there is no compiler.
fn compiled(source: &Path, folder: &Path, flags: &[&str]) -> Option<PathBuf> {
    let library = folder.join(source.file_stem().unwrap()).with_extension("so");
    let output = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-pthread", "-I"])
        .arg(evaluator().join("include"))
        .args(flags)
        .arg("-o")
        .args([&library, source])
        .output();
    let Ok(output) = output else {
        println!("skipped: there is no C compiler `cc`");
        return None;
    };
    assert!(output.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    Some(library)
}

struct Told {
    code: i32,
    json: Value,
    errors: String,
}

fn judge(folder: &Path, library: &Path, arguments: &[&str]) -> Told {
    let output = Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(["judge", "--json", "--quiet", "--library"])
        .arg(library)
        .args(arguments)
        .arg("--registry")
        .arg(folder.join("registry"))
        .output()
        .unwrap();
    Told {
        code: output.status.code().unwrap_or(-1),
        json: serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// What the first line of an adversary says: kinds under which it may be rejected, and threads.
fn expectation(source: &Path) -> (Vec<String>, String) {
    let text = std::fs::read_to_string(source).unwrap();
    let line = text.lines().next().unwrap().trim_matches(['/', '*', ' ']).to_owned();
    let (kinds, threads) = line.strip_prefix("expect:").unwrap().split_once(';').unwrap();
    let threads = threads.trim().strip_prefix("threads:").unwrap_or("1").trim().to_owned();
    (kinds.split(',').map(|kind| kind.trim().to_owned()).collect(), threads)
}

/// Kernels are timed one at a time: judging is what a user does on an otherwise idle machine.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn adversaries_are_rejected_for_what_they_do() {
    let _alone = ONE_AT_A_TIME.lock();
    let folder = TempDir::new().unwrap();
    let mut sources: Vec<PathBuf> = std::fs::read_dir(evaluator().join("adversaries"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    assert!(sources.len() > 50);
    let mut failures = Vec::new();
    for source in &sources {
        let (expected, threads) = expectation(source);
        let Some(library) = compiled(source, folder.path(), &[]) else { return };
        let told = judge(folder.path(), &library, &[SPEC, "--symbol", "my_kernel", "--threads", &threads]);
        let verdict = told.json["verdict"].as_str().unwrap_or("none").to_owned();
        let reason = told.json["reason"].as_str().unwrap_or("none").to_owned();
        let may_pass = expected.iter().any(|kind| kind == "passes");
        let fits = match told.code {
            0 => may_pass && verdict != "rejected",
            3 => verdict == "rejected" && expected.iter().any(|kind| *kind == reason || kind == "any"),
            _ => false,
        };
        let name = source.file_stem().unwrap().to_string_lossy().into_owned();
        println!("{name}: {verdict} {reason} {}", told.json["detail"]);
        if !fits {
            failures.push(format!("{name}: {verdict} {reason} instead of {expected:?} {}", told.errors));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(!Path::new("/tmp/tilewright-adversary").exists(), "a library has written a file");
}

#[test]
fn the_examples_are_judged() {
    let _alone = ONE_AT_A_TIME.lock();
    let folder = TempDir::new().unwrap();
    let spec = "matmul:m=64,n=64,k=64,dtype=f32";
    let Some(in_c) = compiled(&evaluator().join("kernels/matmul.c"), folder.path(), &["-O3"]) else { return };
    let in_rust = folder.path().join("rust.so");
    let output = Command::new("rustc")
        .args(["-O", "-C", "panic=abort", "--edition", "2024", "--crate-type", "cdylib", "-o"])
        .arg(&in_rust)
        .arg(evaluator().join("kernels/matmul.rs"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (library, threads) in [(&in_c, "1"), (&in_c, "2"), (&in_rust, "1")] {
        let told = judge(folder.path(), library, &[spec, "--symbol", "my_kernel", "--threads", threads]);
        assert_eq!(told.code, 0, "{} {}", told.json, told.errors);
        // A plain loop is no match for tiles in registers; whatever the machine is busy with, it is not faster.
        assert_ne!(told.json["verdict"], "faster", "{}", told.json);
        let [ratio, low, high] =
            ["ratio", "low", "high"].map(|name| told.json["effect"][name].as_f64().unwrap());
        assert!(low <= ratio && ratio <= high && ratio > 1.0, "{}", told.json["effect"]);
        assert_eq!(told.json["against"]["kernel"], "default");
        assert!(told.json["fresh_launches"].as_u64().unwrap() > 0);
        assert!(
            told.json["evidence"]["claim"]["confirmation"]["candidate"].as_array().is_some(),
            "{}",
            told.json["evidence"]
        );
    }
}

#[test]
fn what_cannot_be_judged_is_told() {
    let folder = TempDir::new().unwrap();
    let honest = evaluator().join("adversaries/honest.c");
    let Some(library) = compiled(&honest, folder.path(), &[]) else { return };
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library at all, but long enough").unwrap();
    let cases: [(&Path, &[&str], &str); 5] = [
        (&folder.path().join("none.so"), &[SPEC, "--symbol", "my_kernel"], "no library"),
        (&text, &[SPEC, "--symbol", "my_kernel"], "does not begin like an ELF file"),
        (&library, &[SPEC, "--symbol", "other"], "has no symbol `other`"),
        (&library, &["matmul:m=0,n=1,k=1,dtype=f32", "--symbol", "my_kernel"], "m"),
        (&library, &[SPEC, "--symbol", "my_kernel", "--against", "registry"], "--against default"),
    ];
    for (library, arguments, wanted) in cases {
        let told = judge(folder.path(), library, arguments);
        assert!(
            told.code == 2 && told.errors.contains(wanted),
            "{arguments:?}: {} {}",
            told.code,
            told.errors
        );
    }
}
