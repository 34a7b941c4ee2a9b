//! Lowered programs as text.
use tilewright_ir::{Limits, MemoryLevel, Schedule, Workload, default_schedule, legalise, lower};

fn limits(workers: u32) -> Limits {
    let level = |name: &str, bytes| MemoryLevel { name: name.to_owned(), bytes, owner: None, strict: false };
    Limits {
        target: "avx2".to_owned(),
        vector_bytes: 32,
        vector_registers: 16,
        workers,
        levels: vec![level("L1", 32 << 10), level("L2", 512 << 10), level("L3", 32 << 20)],
        workspace_bytes: 1 << 30,
        body_instructions: 20_000,
    }
}

#[test]
fn the_first_sketch_is_lowered_as_it_reads() {
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
    let legal = legalise(&program, &limits(2)).unwrap();
    println!("{program}\n{legal}");
}

#[test]
fn defaults_are_legal() {
    for text in [
        "matmul:m=64,n=64,k=64,dtype=f32",
        "matmul:m=1,n=3072,k=1024,dtype=f32,layout=nt",
        "matmul:m=13,n=17,k=19,dtype=f32",
    ] {
        let workload: Workload = text.parse().unwrap();
        let schedule = default_schedule(&workload, &limits(1));
        let legal = legalise(&lower(&workload, &schedule, &limits(1)).unwrap(), &limits(1)).unwrap();
        println!("{schedule}\n{legal}");
    }
}
