//! Random legal schedules of random shapes: machine code against the operator's reference.

mod random;
mod support;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use random::{random_schedule, random_workload};
use support::{CACHES, Touch, check, program};
use tilewright_codegen::{CompileError, isas};
use tilewright_ir::Workload;

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
