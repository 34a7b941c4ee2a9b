//! What docs/trust.md says is shown by a test is: the test is there and bears the report's number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above")
}

/// A row of the tables.
struct Row {
    id: String,
    text: String,
    /// Files with names of tests in them.
    tests: Vec<(String, String)>,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("docs/trust.md")).expect("docs/trust.md is there");
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| U")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [report, here, shown] = cells[..] else { panic!("three cells: {line}") };
        let id = report.split(' ').next().expect("a first word").to_owned();
        let quoted = shown.split('`').skip(1).step_by(2);
        let tests = quoted.map(|test| {
            let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("file::test, not {test}"));
            (file.to_owned(), name.to_owned())
        });
        rows.push(Row { id, text: here.to_owned(), tests: tests.collect() });
    }
    rows
}

/// Numbers of reports in a comment: a `U` with three digits.
fn numbers(comment: &str) -> impl Iterator<Item = &str> {
    comment.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| {
        word.len() == 4 && word.starts_with('U') && word[1..].bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// What the comments and attributes above the function `name` say.
fn above(source: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let start = format!("fn {name}(");
    let at = lines.iter().position(|line| line.starts_with(&start))?;
    let before = lines[..at].iter().rev().take_while(|line| line.starts_with("//") || line.starts_with("#["));
    Some(before.copied().collect::<Vec<_>>().join("\n"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_test_named_is_there_and_bears_the_number() {
    for Row { id, text, tests } in rows() {
        if tests.is_empty() {
            assert!(text.contains("Not yet") || text.contains("Does not apply"), "{id} is shown by nothing");
        }
        for (file, name) in tests {
            let source = std::fs::read_to_string(root().join(&file));
            let source = source.unwrap_or_else(|error| panic!("{id}: {file}: {error}"));
            let above = above(&source, &name).unwrap_or_else(|| panic!("{id}: no test {name} in {file}"));
            assert!(
                numbers(&above).any(|number| number == id),
                "{id} does not stand beside {name} in {file}"
            );
        }
    }
}

/// A number beside a test that the page does not name would claim more than the page says.
#[test]
fn every_number_in_the_sources_is_on_the_page() {
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Row { id, tests, .. } in rows() {
        named.entry(id).or_default().extend(tests.into_iter().map(|(file, _)| file));
    }
    let mut files = Vec::new();
    sources(root(), &mut files);
    assert!(files.len() > 300, "{} files", files.len());
    for path in files {
        let source = std::fs::read_to_string(&path).expect("a source file");
        let file = path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
        for line in source.lines().map(str::trim).filter(|line| line.starts_with("//")) {
            for number in numbers(line) {
                let known = named.get(number).is_some_and(|files| files.contains(&file));
                assert!(known, "{file} bears {number}, which docs/trust.md does not name with it");
            }
        }
    }
}

#[test]
fn every_report_has_a_row() {
    let rows = rows();
    let ids: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids.len(), rows.len(), "a report has two rows");
    let path = root().join("../shared/user-reports.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not here", path.display());
        return;
    };
    let reports: Value = serde_json::from_str(&text).expect("a JSON file");
    let reports = reports["items"].as_array().expect("a list of reports");
    let wanted: BTreeSet<&str> = reports.iter().filter_map(|report| report["id"].as_str()).collect();
    assert_eq!(ids, wanted);
}
