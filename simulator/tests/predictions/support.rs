//! Programs from workloads and schedules, as one line of text each.

use tilewright_ir::{Limits, MemoryLevel, Program, Schedule, legalise, lower};
use tilewright_simulator::{Prediction, chip_named, simulate};

pub(crate) fn limits(workers: u32) -> Limits {
    let level = |name: &str, bytes| MemoryLevel { name: name.to_owned(), bytes, owner: None, strict: false };
    Limits {
        target: "avx2".to_owned(),
        vector_bytes: 32,
        vector_registers: 16,
        workers,
        levels: vec![level("L1", 32 << 10), level("L2", 512 << 10), level("L3", 32 << 20)],
        workspace_bytes: 1 << 30,
        memory_broadcast: false,
        body_instructions: 20_000,
    }
}

pub(crate) fn schedule(text: &str) -> Schedule {
    let pairs = text.split_whitespace().map(|pair| pair.split_once('=').unwrap());
    pairs.fold(Schedule::default(), |schedule, (name, value)| match value.parse() {
        Ok(number) => schedule.with_number(name, number),
        Err(_) => schedule.with_name(name, value),
    })
}

/// The legalised program; with threads when the schedule names a loop for them.
pub(crate) fn program(workload: &str, text: &str) -> Program {
    let limits = limits(if text.contains("threads=") { 2 } else { 1 });
    let program = lower(&workload.parse().unwrap(), &schedule(text), &limits).unwrap();
    legalise(&program, &limits).unwrap()
}

pub(crate) fn predict(workload: &str, text: &str) -> Prediction {
    simulate(&program(workload, text), chip_named("amd_zen3").unwrap()).unwrap()
}

pub(crate) fn cube(extent: u64) -> String {
    format!("matmul:m={extent},n={extent},k={extent},dtype=f32")
}
