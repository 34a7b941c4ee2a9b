//! Matrix multiplications of many schedules, run and compared with the operator's reference.

#![expect(clippy::print_stdout, reason = "says what is skipped")]

mod support;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use support::{CACHES, Touch, check, program, schedule};
use tilewright_codegen::{Isa, isas};
use tilewright_ir::{Workload, default_schedule};

fn available() -> impl Iterator<Item = &'static dyn Isa> {
    isas().iter().copied().filter(|isa| {
        if !isa.available() {
            println!("skipped: this processor has no {}", isa.id());
        }
        isa.available()
    })
}

fn run(isa: &dyn Isa, workers: u32, workload: &str, text: &str) {
    let workload: Workload = workload.parse().expect("a workload");
    let limits = isa.limits(workers, &CACHES);
    let program = program(&workload, &schedule(text), &limits).expect("a legal schedule");
    let artifact =
        isa.compile(&program).unwrap_or_else(|error| panic!("{workload} {text}: {error}\n{program}"));
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for touch in [Touch::Start, Touch::End] {
        if let Err(error) = check(&workload, &artifact, &mut rng, touch) {
            panic!("{} {workload} {text}: {error}\n{program}", isa.id());
        }
    }
}

#[test]
fn plain_schedules_compute_every_test_workload() {
    for isa in available() {
        for workload in tilewright_ir::operator("matmul").expect("matmul").test_workloads() {
            for text in ["", "vector=k"] {
                let limits = isa.limits(1, &CACHES);
                if support::program(&workload, &schedule(text), &limits).is_ok() {
                    run(isa, 1, &workload.to_string(), text);
                }
            }
        }
    }
}

#[test]
fn default_schedules_compute_every_test_workload() {
    for isa in available() {
        for workers in [1, 2] {
            let limits = isa.limits(workers, &CACHES);
            for workload in tilewright_ir::operator("matmul").expect("matmul").test_workloads() {
                let text = default_schedule(&workload, &limits).to_string();
                run(isa, workers, &workload.to_string(), &text);
            }
        }
    }
}
