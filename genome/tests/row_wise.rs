//! Spaces of row-wise operators: every random genome is legal, leads back to itself, and is a program of its own.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use tilewright_genome::SearchSpace;
use tilewright_ir::computation::Computation;
use tilewright_ir::{Limits, MemoryLevel, Workload, default_schedule, legalise, lower, operators};

fn limits((vector_bytes, vector_registers): (u64, u32), workers: u32) -> Limits {
    let level = |name: &str, bytes| MemoryLevel { name: name.to_owned(), bytes, owner: None, strict: false };
    Limits {
        target: "test".to_owned(),
        vector_bytes,
        vector_registers,
        workers,
        levels: vec![level("L1", 32 << 10), level("L2", 512 << 10), level("L3", 32 << 20)],
        workspace_bytes: 1 << 30,
        memory_broadcast: true,
        body_instructions: 4096,
    }
}

fn workloads() -> Vec<Workload> {
    let large =
        ["rms_norm:rows=512,cols=1024,dtype=f32,residual=true", "softmax:rows=128,cols=4001,dtype=f32"];
    let tests = operators().iter().flat_map(|operator| operator.test_workloads());
    tests
        .filter(|workload| {
            let computation = workload.operator().describe(workload.parameters());
            matches!(computation.unwrap(), Computation::RowWise(_))
        })
        .chain(large.iter().map(|text| text.parse().unwrap()))
        .collect()
}

#[test]
fn random_genomes_are_legal_different_and_lead_back_to_themselves() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for workload in workloads() {
        for (registers, workers) in [((32, 16), 1), ((32, 16), 3), ((64, 32), 2)] {
            let limits = limits(registers, workers);
            let space = SearchSpace::of(&workload, &limits).unwrap();
            // A row of few vectors leaves little to decide, and different ways to say the same.
            let columns: u64 = workload.parameters().get("cols").map_or(0, |text| text.parse().unwrap());
            let share = if columns >= 1000 { 95 } else { 50 };
            let (mut genomes, mut programs) = (BTreeSet::new(), BTreeSet::new());
            for _ in 0..100 {
                let genome = space.sample(&mut rng);
                let schedule = space.decode(&genome).unwrap();
                assert_eq!(space.encode(&schedule).as_ref(), Some(&genome), "{workload} {schedule}");
                let program = lower(&workload, &schedule, &limits)
                    .and_then(|program| legalise(&program, &limits))
                    .unwrap_or_else(|error| panic!("{workload} {schedule}: {error}"));
                genomes.insert(genome);
                programs.insert(program.hash());
            }
            assert!(
                programs.len() * 100 >= genomes.len() * share,
                "{workload}: {} programs of {} genomes with {workers} workers",
                programs.len(),
                genomes.len()
            );
        }
    }
}

#[test]
fn the_default_genome_is_the_default_schedule() {
    for workload in workloads() {
        for workers in [1, 2] {
            let limits = limits((32, 16), workers);
            let space = SearchSpace::of(&workload, &limits).unwrap();
            let found = space.decode(space.default_genome()).unwrap();
            let program =
                |schedule| legalise(&lower(&workload, schedule, &limits).unwrap(), &limits).unwrap();
            assert_eq!(
                program(&found).hash(),
                program(&default_schedule(&workload, &limits)).hash(),
                "{workload}: {found}"
            );
        }
    }
}
