//! Random legal schedules of random shapes: machine code against the operator's reference.

mod support;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::{CACHES, Touch, check, program};
use tilewright_codegen::{CompileError, isas};
use tilewright_ir::{Limits, Schedule, Workload};

fn pick<'a>(rng: &mut impl Rng, choices: &[&'a str]) -> &'a str {
    choices[rng.random_range(0..choices.len())]
}

fn random_workload(rng: &mut impl Rng) -> String {
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

fn random_schedule(rng: &mut impl Rng, shape: [u64; 3], limits: &Limits) -> Schedule {
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

#[test]
fn random_legal_schedules_compute_the_product() {
    let tries: usize =
        std::env::var("TILEWRIGHT_TEST_SCHEDULES").map_or(2000, |n| n.parse().expect("a number"));
    let mut rng = ChaCha8Rng::seed_from_u64(2024);
    let (mut legal, mut refused) = (0, 0);
    for _ in 0..tries {
        let isa = isas()[rng.random_range(0..isas().len())];
        if !isa.available() {
            continue;
        }
        let limits = isa.limits(rng.random_range(1..4), &CACHES);
        let text = random_workload(&mut rng);
        let workload: Workload = text.parse().expect("a workload");
        let extent = |name: &str| workload.parameters()[name].parse::<u64>().expect("a number");
        let shape = [extent("m"), extent("n"), extent("k")];
        let schedule = random_schedule(&mut rng, shape, &limits);
        let Ok(program) = program(&workload, &schedule, &limits) else { continue };
        let artifact = match isa.compile(&program) {
            Ok(artifact) => artifact,
            Err(CompileError::Registers { .. }) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{} {workload} {schedule}: {error}\n{program}", isa.id()),
        };
        let touch = if rng.random() { Touch::Start } else { Touch::End };
        if let Err(error) = check(&workload, &artifact, &mut rng, touch) {
            panic!("{} {workload} {schedule}: {error}\n{program}", isa.id());
        }
        legal += 1;
    }
    println!("{legal} schedules computed, {refused} refused for want of registers");
    assert!(legal > tries / 50 && refused * 20 < legal, "{legal} computed, {refused} refused");
}
