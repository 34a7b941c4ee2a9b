//! Hostile heuristics and answers of proposers: an error, or points of the space.

use std::io::Cursor;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_fuzz::Fuzz;

use crate::{Advisor, External, Heuristic, Strategy, synthetic};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn fuzzed_heuristics_are_refused_or_advise() {
    let judged = synthetic::judged_trials(30);
    let subject = judged[0].subject().candidate.subject.clone();
    let learned = Heuristic::learn(&subject, &judged).expect("some were valid");
    let space = synthetic::space();
    Fuzz::new(HERE, "heuristic").seed(learned.to_json()).run(|bytes| {
        let Ok(heuristic) = Heuristic::from_json(bytes) else { return };
        assert_eq!(Heuristic::from_json(heuristic.to_json().as_ref()).as_ref(), Ok(&heuristic));
        if let Some(advisor) = Advisor::of(&heuristic, &space) {
            for genome in advisor.best_first() {
                assert!(!advisor.predict(&space, genome).is_nan());
            }
        }
    });
}

#[test]
fn fuzzed_answers_of_a_proposer_are_refused_or_proposed() {
    let space = synthetic::space();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let point = || {
        let genome = space.sample(&mut rng);
        let values = space.decode(&genome).expect("a legal point").parameters;
        serde_json::to_string(&values).expect("values")
    };
    let points: Vec<String> = std::iter::repeat_with(point).take(3).collect();
    let answer = |points: &[String]| format!("{{\"proposals\":[{}]}}\n", points.join(","));
    let both = format!("{}{}", answer(&points), answer(&points[..1]));
    Fuzz::new(HERE, "proposer").seed(both).seed(answer(&[])).seed(answer(&points[1..])).run(|bytes| {
        let mut external = External::new(Box::new(std::io::sink()), Box::new(Cursor::new(bytes.to_vec())));
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for _ in 0..3 {
            for proposal in external.ask(&space, 2, &mut rng) {
                space.decode(&proposal.genome).expect("proposals are points");
            }
        }
    });
}
