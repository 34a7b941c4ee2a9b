//! Random workloads, and schedules that are often legal.

use rand::{Rng, RngExt};
use tilewright_ir::{Limits, Schedule};

fn pick<'a>(rng: &mut impl Rng, choices: &[&'a str]) -> &'a str {
    choices[rng.random_range(0..choices.len())]
}

pub(crate) fn random_workload(rng: &mut impl Rng) -> String {
    let mut extent = || match rng.random_range(0..4) {
        0 => rng.random_range(1..9),
        1 => rng.random_range(1..40),
        2 => 8 * rng.random_range(1..9),
        _ => rng.random_range(20..100),
    };
    let (m, n, k): (u64, u64, u64) = (extent(), extent(), extent());
    let layout = pick(rng, &["nn", "nt", "tn", "tt"]);
    let mut text = format!("matmul:m={m},n={n},k={k},dtype=f32,layout={layout}");
    if rng.random_range(0..3) == 0 {
        text += ",accumulate=true";
    }
    if rng.random_range(0..3) == 0 {
        text += ",epilogue=";
        text += pick(rng, &["bias", "silu", "bias+silu", "bias+relu", "relu"]);
    }
    if rng.random_range(0..4) == 0 {
        let row = if layout.starts_with('t') { m } else { k };
        let (lda, ldc) = (row + rng.random_range(0..9), n + rng.random_range(0..9));
        text = format!("{text},lda={lda},ldc={ldc}");
    }
    text
}

pub(crate) fn random_schedule(rng: &mut impl Rng, shape: [u64; 3], limits: &Limits) -> Schedule {
    let lanes = limits.lanes(4);
    let along_k = rng.random_range(0..4) == 0;
    let mut schedule = Schedule::default();
    let register = if along_k {
        schedule = schedule.with_name("vector", "k");
        [rng.random_range(1..5), rng.random_range(1..5), lanes * rng.random_range(1..3)]
    } else {
        [rng.random_range(1..10), lanes * rng.random_range(1..4), 1]
    };
    for (axis, extent, register) in
        [("m", shape[0], register[0]), ("n", shape[1], register[1]), ("k", shape[2], register[2])]
    {
        schedule = schedule.with_number(&format!("register.{axis}"), register);
        let tile = register * rng.random_range(1..9);
        if rng.random() && tile < extent {
            schedule = schedule.with_number(&format!("tile.{axis}"), tile);
        }
        let rests = ["peel", "mask", "pad", "turn"];
        let rest = pick(rng, if axis == "n" { &rests } else { &rests[..3] });
        if rest != "peel" {
            schedule = schedule.with_name(&format!("rest.{axis}"), rest);
        }
    }
    let mut choose = |schedule: Schedule, name: &str, choices: &[&str]| {
        let choice = pick(rng, choices);
        if choice == choices[0] { schedule } else { schedule.with_name(name, choice) }
    };
    schedule = choose(schedule, "order", &["nkm", "mnk", "mkn", "nmk", "kmn", "knm"]);
    schedule = choose(schedule, "inner", &["nm", "mn"]);
    schedule = choose(schedule, "pack.a", &["none", "panel", "tile", "tile", "whole"]);
    schedule = choose(schedule, "pack.b", &["none", "panel", "tile", "tile", "whole"]);
    if limits.workers > 1 {
        schedule = choose(schedule, "threads", &["none", "m.outer", "n.outer", "m.inner", "n.inner", "k"]);
        schedule = choose(schedule, "deal", &["block", "cyclic"]);
    }
    if rng.random() {
        schedule = schedule.with_number("unroll", 1 << rng.random_range(1..5));
    }
    for name in ["prefetch.a", "prefetch.b"] {
        if rng.random_range(0..4) == 0 {
            schedule = schedule.with_number(name, rng.random_range(1..20));
        }
    }
    if rng.random() {
        schedule = schedule.with_number("prefetch.c", rng.random_range(1..3));
    }
    if rng.random_range(0..4) == 0 && schedule.parameters.keys().any(|name| name.starts_with("pack")) {
        schedule = schedule.with_number("prefetch.pack", rng.random_range(1..4));
    }
    if rng.random() && limits.memory_broadcast && !along_k && register[1] > lanes {
        schedule = schedule.with_name("broadcast", "memory");
    }
    schedule
}
