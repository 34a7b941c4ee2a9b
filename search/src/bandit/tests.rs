use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_journal::{
    Candidate, EvalError, Fidelity, Measurement, Provenance, RecordedSpace, Subject, Trial,
};
use tilewright_stats::{Evidence, Gate, Judged, Racing};

use super::*;

/// A trial of `operator` with this ratio to the incumbent; `None` for one that failed.
fn judged(operator: &str, ratio: Option<f64>) -> Judged<Trial> {
    let incumbent: Vec<f64> = (0..7).map(|at| 1000.0 + f64::from(at)).collect();
    let (outcome, evidence) = match ratio {
        Some(ratio) => {
            let candidate: Vec<f64> = incumbent.iter().map(|time| time * ratio).collect();
            (Ok(Measurement::predicted(1000.0 * ratio)), Evidence::Pairs { incumbent, candidate })
        }
        None => (
            Err(EvalError::OutOfMemory),
            Evidence::Failure { kind: "out_of_memory".to_owned(), reproduced: true },
        ),
    };
    let subject = Subject::Recorded(RecordedSpace {
        space: String::new(),
        device: String::new(),
        digest: String::new(),
        parameters: Vec::new(),
    });
    let trial = Trial {
        index: 1,
        candidate: Candidate { subject: subject.into(), schedule: tilewright_ir::Schedule::default() },
        program_hash: None,
        outcome,
        evidence: evidence.clone(),
        incumbent: Some(0),
        provenance: Provenance {
            strategy: "evolution".to_owned(),
            operator: Some(operator.to_owned()),
            parent: Some(0),
            fidelity: Fidelity::Measured,
            stream: 1,
            predicted_ns: None,
        },
        at_ns: 0,
        elapsed_ns: 0,
    };
    let gate: &dyn Gate = &Racing::DEFAULT;
    Judged::by(gate, evidence, trial)
}

const ARMS: [&str; 4] = ["step", "jump", "scale", "trade"];

/// Share of selections of each arm in `rounds` rounds, where `good` succeeds in a third of its trials.
fn play(bandit: &mut dyn Bandit, good: &str, rounds: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut counts = vec![0.0; ARMS.len()];
    for round in 0..rounds {
        let arm = bandit.select(&ARMS, rng);
        counts[arm] += 1.0 / rounds as f64;
        let ratio = if ARMS[arm] == good && round % 3 == 0 { Some(0.9) } else { Some(1.2) };
        bandit.reward(&judged(ARMS[arm], ratio), None);
    }
    counts
}

#[test]
fn learning_bandits_prefer_what_earns_and_follow_when_it_changes() {
    for entry in bandits().iter().filter(|entry| entry.id != "uniform") {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut bandit = (entry.create)();
        let first = play(bandit.as_mut(), "jump", 600, &mut rng);
        assert!(first[1] > 0.5, "{}: {first:?}", entry.id);
        play(bandit.as_mut(), "trade", 1_000, &mut rng);
        let second = play(bandit.as_mut(), "trade", 600, &mut rng);
        assert!(second[3] > 0.5, "{}: {second:?}", entry.id);
        assert!(second.iter().all(|&share| share > 0.0), "{}: {second:?}", entry.id);
    }
}

#[test]
fn every_bandit_tries_every_arm_and_survives_failures_and_no_arms() {
    for entry in bandits() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut bandit = (entry.create)();
        let mut seen = [false; ARMS.len()];
        for _ in 0..200 {
            let arm = bandit.select(&ARMS, &mut rng);
            seen[arm] = true;
            bandit.reward(&judged(ARMS[arm], None), None);
        }
        assert_eq!(seen, [true; ARMS.len()], "{}", entry.id);
        assert_eq!(bandit.select(&[], &mut rng), 0);
    }
}

#[test]
fn a_saved_bandit_goes_on_as_before() {
    for entry in bandits() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut bandit = (entry.create)();
        play(bandit.as_mut(), "scale", 50, &mut rng);
        let mut restored = (entry.restore)(&bandit.save().unwrap()).unwrap();
        let mut same = rng.clone();
        for _ in 0..50 {
            assert_eq!(bandit.select(&ARMS, &mut rng), restored.select(&ARMS, &mut same), "{}", entry.id);
        }
        assert!((entry.restore)(&[255, 1, 2]).is_err());
    }
}
