//! Kernels that crash, hang, lie and leak, and kernels that are right, through a real worker process.
//!
//! This binary is its own worker, so it has no test harness. Arguments that are no options select tests by
//! substring.
#![expect(clippy::print_stdout, reason = "stands in for the test harness")]
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod assembled;
mod hostile;
#[path = "../../src/adversaries/machine_code.rs"]
mod machine_code;
mod right;
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

fn main() -> ExitCode {
    tilewright_evaluator::run_if_worker();
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let tests = hostile::TESTS.iter().chain(right::TESTS);
    let mut failed = 0;
    for (name, test) in tests {
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        let passed = catch_unwind(AssertUnwindSafe(test)).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u32::from(!passed);
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
