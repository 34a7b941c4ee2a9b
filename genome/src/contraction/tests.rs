use std::collections::BTreeSet;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tilewright_ir::{Limits, MemoryLevel, Schedule, Workload, default_schedule, legalise, lower};

use crate::{Cardinality, Genome, SearchSpace, mutations};

fn limits(vector_bytes: u64, vector_registers: u32, workers: u32) -> Limits {
    let level = |name: &str, bytes, owner: Option<&str>| MemoryLevel {
        name: name.to_owned(),
        bytes,
        owner: owner.map(str::to_owned),
        strict: false,
    };
    Limits {
        target: "test".to_owned(),
        vector_bytes,
        vector_registers,
        workers,
        levels: vec![
            level("L1", 32 << 10, Some("thread")),
            level("L2", 512 << 10, Some("thread")),
            level("L3", 32 << 20, None),
        ],
        workspace_bytes: 1 << 30,
        body_instructions: 4096,
    }
}

fn avx2(workers: u32) -> Limits {
    limits(32, 16, workers)
}

fn avx512(workers: u32) -> Limits {
    limits(64, 32, workers)
}

fn workload(text: &str) -> Workload {
    text.parse().unwrap()
}

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(7)
}

const SHAPES: [&str; 14] = [
    "matmul:m=1,n=1,k=1,dtype=f32",
    "matmul:m=2,n=3,k=50000,dtype=f32",
    "matmul:m=13,n=17,k=19,dtype=f32",
    "matmul:m=64,n=64,k=64,dtype=f32",
    "matmul:m=127,n=1,k=131,dtype=f32",
    "matmul:m=1,n=3072,k=1024,dtype=f32,layout=nt",
    "matmul:m=40,n=33,k=50,dtype=f32,layout=tt,accumulate=true",
    "matmul:m=29,n=47,k=23,dtype=f32,layout=tn",
    "matmul:m=19,n=50,k=21,dtype=f32,lda=30,ldb=57,ldc=64",
    "matmul:m=37,n=53,k=41,dtype=f32,epilogue=bias+silu",
    "matmul:m=509,n=511,k=513,dtype=f32",
    "matmul:m=4096,n=64,k=64,dtype=f32",
    "matmul:m=1024,n=1024,k=1024,dtype=f32",
    "matmul:m=8,n=4096,k=1024,dtype=f32,layout=nt",
];

fn everywhere(mut check: impl FnMut(&Workload, &Limits, &SearchSpace)) {
    for text in SHAPES {
        for limits in [avx2(1), avx2(2), avx512(1), avx512(3)] {
            let workload = workload(text);
            let space = SearchSpace::of(&workload, &limits).unwrap();
            check(&workload, &limits, &space);
        }
    }
}

#[test]
#[ignore = "a figure to look at"]
fn figures() {
    for text in SHAPES {
        for limits in [avx2(1), avx2(2), avx512(2)] {
            let workload = workload(text);
            let space = SearchSpace::of(&workload, &limits).unwrap();
            let mut rng = rng();
            let begin = std::time::Instant::now();
            let count = space.cardinality_without(&["unroll", "prefetch.a", "prefetch.b"], &mut rng);
            let counted = begin.elapsed();
            let total = 5_000;
            let begin = std::time::Instant::now();
            let genomes: Vec<Genome> = (0..total).map(|_| space.sample(&mut rng)).collect();
            let sampled = begin.elapsed();
            let distinct_genomes: BTreeSet<_> = genomes.iter().collect();
            let mut hashes = BTreeSet::new();
            let (mut refused, mut illegal) = (std::collections::BTreeMap::new(), 0);
            for genome in &genomes {
                let schedule = space.decode(genome).unwrap();
                match lower(&workload, &schedule, &limits).and_then(|program| legalise(&program, &limits)) {
                    Ok(program) => {
                        hashes.insert(program.hash());
                    }
                    Err(reason) => {
                        illegal += 1;
                        refused
                            .entry(format!("{reason:?}").chars().take(40).collect::<String>())
                            .or_insert((0, schedule.to_string(), reason.to_string()))
                            .0 += 1;
                    }
                }
            }
            println!(
                "{text} lanes {} workers {}: {count} in {counted:?}; {} genomes ({:?} each), {} programs, {illegal} illegal",
                limits.vector_bytes / 4,
                limits.workers,
                distinct_genomes.len(),
                sampled / total,
                hashes.len()
            );
            for reason in refused {
                println!("    {reason:?}");
            }
        }
    }
}
