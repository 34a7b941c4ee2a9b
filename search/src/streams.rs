//! Random streams: one per trial and one per round of proposals, all from the campaign's seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::digest;

/// The generator of one round of proposals.
pub(crate) fn of_round(seed: u64, round: u64) -> ChaCha8Rng {
    stream(seed, 1 << 63 | round)
}

/// Seed of the random draws of one trial's evaluation.
pub(crate) fn of_trial(seed: u64, trial: u64) -> u64 {
    stream(seed, trial).next_u64()
}

/// The generator that says where among so many candidates a canary stands.
pub(crate) fn of_canary(seed: u64, block: u64) -> ChaCha8Rng {
    stream(seed, 1 << 62 | block)
}

/// Seed of one run of a strategy on a named space; the same for all strategies, so that they are compared
/// run by run.
pub(crate) fn of_run(seed: u64, space: &str, run: u32) -> u64 {
    // A stream for each name.
    let mut generator = stream(seed, digest::extend(digest::EMPTY, space.as_bytes()));
    generator.set_word_pos(2 * u128::from(run));
    generator.next_u64()
}

/// The generator that bootstrap intervals are drawn with.
pub(crate) fn of_intervals(seed: u64) -> ChaCha8Rng {
    stream(seed, u64::MAX)
}

fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(number);
    generator
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    // U043
    #[test]
    fn trials_and_rounds_draw_from_streams_of_their_own() {
        let mut seen = BTreeSet::new();
        for number in 0..100 {
            assert!(seen.insert(of_trial(7, number)));
            assert!(seen.insert(of_trial(8, number)));
            assert!(seen.insert(of_round(7, number).next_u64()));
        }
        assert_eq!(of_trial(7, 3), of_trial(7, 3));
    }
}
