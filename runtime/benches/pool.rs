//! Latency of an empty launch, by number of workers.

use criterion::{Criterion, criterion_group, criterion_main};
use tilewright_codegen::{Artifact, EntryPoint};
use tilewright_runtime::{LoadedKernel, Operands, Pool};

fn launch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("launch");
    for workers in [1_u32, 2] {
        let entries = vec![EntryPoint { name: "run".into(), offset: 0 }];
        // One `ret`.
        let artifact = Artifact { isa: "any".into(), code: vec![0xC3], entries, workers, workspace_bytes: 0 };
        let (Ok(pool), Ok(kernel)) = (Pool::new(workers as usize), LoadedKernel::load(&artifact)) else {
            continue;
        };
        let operands = Operands::default();
        group.bench_function(format!("{workers} workers"), |bencher| {
            // SAFETY: the kernel returns at once and touches nothing.
            bencher.iter(|| unsafe { pool.launch(&kernel, &operands) });
        });
    }
    group.finish();
}

criterion_group!(benches, launch);
criterion_main!(benches);
