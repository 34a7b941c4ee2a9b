//! What every strategy of the list must do.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::synthetic;

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

#[test]
fn proposals_are_legal_different_and_no_more_than_asked_for() {
    let space = synthetic::space();
    for entry in strategies() {
        let mut strategy = (entry.create)();
        assert_eq!(strategy.id(), entry.id);
        let mut rng = rng();
        for count in [0, 1, 7, 64] {
            let proposals = strategy.ask(&space, count, &mut rng);
            assert_eq!(proposals.len(), count, "{}", entry.id);
            let genomes: BTreeSet<_> = proposals.iter().map(|proposal| &proposal.genome).collect();
            assert_eq!(genomes.len(), count, "{}", entry.id);
            assert!(genomes.iter().all(|genome| space.decode(genome).is_ok()), "{}", entry.id);
        }
    }
}

#[test]
fn a_saved_strategy_goes_on_as_before() {
    let space = synthetic::space();
    for entry in strategies() {
        let mut strategy = (entry.create)();
        let mut rng = rng();
        let judged = synthetic::judged_trials(40);
        strategy.ask(&space, 10, &mut rng);
        strategy.tell(&space, &judged);
        let mut restored = (entry.restore)(&strategy.save().unwrap()).unwrap();
        let mut same = rng.clone();
        for _ in 0..5 {
            assert_eq!(
                strategy.ask(&space, 20, &mut rng),
                restored.ask(&space, 20, &mut same),
                "{}",
                entry.id
            );
        }
        assert!((entry.restore)(&[9; 3]).is_err(), "{}", entry.id);
    }
}

#[test]
fn strategies_differ_in_name_and_are_found_by_it() {
    let names: BTreeSet<_> = strategies().iter().map(|entry| entry.id).collect();
    assert_eq!(names.len(), strategies().len());
    for name in ["evolution", "evolution-uniform", "random"] {
        assert_eq!(strategy(name).map(|entry| entry.id), Some(name));
    }
    assert!(strategy("annealing").is_none());
}
