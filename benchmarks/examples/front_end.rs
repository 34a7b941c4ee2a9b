//! Times what happens to a candidate before it runs: sampling, lowering, legalising, hashing, simulating, compiling.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example that times and prints")]

use std::time::Instant;

use anyhow::{Context, Result};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_codegen::{CacheSizes, isa};
use tilewright_genome::SearchSpace;
use tilewright_ir::{Workload, legalise, lower};
use tilewright_simulator::{chip_for_host, simulate};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let workload = arguments.next().unwrap_or_else(|| "matmul:m=64,n=64,k=64,dtype=f32".to_owned());
    let workload: Workload = workload.parse()?;
    let isa =
        isa(&arguments.next().unwrap_or_else(|| "avx2".to_owned())).context("no such instruction set")?;
    let limits = isa.limits(1, &CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20 });
    let chip = chip_for_host("AuthenticAMD", 25, 1, limits.vector_bytes);
    let space = SearchSpace::of(&workload, &limits)?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut spent = [0.0; 6];
    let count = 2000;
    for _ in 0..count {
        let mut last = Instant::now();
        let mut lap = |at: usize| {
            spent[at] += last.elapsed().as_secs_f64();
            last = Instant::now();
        };
        let genome = space.sample(&mut rng);
        let schedule = space.decode(&genome)?;
        lap(0);
        let Ok(program) = lower(&workload, &schedule, &limits) else { continue };
        lap(1);
        let Ok(program) = legalise(&program, &limits) else { continue };
        lap(2);
        let _ = program.hash();
        lap(3);
        let _ = simulate(&program, chip);
        lap(4);
        let _ = isa.compile(&program);
        lap(5);
    }
    for (name, seconds) in ["sample", "lower", "legalise", "hash", "simulate", "compile"].iter().zip(spent) {
        println!("{name:<10}{:8.1} µs", 1e6 * seconds / f64::from(count));
    }
    Ok(())
}
