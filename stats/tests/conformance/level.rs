//! How often a gate decides where nothing differs, or nothing beyond its margin.

use crate::environment::{ENVIRONMENTS, Environment, KINDS};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_stats::interval::proportion_interval;
use tilewright_stats::{Decision, Gate, Level, Margin, SequentialClaim, SignEProcess, gates};

const RUNS: u64 = 2000;

/// Asserts that a rate of `wrong` in [`RUNS`] is compatible with the level the gate declares.
fn assert_level(gate: &dyn Gate, wrong: u64, what: &str) {
    let declared = gate.settings().get("level").unwrap_or(0.0);
    let rate = proportion_interval(wrong, RUNS, Level::ONE_IN_A_THOUSAND).expect("no more wrong than runs");
    assert!(rate.low <= declared, "{} decided wrongly {wrong} times of {RUNS}: {what}", gate.id());
}

/// How often each gate finds the candidate faster and slower, by kind of evidence.
fn count(gate: &dyn Gate, environment: &Environment, pairs: usize, ratio: f64) -> [[u64; 2]; KINDS] {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut found = [[0; 2]; KINDS];
    for _ in 0..RUNS {
        for (evidence, found) in environment.evidence(pairs, ratio, &mut rng).iter().zip(&mut found) {
            match gate.judge(evidence).kind {
                Decision::Faster => found[0] += 1,
                Decision::Slower => found[1] += 1,
                Decision::Inconclusive => {}
                Decision::Failed => panic!("{} calls times a failure", gate.id()),
            }
        }
    }
    found
}

#[test]
fn identical_kernels_are_told_apart_no_more_often_than_declared() {
    for gate in gates() {
        for environment in &ENVIRONMENTS {
            for pairs in [8, 31] {
                for (kind, sides) in count(*gate, environment, pairs, 1.0).iter().enumerate() {
                    for wrong in sides {
                        let what = format!("{} {pairs} evidence {kind}", environment.name);
                        assert_level(*gate, *wrong, &what);
                    }
                }
            }
        }
    }
}

#[test]
fn an_effect_of_just_the_margin_is_claimed_no_more_often_than_declared() {
    for gate in gates() {
        let Some(margin) = gate.settings().get("margin") else { continue };
        for environment in &ENVIRONMENTS {
            let gain = count(*gate, environment, 31, 1.0 / (1.0 + margin));
            let loss = count(*gate, environment, 31, 1.0 + margin);
            for (kind, (gain, loss)) in gain.iter().zip(&loss).enumerate() {
                let what = format!("{} at the margin, evidence {kind}", environment.name);
                assert_level(*gate, gain[0], &what);
                assert_level(*gate, loss[1], &what);
            }
        }
    }
}

#[test]
fn the_sequential_gates_keep_their_level_however_long_they_are_watched() {
    // At 5 % the bound is near enough to be missed by a wrong process; at 0.1 % nothing would show.
    for margin in [Margin::NONE, Margin::ONE_PERCENT] {
        let level = Level::FIVE_PERCENT;
        let gates: [&dyn Gate; 2] = [&SignEProcess { margin, level }, &SequentialClaim { margin, level }];
        for gate in gates {
            for environment in &ENVIRONMENTS {
                let ratio = 1.0 / (1.0 + margin.get());
                let mut rng = ChaCha8Rng::seed_from_u64(12);
                let wrong = (0..RUNS).filter(|_| {
                    gate.judge(&environment.pairs(400, ratio, &mut rng)).kind == Decision::Faster
                });
                assert_level(gate, wrong.count() as u64, environment.name);
            }
        }
    }
}
