//! The table of crates in ARCHITECTURE.md is what the manifests say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above")
}

/// Level of each crate in the table: rows `| level | folder/ | …`.
fn levels() -> BTreeMap<String, Option<u32>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let mut levels = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let [level, folder, ..] = cells[..]
            && let Some(name) = folder.strip_prefix('`').and_then(|folder| folder.strip_suffix("/`"))
        {
            levels.insert(name.to_owned(), level.parse().ok());
        }
    }
    levels
}

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let name = |value: &Value| {
        value["name"].as_str().unwrap_or_default().strip_prefix("tilewright-").map(str::to_owned)
    };
    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages
        .iter()
        .filter_map(|package| {
            let of_package = package["dependencies"].as_array().expect("a list of dependencies");
            // What only tests and benches use may come from anywhere.
            let used = of_package.iter().filter(|dependency| dependency["kind"].is_null()).filter_map(name);
            Some((name(package)?, used.collect()))
        })
        .collect()
}

#[test]
fn crates_use_only_crates_below_them() {
    let levels = levels();
    for (package, used) in dependencies() {
        let level = levels.get(&package).unwrap_or_else(|| panic!("{package} is missing in ARCHITECTURE.md"));
        for dependency in used {
            let below = levels[&dependency];
            let allowed = match (level, below) {
                (Some(level), Some(below)) => below < *level,
                (None, Some(_)) => true,
                (_, None) => false,
            };
            assert!(allowed, "{package} may not use {dependency}");
        }
    }
}

#[test]
fn exceptions_to_the_levels_hold() {
    let dependencies = dependencies();
    let uses = |package: &str, other: &str| dependencies[package].contains(other);
    assert!(!uses("genome", "stats") && !uses("codegen", "stats") && !uses("simulator", "stats"));
    assert!(!uses("evaluator", "genome"), "nothing below the search sees a genome");
    assert!(!uses("results", "runtime") && !uses("results", "evaluator"), "reports come from journals alone");
    for package in ["ir", "stats"] {
        assert!(dependencies[package].is_empty(), "{package} stands on its own");
    }
}
