//! The model: a program becomes a nest with trip counts, its accesses get traffic, its instructions work.

mod combine;
mod constants;
mod contract;
mod counter;
mod expression;
mod machine;
mod nest;
mod place;
mod region;
mod statements;
mod traffic;
mod work;

use tilewright_ir::{CacheState, Program};

use crate::chip::Chip;
use crate::error::SimulateError;
use crate::prediction::Prediction;

/// Predicts one launch of a legalised program that follows others on the same operands.
///
/// # Errors
/// When the program refers to what it does not have, or uses a form without a model.
pub fn simulate(program: &Program, chip: &Chip) -> Result<Prediction, SimulateError> {
    simulate_from(program, chip, CacheState::Warm)
}

/// Predicts one launch from the given state of the caches.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_from(
    program: &Program,
    chip: &Chip,
    cache: CacheState,
) -> Result<Prediction, SimulateError> {
    let machine = machine::Machine::new(chip, program.workers().max(1) as f64);
    let nest = nest::read(program, &machine)?;
    let traffic = traffic::analyse(&nest, &machine, cache);
    Ok(combine::combine(&nest, &traffic, &machine, chip))
}

#[cfg(test)]
mod debug {
    #[test]
    fn dump() {
        let Ok(text) = std::env::var("SCHEDULE") else { return };
        let workload: tilewright_ir::Workload = "matmul:m=512,n=512,k=512,dtype=f32".parse().unwrap();
        let schedule = text.split_whitespace().filter_map(|p| p.split_once('=')).fold(
            tilewright_ir::Schedule::default(),
            |s, (n, v)| match v.parse() { Ok(x) => s.with_number(n, x), Err(_) => s.with_name(n, v) },
        );
        let level = |name: &str, bytes| tilewright_ir::MemoryLevel { name: name.to_owned(), bytes, owner: None, strict: false };
        let limits = tilewright_ir::Limits {
            target: "avx2".to_owned(), vector_bytes: 32, vector_registers: 16, workers: 1,
            levels: vec![level("L1", 32 << 10), level("L2", 512 << 10), level("L3", 32 << 20)],
            workspace_bytes: 1 << 30, body_instructions: 20_000,
        };
        let program = tilewright_ir::legalise(&tilewright_ir::lower(&workload, &schedule, &limits).unwrap(), &limits).unwrap();
        println!("{program}");
        let chip = crate::chip_named("amd_zen4").unwrap();
        let machine = super::machine::Machine::new(chip, 1.0);
        let nest = super::nest::read(&program, &machine).unwrap();
        let traffic = super::traffic::analyse(&nest, &machine, tilewright_ir::CacheState::Warm);
        println!("{:#?}", nest.body);
        for leaf in &nest.leaves {
            println!("{} x {:?} {:?}", leaf.executions, leaf.repeated, leaf.work);
            for at in leaf.references.0..leaf.references.1 {
                let r = &nest.references[at];
                let dims: Vec<_> = r.region.spans.iter().map(|s| (s.low, s.high)).collect();
                println!("   place {} {} {dims:?} lines {:?} written {:?}", r.region.place, if r.writes {"w"} else {"r"}, &traffic[at].lines[..5], &traffic[at].written[..3]);
            }
        }
        println!("{:#?}", super::simulate(&program, chip));
    }
}
