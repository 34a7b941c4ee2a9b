//! What a question to an evolutionary strategy costs does not grow with what it was told of.
//!
//! Costs are counted, not timed: bytes and blocks that are allocated. A strategy that goes through its memory
//! copies or collects something of each entry; `benches/ask.rs` times it as well, up to a million trials.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_search::{Strategy, strategy};

mod support;

/// Counts what this thread allocates.
struct Counting;

thread_local! {
    static BLOCKS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Without a counter (a thread that ends) there is nothing to count.
        let _ = BLOCKS.try_with(|blocks| blocks.set(blocks.get() + 1));
        let _ = BYTES.try_with(|bytes| bytes.set(bytes.get() + layout.size() as u64));
        // SAFETY: the caller's promises are those that the system's allocator wants.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Questions that are averaged over.
const QUESTIONS: u64 = 400;

/// Mean blocks and bytes of a question.
fn cost(strategy: &mut dyn Strategy, rng: &mut ChaCha8Rng) -> (f64, f64) {
    let space = support::space();
    let before = (BLOCKS.get(), BYTES.get());
    let mut proposed = 0;
    for _ in 0..QUESTIONS {
        proposed += strategy.ask(&space, 1, rng).len() as u64;
    }
    let after = (BLOCKS.get(), BYTES.get());
    assert_eq!(proposed, QUESTIONS);
    ((after.0 - before.0) as f64 / QUESTIONS as f64, (after.1 - before.1) as f64 / QUESTIONS as f64)
}

// U123, U125
#[test]
fn a_question_costs_the_same_after_a_hundred_thousand_trials_as_after_a_thousand() {
    let (space, subject) = (support::space(), support::subject());
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let trials: Vec<_> =
        (0..100_000).map(|index| support::trial(&space, &subject, index, &mut rng)).collect();
    for name in support::EVOLUTIONARY {
        let mut strategy = (strategy(name).expect("a strategy of the list").create)();
        strategy.tell(&space, &trials[..1_000]);
        let few = cost(strategy.as_mut(), &mut rng);
        strategy.tell(&space, &trials[1_000..]);
        let many = cost(strategy.as_mut(), &mut rng);
        println!("{name}: {few:?} then {many:?} blocks and bytes");
        assert!(many.0 < 1.5 * few.0 + 5.0 && many.1 < 1.5 * few.1 + 500.0, "{name}: {few:?} then {many:?}");
    }
}

/// Proposes at random, but looks through all that it knows first.
#[test]
fn a_cost_that_grows_would_be_seen() {
    let mut known: Vec<u64> = (0..1_000).collect();
    let collect = |known: &[u64]| {
        let before = BYTES.get();
        let copy = known.to_vec();
        assert!(!copy.is_empty());
        BYTES.get() - before
    };
    let few = collect(&known);
    known.extend(1_000..100_000);
    assert!(collect(&known) > 50 * few);
}
