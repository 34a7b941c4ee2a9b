use std::collections::BTreeSet;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use tilewright_ir::{Illegal, Limits, MemoryLevel, Schedule, Workload, default_schedule, legalise, lower};

use crate::{Cardinality, Genome, SearchSpace};

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
        memory_broadcast: true,
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

const SHAPES: [&str; 15] = [
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
    "matmul:m=64,n=65,k=66,dtype=f32,layout=tt",
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

/// Lowered and legalised, as a candidate is.
fn program(
    workload: &Workload,
    schedule: &Schedule,
    limits: &Limits,
) -> Result<tilewright_ir::Program, Illegal> {
    legalise(&lower(workload, schedule, limits)?, limits)
}

/// Number of different programs of `count` random genomes.
fn distinct(workload: &Workload, limits: &Limits, count: usize) -> usize {
    let space = SearchSpace::of(workload, limits).unwrap();
    let mut rng = rng();
    let hashes: BTreeSet<_> = (0..count)
        .filter_map(|_| {
            let schedule = space.decode(&space.sample(&mut rng)).unwrap();
            program(workload, &schedule, limits).ok().map(|program| program.hash())
        })
        .collect();
    hashes.len()
}

// U051, U108, U163
#[test]
fn random_genomes_are_legal_and_their_schedules_lead_back_to_them() {
    everywhere(|workload, limits, space| {
        let mut rng = rng();
        for _ in 0..50 {
            let genome = space.sample(&mut rng);
            let schedule = space.decode(&genome).unwrap();
            assert_eq!(space.encode(&schedule).as_ref(), Some(&genome), "{workload}: {schedule}");
            match program(workload, &schedule, limits) {
                Ok(_) | Err(Illegal::Body { .. }) => {}
                Err(reason) => panic!("{workload}: {schedule}: {reason}"),
            }
        }
    });
}

#[test]
fn random_genomes_are_different_programs() {
    for (text, limits) in [(SHAPES[12], avx2(1)), (SHAPES[10], avx2(2)), (SHAPES[3], avx512(2))] {
        let count = 2_000;
        let distinct = distinct(&workload(text), &limits, count);
        assert!(distinct * 100 >= count * 99, "{text}: {distinct} of {count}");
    }
}

// U126
#[test]
fn at_least_95_percent_of_100_000_random_genomes_are_different_programs() {
    for limits in [avx2(1), avx2(2)] {
        let distinct = distinct(&workload(SHAPES[12]), &limits, 100_000);
        println!("{} workers: {distinct} of 100000", limits.workers);
        assert!(distinct >= 95_000, "{distinct}");
    }
}

#[test]
fn a_large_problem_has_more_than_ten_to_the_eight_points() {
    for limits in [avx2(1), avx2(2), avx512(2)] {
        let space = SearchSpace::of(&workload(SHAPES[12]), &limits).unwrap();
        let hints = ["unroll", "prefetch.a", "prefetch.b", "prefetch.c", "prefetch.pack"];
        let count = space.cardinality_without(&hints, &mut rng());
        assert!(matches!(count, Cardinality::Exact(points) if points >= 100_000_000), "{count}");
    }
}

/// Counts points one by one: the values open after each beginning.
fn enumerate(space: &SearchSpace, beginning: &mut Vec<u16>) -> u128 {
    let gene = beginning.len();
    if gene == space.genes().len() {
        return 1;
    }
    let mut padded = beginning.clone();
    padded.resize(space.genes().len(), 0);
    let mut open = space.open_values(&Genome(padded.into()), gene);
    if open.is_empty() {
        open.push(0);
    }
    let mut sum = 0;
    for index in open {
        beginning.push(index);
        sum += enumerate(space, beginning);
        beginning.pop();
    }
    sum
}

// U111
#[test]
fn counting_by_facts_agrees_with_counting_one_by_one() {
    for (text, limits) in [
        ("matmul:m=1,n=1,k=1,dtype=f32", avx2(2)),
        ("matmul:m=2,n=1,k=3,dtype=f32", limits(16, 5, 1)),
        ("matmul:m=3,n=2,k=9,dtype=f32", limits(16, 4, 2)),
    ] {
        let space = SearchSpace::of(&workload(text), &limits).unwrap();
        let counted = space.cardinality(&mut rng());
        assert_eq!(counted, Cardinality::Exact(enumerate(&space, &mut Vec::new())), "{text}");
    }
}

// U112, U117
#[test]
fn register_tiles_are_refused_where_lowering_refuses_them() {
    let (workload, limits) = (workload(SHAPES[3]), avx2(1));
    let space = SearchSpace::of(&workload, &limits).unwrap();
    let (mut allowed, mut refused) = (0, 0);
    for vector in ["n", "k"] {
        for rows in 1..=16 {
            for columns in [1, 2, 3, 5, 8, 16, 24, 32, 48] {
                for reduction in [8, 16, 24] {
                    let mut schedule = Schedule::default()
                        .with_name("vector", vector)
                        .with_number("register.m", rows)
                        .with_number("register.n", columns);
                    if vector == "k" {
                        schedule = schedule.with_number("register.k", reduction).with_name("pack.b", "tile");
                    }
                    let lowers = lower(&workload, &schedule, &limits).is_ok();
                    assert_eq!(space.encode(&schedule).is_some(), lowers, "{schedule}");
                    if lowers { allowed += 1 } else { refused += 1 }
                }
            }
        }
    }
    assert!(allowed > 50 && refused > 50);
}

// U117
#[test]
fn rests_are_turned_where_lowering_turns_them() {
    let (mut allowed, mut refused) = (0, 0);
    for shape in [2, 4, 6, 7, 8, 9, 14] {
        let (workload, limits) = (workload(SHAPES[shape]), avx2(2));
        let space = SearchSpace::of(&workload, &limits).unwrap();
        for vector in ["n", "k"] {
            for threads in ["none", "m.outer", "m.inner", "n.outer", "n.inner", "k"] {
                for (rows, columns) in [(1, 8), (6, 8), (8, 8), (13, 8), (4, 16), (1, 24), (2, 48)] {
                    let schedule = Schedule::default()
                        .with_name("vector", vector)
                        .with_name("threads", threads)
                        .with_number("register.m", rows)
                        .with_number("register.n", columns);
                    // What is refused without it is refused for another reason.
                    if lower(&workload, &schedule, &limits).is_err() || space.encode(&schedule).is_none() {
                        continue;
                    }
                    let schedule = schedule.with_name("rest.n", "turn");
                    let lowers = lower(&workload, &schedule, &limits).is_ok();
                    assert_eq!(space.encode(&schedule).is_some(), lowers, "{workload}: {schedule}");
                    if lowers { allowed += 1 } else { refused += 1 }
                }
            }
        }
    }
    assert!(allowed > 15 && refused > 15, "{allowed} allowed, {refused} refused");
}

#[test]
fn the_default_genome_is_the_default_schedule_or_near_to_it() {
    let mut same = 0;
    let mut spaces = 0;
    everywhere(|workload, limits, space| {
        let schedule = space.decode(space.default_genome()).unwrap();
        let hash = |schedule| program(workload, schedule, limits).unwrap().hash();
        same += usize::from(hash(&schedule) == hash(&default_schedule(workload, limits)));
        spaces += 1;
    });
    assert!(same * 10 >= spaces * 9, "{same} of {spaces}");
}

// U167
#[test]
fn starts_are_legal_and_different_the_default_first() {
    let mut kinds = BTreeSet::new();
    let (mut fit, mut all) = (0, 0);
    everywhere(|workload, limits, space| {
        let starts = space.starts();
        assert_eq!(starts.first(), Some(space.default_genome()));
        assert_eq!(starts.iter().collect::<BTreeSet<_>>().len(), starts.len());
        for start in starts {
            let schedule = space.decode(start).unwrap();
            // Capacities are known when a schedule is lowered, not before.
            fit += usize::from(program(workload, &schedule, limits).is_ok());
            all += 1;
            let name = |parameter| schedule.name(parameter).unwrap_or_default().to_owned();
            kinds.insert([name("order"), name("pack.a"), name("pack.b"), name("vector")]);
        }
    });
    assert!(kinds.len() >= 12, "{kinds:?}");
    assert!(fit * 10 >= all * 9, "{fit} of {all}");
}

// U051
#[test]
fn what_is_wrong_with_a_genome_is_said() {
    let space = SearchSpace::of(&workload(SHAPES[12]), &avx2(1)).unwrap();
    let reason = |genome: &[u16]| space.decode(&Genome(genome.into())).unwrap_err().to_string();
    let good = space.sample(&mut rng());
    assert!(reason(&good.0[1..]).contains("22 genes"));
    let with = |name: &str, index| {
        let mut genome = good.0.clone();
        genome[space.gene(name).unwrap()] = index;
        reason(&genome)
    };
    assert!(with("vector", 9).contains("vector"), "{}", with("vector", 9));
    assert!(with("threads", 1).contains("no effect"), "{}", with("threads", 1));
    assert!(with("register.m", 15).contains("registers of 16"), "{}", with("register.m", 15));
}
