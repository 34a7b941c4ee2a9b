//! `tilewright export` from the outside, and what other tools make of its files.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/examples/matmul-64");

fn export(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.arg("export").args(arguments).current_dir(folder).output().unwrap()
}

/// Runs a script where python3 has a module; else says why not.
#[expect(clippy::print_stderr, reason = "a test that is skipped says why")]
fn python(folder: &Path, module: &str, script: &str) -> Option<String> {
    let python = std::env::var("TILEWRIGHT_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let run = |script: &str| Command::new(&python).args(["-c", script]).current_dir(folder).output();
    if !run(&format!("import {module}")).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {python} has no module {module} (TILEWRIGHT_TEST_PYTHON names another python)");
        return None;
    }
    let output = run(script).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_form_is_written_from_a_folder_and_from_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let forms = ["--t4", "--cache", "--csv", "--parquet", "--optuna-journal"];
    for source in [EXAMPLE.to_owned(), format!("{EXAMPLE}/journal.jsonl")] {
        let arguments = forms.iter().flat_map(|form| [*form, &form[2..]]);
        let arguments: Vec<&str> = [source.as_str()].into_iter().chain(arguments).chain(["--json"]).collect();
        let output = export(folder.path(), &arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let written: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(written["files"], serde_json::json!(forms.map(|form| &form[2..])));
        assert!(std::fs::read(folder.path().join("parquet")).unwrap().starts_with(b"PAR1"));
    }
    let output = export(folder.path(), &["nowhere", "--parquet", "x"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && text.contains("are for campaigns"), "{text}");
    let output = export(folder.path(), &[EXAMPLE, "--parquet", "/proc/nothing"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && text.contains("/proc/nothing"), "{text}");
}

#[test]
fn optuna_reads_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        export(folder.path(), &[EXAMPLE, "--optuna-journal", "study.log", "--csv", "t.csv"]).status.success()
    );
    let script = "
import csv, optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
rows = list(csv.DictReader(open('t.csv')))
storage = JournalStorage(JournalFileBackend('study.log'))
[study] = optuna.get_all_study_summaries(storage)
study = optuna.load_study(study_name=study.study_name, storage=storage)
assert study.direction == optuna.study.StudyDirection.MINIMIZE
assert len(study.trials) == len(rows), (len(study.trials), len(rows))
times = [float(row['median_ns']) for row in rows if row['median_ns']]
assert study.best_value == min(times), (study.best_value, min(times))
for trial, row in zip(study.trials, rows):
    complete = trial.state == optuna.trial.TrialState.COMPLETE
    assert complete == (row['outcome'] == 'ok') and trial.user_attrs['outcome'] == row['outcome']
    told = {name[9:]: value for name, value in row.items() if name.startswith('schedule.') and value}
    assert {name: str(value) for name, value in trial.params.items()} == told, (trial.params, told)
    assert trial.duration is not None
# The study is a study: its frame is made, and it may be gone on with.
assert len(study.trials_dataframe()) == len(rows)
study.add_trial(optuna.create_trial(value=1.0))
assert study.best_value == 1.0
print(study.study_name)
";
    if let Some(name) = python(folder.path(), "optuna", script) {
        assert!(name.starts_with("matmul:m=64,n=64,k=64,dtype=f32"), "{name}");
    }
}

// U157
#[test]
fn pyarrow_reads_the_table() {
    let folder = tempfile::tempdir().unwrap();
    assert!(export(folder.path(), &[EXAMPLE, "--parquet", "t.parquet", "--csv", "t.csv"]).status.success());
    let script = "
import csv, pyarrow.parquet
table = pyarrow.parquet.read_table('t.parquet')
rows = list(csv.DictReader(open('t.csv')))
assert table.column_names == list(rows[0]), table.column_names
for row, line in zip(table.to_pylist(), rows, strict=True):
    for name, value in row.items():
        text = line[name]
        if isinstance(value, float):
            assert value == float(text), (name, value, text)
        else:
            assert ('' if value is None else str(value)) == text, (name, value, text)
print(table.schema.field('median_ns').type, table.schema.field('trial').type, table.schema.field('outcome').type)
";
    if let Some(types) = python(folder.path(), "pyarrow", script) {
        assert_eq!(types.trim(), "double int64 string");
    }
}
