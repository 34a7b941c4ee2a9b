//! Matrix multiplications of many schedules, run and compared with the operator's reference.

#![expect(clippy::print_stdout, reason = "says what is skipped")]

mod support;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use support::{CACHES, Guarded, Kernel, Touch, check, program, schedule};
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

/// Inputs are only read, so two of them may be one piece of memory: C = A·A.
#[test]
fn both_factors_may_be_the_same_memory() {
    for isa in available() {
        for (workers, text) in
            [(1, ""), (1, "pack.a=tile pack.b=tile register.m=4 register.n=16"), (2, "threads=m.inner")]
        {
            let workload: Workload = "matmul:m=24,n=24,k=24,dtype=f32".parse().expect("a workload");
            let limits = isa.limits(workers, &CACHES);
            let program = program(&workload, &schedule(text), &limits).expect("a legal schedule");
            let kernel = Kernel::new(&isa.compile(&program).expect("code"));
            let (mut a, c) = (Guarded::new(24 * 24, Touch::End), Guarded::new(24 * 24, Touch::Start));
            let values: Vec<f32> = (0..24 * 24).map(|at: usize| (at * 31 % 13) as f32 - 6.0).collect();
            a.elements_mut().copy_from_slice(&values);
            kernel.launch(&[a.pointer(), a.pointer(), c.pointer()]);
            for (at, &found) in c.elements().iter().enumerate() {
                let terms = (0..24).map(|p| values[at / 24 * 24 + p] * values[p * 24 + at % 24]);
                assert_eq!(found, terms.sum::<f32>(), "{} {text} at {at}", isa.id());
            }
            assert_eq!(a.elements(), values);
        }
    }
}
