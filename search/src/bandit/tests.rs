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
    let context = SearchContext::default();
    for round in 0..rounds {
        let arm = bandit.select(&ARMS, &context, rng);
        counts[arm] += 1.0 / rounds as f64;
        let ratio = if ARMS[arm] == good && round % 3 == 0 { Some(0.9) } else { Some(1.2) };
        bandit.reward(ARMS[arm], &judged(ARMS[arm], ratio), None, &context);
    }
    counts
}

/// All but the yardstick.
fn learning() -> impl Iterator<Item = &'static BanditEntry> {
    bandits().iter().filter(|entry| entry.id != "uniform")
}

#[test]
fn learning_bandits_prefer_what_earns_and_those_that_forget_follow_when_it_changes() {
    for entry in learning() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut bandit = (entry.create)();
        let first = play(bandit.as_mut(), "jump", 600, &mut rng);
        assert!(first[1] > 0.5, "{}: {first:?}", entry.id);
        play(bandit.as_mut(), "trade", 1_000, &mut rng);
        let second = play(bandit.as_mut(), "trade", 600, &mut rng);
        if entry.forgets {
            assert!(second[3] > 0.5, "{}: {second:?}", entry.id);
            assert!(second.iter().all(|&share| share > 0.0), "{}: {second:?}", entry.id);
        }
    }
}

#[test]
fn every_bandit_tries_every_arm_and_survives_failures_and_no_arms() {
    let context = SearchContext { spent: Some(f64::NAN), failures: 7.0, ..SearchContext::default() };
    for entry in bandits() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut bandit = (entry.create)();
        assert_eq!(bandit.id(), entry.id);
        let mut seen = [false; ARMS.len()];
        for _ in 0..200 {
            let arm = bandit.select(&ARMS, &context, &mut rng);
            seen[arm] = true;
            bandit.reward(ARMS[arm], &judged(ARMS[arm], None), Some(f64::NAN), &context);
        }
        assert_eq!(seen, [true; ARMS.len()], "{}", entry.id);
        assert_eq!(bandit.select(&[], &context, &mut rng), 0);
        assert_eq!(bandit.select(&ARMS[..1], &context, &mut rng), 0);
    }
}

#[test]
fn an_arm_that_appears_late_is_tried_and_taken_up_when_it_earns() {
    for entry in learning() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut bandit = (entry.create)();
        let context = SearchContext::default();
        let mut late = 0;
        for round in 0..1_500 {
            let arms = if round < 300 { &ARMS[..3] } else { &ARMS[..] };
            let arm = bandit.select(arms, &context, &mut rng);
            let good = (arms[arm] == "jump" && round % 10 == 0) || (arms[arm] == "trade" && round % 2 == 0);
            let ratio = if good { 0.9 } else { 1.2 };
            bandit.reward(arms[arm], &judged(arms[arm], Some(ratio)), None, &context);
            late += usize::from(round >= 1_000 && arms[arm] == "trade");
        }
        assert!(late > 250, "{}: {late} of 500", entry.id);
    }
}

#[test]
fn many_selections_before_any_answer_are_spread_over_the_arms_not_yet_known() {
    for entry in bandits() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut bandit = (entry.create)();
        let chosen: std::collections::BTreeSet<usize> =
            (0..64).map(|_| bandit.select(&ARMS, &SearchContext::default(), &mut rng)).collect();
        assert_eq!(chosen.len(), ARMS.len(), "{}", entry.id);
    }
}

#[test]
fn linucb_learns_which_arm_helps_when() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut bandit = LinUcb::default();
    let at = |spent: f64| SearchContext { spent: Some(spent), ..SearchContext::default() };
    let mut right = 0;
    for round in 0..1_200 {
        let spent = f64::from(round % 2);
        let arm = bandit.select(&ARMS, &at(spent), &mut rng);
        let good = ARMS[arm] == if spent > 0.5 { "step" } else { "jump" };
        let ratio = if good { 0.9 } else { 1.2 };
        bandit.reward(ARMS[arm], &judged(ARMS[arm], Some(ratio)), None, &at(spent));
        right += usize::from(round >= 800 && good);
    }
    assert!(right > 320, "{right} of 400");
}

#[test]
fn a_saved_bandit_goes_on_as_before_whatever_arms_it_knew() {
    let context = SearchContext::default();
    for entry in bandits() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut bandit = (entry.create)();
        play(bandit.as_mut(), "scale", 50, &mut rng);
        bandit.reward("of another version", &judged("of another version", Some(0.9)), None, &context);
        let mut restored = (entry.restore)(&bandit.save().unwrap()).unwrap();
        let mut same = rng.clone();
        for _ in 0..50 {
            let arm = bandit.select(&ARMS, &context, &mut rng);
            assert_eq!(arm, restored.select(&ARMS, &context, &mut same), "{}", entry.id);
        }
        assert!((entry.restore)(&[255, 1, 2]).is_err(), "{}", entry.id);
    }
}
