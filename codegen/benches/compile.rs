//! Time to generate code, from a legalised program to an artifact.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tilewright_codegen::{CacheSizes, isas};
use tilewright_ir::{Schedule, Workload, default_schedule, legalise, lower};

const CACHES: CacheSizes = CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20 };

fn compile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    for isa in isas() {
        let limits = isa.limits(1, &CACHES);
        for text in [
            "matmul:m=64,n=64,k=64,dtype=f32",
            "matmul:m=1024,n=1024,k=1024,dtype=f32",
            "matmul:m=509,n=513,k=511,dtype=f32",
            "matmul:m=509,n=513,k=511,dtype=f32,layout=nt,epilogue=bias+silu",
        ] {
            let workload: Workload = text.parse().expect("a workload");
            let schedule: Schedule = default_schedule(&workload, &limits);
            let program = lower(&workload, &schedule, &limits).expect("the default schedule is legal");
            let program = legalise(&program, &limits).expect("the default schedule fits");
            let id = format!("{} {text}", isa.id());
            group.bench_function(id, |bencher| bencher.iter(|| isa.compile(black_box(&program))));
        }
    }
    group.finish();
}

criterion_group!(benches, compile);
criterion_main!(benches);
