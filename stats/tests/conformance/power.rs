//! How often a gate finds an effect that is there.

use crate::environment::{ENVIRONMENTS, Environment};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_stats::{Claim, Decision, Evidence, Gate, Racing, SignEProcess, TwoSample, gates};

/// Share of 400 runs in which the gate finds the planted ratio, on the kind of evidence it does best on.
fn power(gate: &dyn Gate, environment: &Environment, pairs: usize, ratio: f64) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let wanted = if ratio < 1.0 { Decision::Faster } else { Decision::Slower };
    let mut found = [0_u32; 3];
    for _ in 0..400 {
        for (evidence, found) in environment.evidence(pairs, ratio, &mut rng).iter().zip(&mut found) {
            *found += u32::from(gate.judge(evidence).kind == wanted);
        }
    }
    found.iter().map(|&found| f64::from(found) / 400.0).fold(0.0, f64::max)
}

#[test]
fn every_gate_finds_a_gain_and_a_loss_of_five_percent_in_31_pairs() {
    for gate in gates() {
        for ratio in [0.95, 1.0 / 0.95] {
            let power = power(*gate, &ENVIRONMENTS[0], 31, ratio);
            assert!(power > 0.95, "{} finds {ratio} in {power} of runs", gate.id());
        }
    }
}

#[test]
fn every_gate_finds_a_halved_time_on_every_machine() {
    for gate in gates() {
        for environment in &ENVIRONMENTS {
            let power = power(*gate, environment, 31, 0.5);
            assert!(power > 0.95, "{}, {}: {power}", gate.id(), environment.name);
        }
    }
}

#[test]
fn more_pairs_find_smaller_gains() {
    let powers = |gate: &dyn Gate| [11, 31, 100].map(|pairs| power(gate, &ENVIRONMENTS[0], pairs, 0.97));
    for gate in [&Racing::DEFAULT as &dyn Gate, &Claim::DEFAULT, &SignEProcess::DEFAULT, &TwoSample::DEFAULT]
    {
        let [few, some, many] = powers(gate);
        assert!(few <= some && some <= many && many > 0.95, "{}: {few} {some} {many}", gate.id());
    }
}

#[test]
fn the_interval_encloses_the_true_ratio_about_as_often_as_it_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for gate in gates() {
        let (mut given, mut hits) = (0, 0);
        for _ in 0..400 {
            for evidence in ENVIRONMENTS[0].evidence(31, 0.97, &mut rng) {
                let verdict = gate.judge(&evidence);
                if let (Evidence::Pairs { .. } | Evidence::Samples { .. }, Some(low), Some(high)) =
                    (&evidence, verdict.low, verdict.high)
                {
                    given += 1;
                    hits += i32::from((low..=high).contains(&0.97));
                }
            }
        }
        assert!(given == 0 || f64::from(hits) / f64::from(given) > 0.92, "{}: {hits} of {given}", gate.id());
    }
}
