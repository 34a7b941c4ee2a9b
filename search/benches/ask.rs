//! What a question to an evolutionary strategy takes after a thousand and after a million trials: it should be
//! the same, and below 50 µs.

use criterion::{Criterion, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_search::strategy;

#[path = "../tests/support/mod.rs"]
mod support;

/// Trials told at once.
const CHUNK: u64 = 1_000;

fn ask(criterion: &mut Criterion) {
    let (space, subject) = (support::space(), support::subject());
    for name in support::EVOLUTIONARY {
        let mut strategy = (strategy(name).expect("a strategy of the list").create)();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut told = 0;
        for trials in [1_000_u64, 1_000_000] {
            while told < trials {
                let chunk =
                    (told..told + CHUNK).map(|index| support::trial(&space, &subject, index, &mut rng));
                strategy.tell(&space, &chunk.collect::<Vec<_>>());
                told += CHUNK;
            }
            criterion.bench_function(&format!("ask/{name}/{trials}"), |bencher| {
                bencher.iter(|| strategy.ask(&space, 1, &mut rng));
            });
        }
    }
}

criterion_group!(benches, ask);
criterion_main!(benches);
