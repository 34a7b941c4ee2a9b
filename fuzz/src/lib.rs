//! Damaged, cut and malicious input for every parser, inside ordinary tests.
//!
//! A target is a function of bytes that must return, whatever they are: within a time, within a memory, without a
//! panic. Seeds are what the real writers write; they and the files of a corpus are changed at random
//! ([`mutate`](Mutator)), by bits, bytes, stretches, and words of one another. A finding is made small, written into the
//! corpus, which every later run begins with, and fails the test.
//!
//! In a test run each target gets a fixed number of inputs from a fixed seed. `TILEWRIGHT_FUZZ_SECONDS=1200` gives
//! each that time instead, from another seed ([`SEED`]) each run, and bounds the memory (`docs/fuzzing.md`).
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "runs inside tests, and says how far a long run got")]

mod mutate;
mod run;

pub use mutate::Mutator;
pub use run::{Fuzz, SEED};
