//! Exchanging the sides exchanges the outcome; the unit of time does not matter.

use crate::environment::ENVIRONMENTS;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_stats::{Decision, Evidence, PairedTimes, gates};

const RATIOS: [f64; 7] = [0.9, 0.97, 0.985, 1.0, 1.015, 1.03, 1.1];

/// Evidence of every kind, on every machine, without and with ties.
fn all() -> Vec<Evidence> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut all = Vec::new();
    for environment in &ENVIRONMENTS {
        for ratio in RATIOS {
            for pairs in [1, 2, 3, 4, 7, 12, 31] {
                for evidence in environment.evidence(pairs, ratio, &mut rng) {
                    all.push(mapped(&evidence, |time| (time / 50.0).round() * 50.0));
                    all.push(evidence);
                }
            }
        }
    }
    all
}

fn mapped(evidence: &Evidence, by: impl Fn(f64) -> f64) -> Evidence {
    let each = |times: &[f64]| times.iter().map(|&time| by(time)).collect();
    let pairs = |times: &PairedTimes| PairedTimes {
        incumbent: each(&times.incumbent),
        candidate: each(&times.candidate),
    };
    match evidence {
        Evidence::Pairs { incumbent, candidate } => {
            Evidence::Pairs { incumbent: each(incumbent), candidate: each(candidate) }
        }
        Evidence::Claim { sequential, confirmation } => {
            Evidence::Claim { sequential: pairs(sequential), confirmation: pairs(confirmation) }
        }
        Evidence::Samples { incumbent, candidate } => {
            Evidence::Samples { incumbent: each(incumbent), candidate: each(candidate) }
        }
        &Evidence::Exact { incumbent, candidate } => {
            Evidence::Exact { incumbent: by(incumbent), candidate: by(candidate) }
        }
        failure @ Evidence::Failure { .. } => failure.clone(),
    }
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a / b - 1.0).abs() < 1e-9,
        (a, b) => a == b,
    }
}

#[test]
fn exchanged_sides_exchange_the_outcome() {
    for evidence in all() {
        let swapped = evidence.clone().swapped();
        for gate in gates() {
            let (verdict, mirrored) = (gate.judge(&evidence), gate.judge(&swapped));
            let expected = match verdict.kind {
                Decision::Faster => Decision::Slower,
                Decision::Slower => Decision::Faster,
                other => other,
            };
            assert_eq!(mirrored.kind, expected, "{}: {evidence:?}", gate.id());
            let inverse = |value: Option<f64>| value.map(f64::recip);
            assert!(near(mirrored.ratio, inverse(verdict.ratio)), "{}: {evidence:?}", gate.id());
            assert!(near(mirrored.low, inverse(verdict.high)), "{}: {evidence:?}", gate.id());
            assert!(near(mirrored.high, inverse(verdict.low)), "{}: {evidence:?}", gate.id());
        }
    }
}

#[test]
fn the_unit_of_time_does_not_matter() {
    for evidence in all() {
        for unit in [1e-3, 1e-9, 1000.0 / 3.0] {
            let scaled = mapped(&evidence, |time| time * unit);
            for gate in gates() {
                let (verdict, scaled) = (gate.judge(&evidence), gate.judge(&scaled));
                assert_eq!(scaled.kind, verdict.kind, "{} × {unit}: {evidence:?}", gate.id());
                assert!(near(scaled.ratio, verdict.ratio) && near(scaled.low, verdict.low), "{}", gate.id());
            }
        }
    }
}

#[test]
fn every_decision_occurs_among_the_evidence_tried() {
    let evidence = all();
    for gate in gates() {
        for kind in [Decision::Faster, Decision::Slower, Decision::Inconclusive] {
            assert!(
                evidence.iter().any(|evidence| gate.judge(evidence).kind == kind),
                "{} {kind:?}",
                gate.id()
            );
        }
    }
}
