//! A fixed corpus keeps its predictions: a change that claims to change nothing must not.
//!
//! When the model is meant to change, `cargo insta review` (or `INSTA_UPDATE=always`) takes the new ones.

use std::fmt::Write as _;

use tilewright_simulator::{chips, simulate};

use crate::support::program;

const CORPUS: [(&str, &str); 14] = [
    ("matmul:m=512,n=512,k=512,dtype=f32", ""),
    ("matmul:m=512,n=512,k=512,dtype=f32", "register.m=6 register.n=16 unroll=4"),
    ("matmul:m=512,n=512,k=512,dtype=f32", "register.m=6 register.n=16 pack.b=tile unroll=4"),
    (
        "matmul:m=1024,n=1024,k=1024,dtype=f32",
        "register.m=6 register.n=16 tile.m=96 tile.k=256 pack.a=tile pack.b=tile unroll=4",
    ),
    (
        "matmul:m=509,n=511,k=513,dtype=f32",
        "register.m=6 register.n=16 tile.m=96 tile.k=128 pack.a=tile pack.b=tile rest.m=mask rest.n=mask",
    ),
    (
        "matmul:m=509,n=511,k=513,dtype=f32",
        "register.m=4 register.n=24 tile.n=96 order=knm inner=mn pack.a=panel pack.b=whole rest.n=pad",
    ),
    (
        "matmul:m=512,n=512,k=512,dtype=f32",
        "vector=k register.m=3 register.n=3 pack.b=tile tile.k=128 unroll=2",
    ),
    ("matmul:m=1,n=3072,k=1024,dtype=f32,layout=nt", "vector=k register.n=8 unroll=4"),
    ("matmul:m=8,n=4096,k=1024,dtype=f32", "register.m=8 register.n=8 unroll=8 prefetch.b=16"),
    ("matmul:m=13,n=17,k=19,dtype=f32", "register.m=13 register.n=8"),
    ("matmul:m=1024,n=1024,k=1024,dtype=f32", "register.m=6 register.n=16 pack.b=tile threads=m.outer"),
    (
        "matmul:m=64,n=64,k=4096,dtype=f32",
        "register.m=4 register.n=16 pack.b=tile threads=k split.k=4 tile.k=256",
    ),
    (
        "matmul:m=1000,n=1000,k=500,dtype=f32,epilogue=bias+silu",
        "register.m=6 register.n=16 tile.m=96 tile.k=256 pack.a=tile pack.b=tile threads=m.outer rest.n=pad rest.m=mask",
    ),
    ("matmul:m=128,n=3072,k=1024,dtype=f32,layout=nt", "register.m=6 register.n=16 tile.k=256 pack.b=tile"),
];

#[test]
fn the_corpus_keeps_its_predictions() {
    let mut text = String::new();
    for chip in chips() {
        writeln!(text, "chip {}", chip.id).unwrap();
        for (workload, schedule) in CORPUS {
            let prediction = simulate(&program(workload, schedule), chip).unwrap();
            writeln!(text, "{workload} [{schedule}]").unwrap();
            writeln!(text, "  {:.6e} ns, {}", prediction.time_ns, prediction.bottleneck).unwrap();
            for time in &prediction.resources {
                writeln!(text, "    {}: {:.6e} cycles", time.resource, time.busy_cycles).unwrap();
            }
            for level in &prediction.traffic {
                writeln!(text, "    {}: {:.6e} bytes", level.level, level.read_bytes + level.written_bytes)
                    .unwrap();
            }
        }
    }
    insta::assert_snapshot!("replay", text);
}
