use std::path::Path;

use proptest::prelude::*;

use super::*;

const GOOD: &str = r#"# Two strategies on three problems.
strategies = ["evolution", "random"]
seeds = [3, 5]
objectives = ["median", "p99", "workspace"]
baseline = "random"

[budget]
time = "1.5m"
trials = 200
total_time = 3600
plateau = { trials = 50, gain = 0.02 }

[[workload]]
name = "small"
workload = "matmul:m=64,n=64,k=64,dtype=f32"

[[workload]]
recorded = "spaces/convolution-A100.json.gz"

[[target]]
threads = 1

[[target]]
name = "chip"
chip = "amd_zen3"
cache = "cold"
"#;

const KNOWN: Known<'_> = Known { strategies: Some(&["evolution", "random"]), chips: Some(&["amd_zen3"]) };

fn parse(text: &str) -> Result<Matrix, MatrixError> {
    Matrix::parse(Path::new("matrix.toml"), text.as_bytes(), KNOWN)
}

#[test]
fn a_file_is_read_and_written_back() {
    let matrix = parse(GOOD).unwrap();
    assert_eq!(matrix.seeds, [3, 5]);
    assert_eq!(matrix.budget.seconds, Some(90.0));
    assert_eq!(matrix.budget.plateau, Some(Plateau { trials: 50, gain: 0.02 }));
    let names: Vec<&str> = matrix.workloads.iter().map(|workload| &*workload.name).collect();
    assert_eq!(names, ["small", "convolution-A100"]);
    assert_eq!(matrix.targets[0].name, "t1-warm");
    assert_eq!(parse(&matrix.to_toml()).unwrap(), matrix);
}

#[test]
fn cells_go_seed_by_seed_into_folders_of_their_own() {
    let matrix = parse(GOOD).unwrap();
    let cells = matrix.cells();
    assert_eq!(cells.len(), 2 * (2 + 1) * 2);
    assert!(cells[..6].iter().all(|cell| cell.seed == 3) && cells[6..].iter().all(|cell| cell.seed == 5));
    assert_eq!(cells[0].folder(), Path::new("cells/small/t1-warm/evolution/seed-3"));
    assert_eq!(cells[5].folder(), Path::new("cells/convolution-A100/recorded/random/seed-3"));
    assert!(cells[0].is_timed() && !cells[2].is_timed() && !cells[4].is_timed());
    let folders: std::collections::BTreeSet<PathBuf> = cells.iter().map(Cell::folder).collect();
    assert_eq!(folders.len(), cells.len());
    // The whole time is dealt evenly where that is less than a cell may spend.
    assert_eq!(matrix.budget.of_cell(12), (Some(90.0), Some(200)));
    assert_eq!(matrix.budget.of_cell(120), (Some(30.0), Some(200)));
}

#[test]
fn heuristics_are_all_none_or_named() {
    let asked = |value: &str| parse(&format!("heuristics = {value}\n{GOOD}"));
    let digest = "0".repeat(64);
    let named = MatrixHeuristics::Named(vec![digest.clone()]);
    for (value, wanted) in [
        ("true".to_owned(), MatrixHeuristics::All),
        ("false".to_owned(), MatrixHeuristics::None),
        (format!("['{digest}']"), named),
    ] {
        let matrix = asked(&value).unwrap();
        assert_eq!(matrix.heuristics, wanted);
        assert_eq!(parse(&matrix.to_toml()).unwrap(), matrix);
    }
    assert_eq!(parse(GOOD).unwrap().heuristics, MatrixHeuristics::All);
    for (value, says) in [("3", "a list of heuristics"), ("['abc']", "64 hexadecimal"), ("[]", "empty list")]
    {
        let error = asked(value).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("heuristics"), "{error}");
    }
}

#[test]
fn what_is_left_out_has_defaults() {
    let text = "strategies = ['random']\nseeds = 4\nbudget = { plateau = 9 }\n\
                [[workload]]\nworkload = 'matmul:m=8,n=8,k=8,dtype=f32'";
    let matrix = parse(text).unwrap();
    assert_eq!((matrix.seeds.len(), matrix.objectives.len(), matrix.targets.len()), (4, 1, 1));
    assert_eq!(matrix.budget.plateau, Some(Plateau { trials: 9, gain: 0.01 }));
}

// U136
#[test]
fn errors_name_file_line_key_and_remedy() {
    for (from, to, line, key, says) in [
        ("seeds =", "seed =", 3, "seed", "did you mean `seeds`?"),
        ("\"random\"]", "\"randm\"]", 2, "strategies", "did you mean `random`?"),
        ("\"random\"]", "\"../up\"]", 2, "strategies", "name of a folder"),
        ("\"random\"]", "7]", 2, "strategies", "an integer where a text"),
        ("[\"evolution\", \"random\"]", "[]", 2, "strategies", "an empty list"),
        ("[\"evolution\", \"random\"]", "\"random\"", 2, "strategies", "a list of strategies is wanted"),
        ("[3, 5]", "[3, 3]", 3, "seeds", "named twice"),
        ("[3, 5]", "[-3]", 3, "seeds", "out of range"),
        ("[3, 5]", "0", 3, "seeds", "out of range"),
        ("\"p99\"", "\"energy\"", 4, "objectives", "there are: median, p99, workspace"),
        ("baseline = \"random\"", "baseline = \"islands\"", 5, "baseline", "unknown strategy"),
        ("\"1.5m\"", "\"1.5y\"", 8, "budget.time", "unknown unit"),
        ("\"1.5m\"", "0", 8, "budget.time", "0 or less"),
        ("\"1.5m\"", "nan", 8, "budget.time", "not finite"),
        ("trials = 200", "trials = 2.5", 9, "budget.trials", "a float where a whole number"),
        ("gain = 0.02", "gain = 1.0", 11, "budget.plateau", "not in [0, 1)"),
        ("name = \"small\"", "name = \"../up\"", 14, "workload.name", "cannot be the name of a folder"),
        ("name = \"small\"", "name = \"convolution-A100\"", 18, "workload.recorded", "a second"),
        ("matmul:m=64", "matmul:m=0", 15, "workload.workload", "write e.g."),
        ("matmul:", "convolve:", 15, "workload.workload", "write e.g."),
        ("recorded = ", "record = ", 18, "workload.record", "did you mean `recorded`?"),
        ("threads = 1", "threads = 0", 21, "target.threads", "from 1 to 1024"),
        ("amd_zen3", "amd_zen9", 25, "target.chip", "did you mean `amd_zen3`?"),
        ("\"cold\"", "\"lukewarm\"", 26, "target.cache", "there are: warm, cold"),
        ("[3, 5]", "[3, 5", 3, "", "TOML"),
    ] {
        let changed = GOOD.replacen(from, to, 1);
        assert_ne!(changed, GOOD, "{from}");
        let error = parse(&changed).unwrap_err().to_string();
        assert!(error.starts_with("matrix.toml, line "), "{error}");
        if !key.is_empty() {
            assert!(error.contains(&format!("line {line}, `{key}`")), "{line} {key}: {error}");
        }
        assert!(error.contains(says) && error.contains(';'), "{says}: {error}");
    }
    let until = |end: &str| &GOOD[..GOOD.find(end).unwrap()];
    for (without, key) in [
        (GOOD.replacen("strategies = ", "# ", 1), "strategies"),
        (until("[budget]").to_owned(), "budget"),
        (until("[[workload]]").to_owned(), "workload"),
    ] {
        let error = parse(&without).unwrap_err().to_string();
        assert!(error.contains(&format!("`{key}`: missing")), "{key}: {error}");
    }
    assert!(parse(&format!("version = 9\n{GOOD}")).unwrap_err().to_string().contains("use a newer"));
    let anything = |text: &str| Matrix::parse(Path::new("m"), text.as_bytes(), Known::default());
    assert!(anything(&GOOD.replace("evolution", "of-a-later-version")).is_ok());
    assert!(anything(&GOOD.replace("evolution", "../up")).unwrap_err().to_string().contains("folder"));
    assert!(parse(&GOOD.replace("[3, 5]", "99999")).unwrap_err().to_string().contains("cells in all"));
}

/// What an error says is one line of reasonable length without control characters, and it names the file.
fn assert_clear(outcome: Result<Matrix, MatrixError>) -> Result<(), TestCaseError> {
    if let Err(error) = outcome {
        let text = error.to_string();
        prop_assert!(text.starts_with("matrix.toml"), "{text}");
        prop_assert!(text.len() < 2000 && !text.contains(char::is_control), "{text:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_cut_or_damaged_file_is_a_clear_error_or_still_a_matrix(
        cut in 0..GOOD.len(),
        changes in prop::collection::vec((0..GOOD.len(), any::<u8>()), 0..6),
    ) {
        assert_clear(Matrix::parse(Path::new("matrix.toml"), &GOOD.as_bytes()[..cut], KNOWN))?;
        let mut bytes = GOOD.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        assert_clear(Matrix::parse(Path::new("matrix.toml"), &bytes, KNOWN))?;
    }

    #[test]
    fn any_bytes_are_a_clear_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        assert_clear(Matrix::parse(Path::new("matrix.toml"), &bytes, KNOWN))?;
    }

    #[test]
    fn any_value_of_any_key_is_a_clear_error_or_a_matrix(
        key in prop::sample::select(vec![
            "strategies", "seeds", "objectives", "baseline", "budget", "workload", "target", "version", "other",
        ]),
        value in prop::sample::select(vec![
            "[]", "{}", "[[]]", "[{}]", "0", "-1", "1e999", "nan", "\"\"", "\"\\u0000\\n\"", "true",
            "2020-01-01", "[1, \"a\", {}]", "{ time = [] }", "{ trials = {} }", "{ plateau = { gain = 3 } }",
            "[{ recorded = \"/\" }]", "[{ recorded = \"\" }]", "[{ recorded = \"..\" }]", "[{ name = \"\" }]",
            "9223372036854775807", "99999999999999999999999", "0xFFFFFFFFFFFFFFFF", "[[[[[[[[[[[[]]]]]]]]]]]]",
        ]),
    ) {
        let mut kept: String = GOOD.split("\n[").next().unwrap_or_default().to_owned();
        kept = kept.lines().filter(|line| !line.starts_with(key)).flat_map(|line| [line, "\n"]).collect();
        assert_clear(parse(&format!("{kept}{key} = {value}\n")))?;
        let rest = GOOD[GOOD.find("\n[").unwrap()..].to_owned();
        assert_clear(parse(&format!("{kept}{key} = {value}\n{rest}")))?;
    }

    #[test]
    fn what_is_written_is_read_back(
        seeds in prop::collection::btree_set(0..i64::MAX as u64, 1..5),
        seconds in prop::option::of(0.001..1e6_f64),
        trials in prop::option::of(1..1_000_000_u64),
        threads in 1..64_u32,
    ) {
        let mut matrix = parse(GOOD).unwrap();
        matrix.seeds = seeds.into_iter().collect();
        matrix.budget.seconds = seconds;
        matrix.budget.trials = trials;
        matrix.targets[1].threads = threads;
        prop_assert_eq!(parse(&matrix.to_toml()).unwrap(), matrix);
    }
}
