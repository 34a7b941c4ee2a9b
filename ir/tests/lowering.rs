//! Lowered programs: as text, and what they compute under random legal schedules.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tilewright_genome::SearchSpace;
use tilewright_ir::{
    Illegal, Limits, MemoryLevel, PersistentStore, Program, Schedule, TensorData, TensorView, Workload,
    default_schedule, interpret, legalise, lower,
};

fn limits(workers: u32) -> Limits {
    limits_of((32, 16), workers)
}

/// Of a target with so many vector registers of so many bytes.
fn limits_of((vector_bytes, vector_registers): (u64, u32), workers: u32) -> Limits {
    let level = |name: &str, bytes| MemoryLevel { name: name.to_owned(), bytes, owner: None, strict: false };
    Limits {
        target: "avx2".to_owned(),
        vector_bytes,
        vector_registers,
        workers,
        levels: vec![level("L1", 32 << 10), level("L2", 512 << 10), level("L3", 32 << 20)],
        workspace_bytes: 1 << 30,
        memory_broadcast: true,
        body_instructions: 20_000,
    }
}

#[test]
fn a_parallel_packed_product_reads_like_the_first_sketch() {
    let workload: Workload = "matmul:m=1000,n=1000,k=500,dtype=f32,epilogue=bias+silu".parse().unwrap();
    let schedule = Schedule::default()
        .with_number("tile.k", 256)
        .with_number("tile.m", 96)
        .with_number("register.m", 6)
        .with_number("register.n", 16)
        .with_name("pack.a", "tile")
        .with_name("pack.b", "tile")
        .with_name("threads", "m.outer")
        .with_name("rest.n", "pad")
        .with_name("rest.m", "mask")
        .with_number("unroll", 8);
    let program = lower(&workload, &schedule, &limits(2)).unwrap();
    insta::assert_snapshot!("lowered", program.to_string());
    insta::assert_snapshot!("legalised", legalise(&program, &limits(2)).unwrap().to_string());
}

#[test]
fn default_programs_stay_what_they_are() {
    for (name, text) in [
        ("cube", "matmul:m=64,n=64,k=64,dtype=f32"),
        ("vector", "matmul:m=1,n=3072,k=1024,dtype=f32,layout=nt"),
        ("odd", "matmul:m=13,n=17,k=19,dtype=f32"),
    ] {
        let workload: Workload = text.parse().unwrap();
        let schedule = default_schedule(&workload, &limits(1));
        let legal = legalise(&lower(&workload, &schedule, &limits(1)).unwrap(), &limits(1)).unwrap();
        insta::assert_snapshot!(name, format!("{schedule}\n{legal}"));
    }
}

#[test]
fn a_last_column_takes_lanes_along_the_reduction() {
    let workload: Workload = "matmul:m=13,n=17,k=19,dtype=f32".parse().unwrap();
    let schedule = Schedule::default()
        .with_number("register.m", 5)
        .with_number("register.n", 16)
        .with_name("rest.n", "turn");
    insta::assert_snapshot!("turned", lower(&workload, &schedule, &limits(1)).unwrap().to_string());
}

// U093, U116
#[test]
fn default_schedules_are_legal() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for _ in 0..3000 {
        let most = [20, 600, 5000][rng.random_range(0..3)];
        let [m, n, k] = std::array::from_fn(|_| rng.random_range(1..=most));
        let layout = ["nn", "nt", "tn", "tt"][rng.random_range(0..4)];
        let workload: Workload =
            format!("matmul:m={m},n={n},k={k},dtype=f32,layout={layout}").parse().unwrap();
        let registers = [(32, 16), (64, 32), (16, 32)][rng.random_range(0..3)];
        let limits = limits_of(registers, rng.random_range(1..6));
        let schedule = default_schedule(&workload, &limits);
        let legal = lower(&workload, &schedule, &limits).and_then(|program| legalise(&program, &limits));
        assert!(legal.is_ok(), "{workload} {schedule} with {} workers: {legal:?}", limits.workers);
    }
}

fn random_workload(rng: &mut impl Rng) -> Workload {
    let mut extent = |most: u64| if rng.random_range(0..6) == 0 { 1 } else { rng.random_range(1..=most) };
    let (m, n, k) = (extent(20), extent(36), extent(20));
    let layout = ["nn", "nt", "tn", "tt"][rng.random_range(0..4)];
    let accumulate = rng.random_range(0..3) == 0;
    let epilogue = ["none", "none", "bias", "bias+relu"][rng.random_range(0..4)];
    format!("matmul:m={m},n={n},k={k},dtype=f32,layout={layout},accumulate={accumulate},epilogue={epilogue}")
        .parse()
        .unwrap()
}

/// Runs a program on small integers, whose sums are exact in every order, and compares with the reference.
fn check(workload: &Workload, program: &Program, rng: &mut ChaCha8Rng) {
    let computation = workload.operator().describe(workload.parameters()).unwrap();
    let mut operands: Vec<TensorData> = computation
        .operands()
        .iter()
        .map(|operand| {
            TensorData::from_fn(operand.layout(), |_| f64::from(rng.random_range(-4_i32..5))).unwrap()
        })
        .collect();
    let before: Vec<Vec<u8>> = operands.iter().map(TensorData::to_bytes).collect();
    let result = interpret(program, "run", &mut operands, &[], &mut PersistentStore::new(), rng);
    if let Err(error) = result {
        panic!("{error}\n{program}");
    }
    let layouts: Vec<_> =
        computation.operands().iter().map(tilewright_ir::computation::Operand::layout).collect();
    let views: Vec<TensorView<'_>> =
        layouts.iter().zip(&before).map(|(layout, bytes)| TensorView { layout, bytes }).collect();
    for flat in 0..layouts[2].elements() {
        let at = layouts[2].unravel(flat);
        let expected = workload.operator().reference(workload.parameters(), &views, &at).value;
        assert_eq!(operands[2].get(&at), expected, "c{at:?} of {workload}\n{program}");
    }
}

// U018
#[test]
fn random_legal_schedules_mean_the_product_before_and_after_legalisation() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut legal, mut in_parts, mut turned) = (0, 0, 0);
    for _ in 0..500 {
        let workload = random_workload(&mut rng);
        let limits = limits(rng.random_range(1..4));
        let space = SearchSpace::of(&workload, &limits).unwrap();
        let schedule = space.decode(&space.sample(&mut rng)).unwrap();
        let mut means_the_product = |schedule: &Schedule| -> Result<bool, Illegal> {
            let lowered = lower(&workload, schedule, &limits)?;
            let Ok(legalised) = legalise(&lowered, &limits) else { return Ok(false) };
            check(&workload, &lowered, &mut rng);
            check(&workload, &legalised, &mut rng);
            Ok(true)
        };
        match means_the_product(&schedule) {
            Ok(is_legal) => legal += u32::from(is_legal),
            Err(error) => panic!("{workload} {schedule}: {error}"),
        }
        // The space cuts long reductions only; without unrolling, short ones can be cut too.
        let cut = schedule.clone().with_number("unroll", 1).with_number("prefetch.c", 2);
        in_parts += u32::from(means_the_product(&cut) == Ok(true));
        turned += u32::from(means_the_product(&schedule.with_name("rest.n", "turn")) == Ok(true));
    }
    assert!(in_parts > 40, "the reduction of {in_parts} schedules is cut into parts");
    assert!(turned > 20, "the rest of columns is turned in {turned} schedules");
    assert!(legal > 480, "{legal} of 500 schedules are legal");
}

// U112, U116
#[test]
fn impossible_schedules_say_why() {
    let workload: Workload = "matmul:m=64,n=64,k=64,dtype=f32,layout=nt".parse().unwrap();
    let plain = Schedule::default;
    for (schedule, says) in [
        (plain(), "must be packed"),
        (
            plain().with_name("pack.b", "tile").with_number("register.m", 9).with_number("register.n", 16),
            "registers",
        ),
        (plain().with_name("pack.b", "tile").with_number("register.n", 12), "multiple of 8"),
        (plain().with_name("pack.b", "tile").with_number("tile.m", 65), "tile.m"),
        (plain().with_name("pack.b", "everywhere"), "none, panel, tile, whole"),
        (plain().with_name("pack.b", "tile").with_name("threads", "m.outer"), "one worker"),
        (plain().with_name("pack.b", "tile").with_name("rest.m", "pad"), "only a packed operand"),
        (
            plain().with_name("pack.b", "tile").with_name("rest.n", "turn"),
            "no full register tile and columns",
        ),
        (plain().with_name("pack.b", "tile").with_number("speed", 11), "no such parameter"),
    ] {
        let error = lower(&workload, &schedule, &limits(1)).unwrap_err().to_string();
        assert!(error.contains(says), "{schedule}: {error}");
    }
}
