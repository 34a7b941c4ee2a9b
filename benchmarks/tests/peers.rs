//! The program `peers`, run as a user runs it, with peers that need no installation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

use tilewright_benchmarks::comparison::Report;

fn peers(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_peers")).args(arguments).output().unwrap()
}

#[test]
fn a_comparison_measures_checks_and_relates_its_contenders() {
    let shapes = ["matmul:m=13,n=17,k=19", "matmul:m=9,n=33,k=40,layout=tt"];
    let only =
        ["--only", "gemm,faer,matrixmultiply", "--threads", "1", "--seconds-per-shape", "0.05", "--json"];
    let output = peers(&[&shapes[..], &only[..]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report.rows.len(), 2);
    for row in &report.rows {
        for name in ["tilewright", "gemm", "faer", "matrixmultiply"] {
            assert_eq!(row.seconds(name).unwrap().len(), row.rounds, "{:?}", row.cell(name));
        }
        assert!(row.best_peer.is_some() && row.subject_over_best.is_some());
        assert_eq!(row.cells.len(), 5);
    }
}

#[test]
fn what_cannot_be_compared_ends_with_status_two_and_a_reason() {
    let wrong: [(&[&str], &str); 4] = [
        (&["softmax:m=1"], "expected `matmul:"),
        (&["--only", "nobody"], "no contender `nobody`"),
        (&["--threads", "0"], "this process may use"),
        (&["--seconds-per-shape", "0"], "must be positive"),
    ];
    for (arguments, reason) in wrong {
        let output = peers(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(reason), "{arguments:?}: {message}");
    }
}

#[test]
fn the_list_says_where_each_library_was_found_or_how_to_get_it() {
    let output = peers(&["--list", "--peer-dir", "/nonexistent"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("openblas") && text.contains("built in"), "{text}");
}
