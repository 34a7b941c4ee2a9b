//! What every strategy of the list must do.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_genome::{Constraint, Gene};
use tilewright_ir::{Schedule, ScheduleValue};

use super::*;
use crate::synthetic::{self, Landscape, TimeOf};

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

/// Those of the list, and a program outside.
fn all() -> impl Iterator<Item = StrategyEntry> {
    strategies().iter().copied().chain([external::tests::ENTRY])
}

fn number(value: &ScheduleValue) -> u64 {
    match value {
        ScheduleValue::Number(number) => *number,
        ScheduleValue::Name(_) => 0,
    }
}

/// 10^12 points before two constraints, the second of which few of them meet.
fn huge_space() -> SearchSpace {
    let names: Vec<String> = (0..12).map(|at| format!("g{at}")).collect();
    let genes = names.iter().map(|name| Gene::ordered(name, name, (1..=10).collect())).collect();
    let product = Constraint::new("g0 * g1 * g2 <= 64", &["g0", "g1", "g2"], |values| {
        values.iter().map(|value| number(value)).product::<u64>() <= 64
    });
    let multiple = Constraint::new("g3 divides g11", &["g3", "g11"], |values| {
        number(values[1]).is_multiple_of(number(values[0]))
    });
    SearchSpace::plain(genes, vec![product, multiple]).unwrap()
}

/// Some hundred points, of which draws find a part rarely.
fn lopsided_space() -> SearchSpace {
    let gene = |name: &str| Gene::ordered(name, name, (1..=12).collect());
    let tight = Constraint::new("wide = 1 or deep * high <= 3", &["wide", "deep", "high"], |values| {
        number(values[0]) == 1 || number(values[1]) * number(values[2]) <= 3
    });
    SearchSpace::plain(vec![gene("wide"), gene("deep"), gene("high")], vec![tight]).unwrap()
}

/// The valley's time, of any space: smaller numbers of `g…` are faster.
fn time_of(schedule: &Schedule) -> f64 {
    let sum: u64 = schedule.parameters.values().map(number).sum();
    Landscape.time_of(schedule) * (1.0 + sum as f64)
}

/// Asks and tells for some rounds, and gives what was proposed.
fn play(
    strategy: &mut dyn Strategy,
    space: &SearchSpace,
    (rounds, asked, told): (u64, usize, usize),
    time: impl Fn(&Schedule) -> Option<f64>,
    rng: &mut ChaCha8Rng,
) -> Vec<Proposal> {
    let mut all = Vec::new();
    for _ in 0..rounds {
        let proposals = strategy.ask(space, asked, rng);
        let judged: Vec<_> = proposals
            .iter()
            .take(told)
            .enumerate()
            .map(|(at, proposal)| {
                let schedule = space.decode(&proposal.genome).unwrap();
                let time = time(&schedule);
                synthetic::judged(schedule, (all.len() + at) as u64, time)
            })
            .collect();
        strategy.tell(space, &judged);
        all.extend(proposals);
    }
    all
}

fn different(proposals: &[Proposal]) -> usize {
    proposals.iter().map(|proposal| &proposal.genome).collect::<BTreeSet<_>>().len()
}

#[test]
fn proposals_are_legal_different_and_no_more_than_asked_for() {
    let space = synthetic::space();
    for entry in all() {
        let mut strategy = (entry.create)();
        assert_eq!(strategy.id(), entry.id);
        let mut rng = rng();
        for count in [0, 1, 7, 64] {
            let proposals = strategy.ask(&space, count, &mut rng);
            assert_eq!(proposals.len(), count, "{}", entry.id);
            assert_eq!(different(&proposals), count, "{}", entry.id);
            let genomes = proposals.iter().map(|proposal| &proposal.genome);
            assert!(genomes.into_iter().all(|genome| space.decode(genome).is_ok()), "{}", entry.id);
        }
    }
}

// U113, U126
#[test]
fn a_small_space_is_tried_whole_without_a_repeat_and_then_there_is_nothing_left() {
    let space = synthetic::tiny_space();
    for entry in all() {
        let mut strategy = (entry.create)();
        let proposals =
            play(strategy.as_mut(), &space, (40, 2, 2), |schedule| Some(time_of(schedule)), &mut rng());
        assert_eq!((proposals.len(), different(&proposals)), (12, 12), "{}", entry.id);
        assert_eq!(strategy.ask(&space, 3, &mut rng()), [], "{}", entry.id);
    }
}

// U108
#[test]
fn points_that_draws_hardly_find_are_found_all_the_same() {
    let space = lopsided_space();
    for entry in all().filter(|entry| !entry.id.starts_with("evolution")) {
        let mut strategy = (entry.create)();
        let proposals =
            play(strategy.as_mut(), &space, (60, 5, 5), |schedule| Some(time_of(schedule)), &mut rng());
        assert_eq!((proposals.len(), different(&proposals)), (144 + 11 * 5, 144 + 11 * 5), "{}", entry.id);
    }
}

#[test]
fn what_was_proposed_in_vain_comes_again_only_when_nothing_new_is_left() {
    let space = synthetic::tiny_space();
    for entry in all().filter(|entry| !entry.id.starts_with("evolution")) {
        let mut strategy = (entry.create)();
        let mut rng = rng();
        let untold = strategy.ask(&space, 12, &mut rng);
        assert_eq!(different(&untold), 12, "{}", entry.id);
        let again = strategy.ask(&space, 20, &mut rng);
        assert_eq!((again.len(), different(&again)), (12, 12), "{}", entry.id);
    }
}

#[test]
fn the_same_seed_gives_the_same_proposals_and_another_seed_others() {
    let space = synthetic::space();
    for entry in all() {
        let run = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            play((entry.create)().as_mut(), &space, (40, 3, 3), |it| Some(time_of(it)), &mut rng)
        };
        assert_eq!(run(1), run(1), "{}", entry.id);
        assert_ne!(run(1), run(2), "{}", entry.id);
    }
}

#[test]
fn a_saved_strategy_goes_on_as_before() {
    let space = synthetic::space();
    let time = |schedule: &Schedule| {
        // Some fail.
        (schedule.number("rows") != Some(3)).then(|| time_of(schedule))
    };
    for entry in all() {
        for rounds in [0, 1, 4, 30] {
            let mut strategy = (entry.create)();
            let mut rng = rng();
            strategy.tell(&space, &synthetic::judged_trials(10));
            play(strategy.as_mut(), &space, (rounds, 4, 3), time, &mut rng);
            let mut restored = (entry.restore)(&strategy.save().unwrap()).unwrap();
            let mut same = rng.clone();
            assert_eq!(
                play(strategy.as_mut(), &space, (20, 3, 3), time, &mut rng),
                play(restored.as_mut(), &space, (20, 3, 3), time, &mut same),
                "{} after {rounds}",
                entry.id
            );
        }
        assert!((entry.restore)(&[9; 3]).is_err(), "{}", entry.id);
    }
}

#[test]
fn a_space_of_one_point_is_tried_once() {
    let genes = vec![Gene::ordered("only", "only", vec![4]), Gene::categorical("name", "only", &["x"])];
    let space = SearchSpace::plain(genes, Vec::new()).unwrap();
    for entry in all() {
        for time in [Some(5.0), None] {
            let mut strategy = (entry.create)();
            let proposals = play(strategy.as_mut(), &space, (5, 3, 3), |_| time, &mut rng());
            assert_eq!(proposals.len(), 1, "{}", entry.id);
        }
    }
}

// U092, U162
#[test]
fn a_space_of_only_failures_is_searched_on_without_a_repeat() {
    let space = synthetic::space();
    for entry in all() {
        let mut strategy = (entry.create)();
        let proposals = play(strategy.as_mut(), &space, (100, 4, 4), |_| None, &mut rng());
        assert_eq!((proposals.len(), different(&proposals)), (400, 400), "{}", entry.id);
    }
}

// U121
#[test]
fn a_huge_constrained_space_gives_legal_points_and_ever_faster_ones() {
    let space = huge_space();
    for entry in all() {
        let mut strategy = (entry.create)();
        let mut rng = rng();
        let time = |schedule: &Schedule| Some(time_of(schedule));
        let proposals = play(strategy.as_mut(), &space, (100, 4, 4), time, &mut rng);
        assert_eq!((proposals.len(), different(&proposals)), (400, 400), "{}", entry.id);
        let best = |proposals: &[Proposal]| {
            let times = proposals.iter().map(|proposal| time_of(&space.decode(&proposal.genome).unwrap()));
            times.fold(f64::INFINITY, f64::min)
        };
        if !["random", "lhs"].contains(&entry.id) {
            let (first, all) = (best(&proposals[..40]), best(&proposals));
            assert!(all < 0.9 * first, "{}: {first} then {all}", entry.id);
        }
    }
}

#[test]
fn being_told_of_less_than_was_proposed_or_nothing_at_all_hinders_nobody() {
    let space = synthetic::space();
    for entry in all() {
        for told in [0, 1] {
            let mut strategy = (entry.create)();
            let time = |schedule: &Schedule| Some(time_of(schedule));
            let proposals = play(strategy.as_mut(), &space, (30, 8, told), time, &mut rng());
            assert_eq!(proposals.len(), 240, "{}", entry.id);
        }
    }
}

#[test]
fn trials_of_strangers_are_learned_from_and_never_proposed() {
    let space = synthetic::space();
    let strangers = synthetic::judged_trials(60);
    let known: BTreeSet<Genome> =
        strangers.iter().filter_map(|judged| space.encode(&judged.subject().candidate.schedule)).collect();
    let foreign = Schedule::default().with_number("unheard_of", 7);
    for entry in all() {
        let mut strategy = (entry.create)();
        let mut rng = rng();
        strategy.tell(&space, &[synthetic::judged(foreign.clone(), 500, Some(3.0))]);
        strategy.tell(&space, &strangers);
        strategy.tell(&space, &strangers[..5]);
        let time = |schedule: &Schedule| Some(time_of(schedule));
        let proposals = play(strategy.as_mut(), &space, (30, 4, 4), time, &mut rng);
        assert!(proposals.iter().all(|proposal| !known.contains(&proposal.genome)), "{}", entry.id);
    }
}

#[test]
fn strategies_differ_in_name_and_are_found_by_it() {
    let names: BTreeSet<_> = strategies().iter().map(|entry| entry.id).collect();
    assert_eq!(names.len(), strategies().len());
    for name in names {
        assert_eq!(strategy(name).map(|entry| entry.id), Some(name));
    }
    assert!(strategy("clairvoyance").is_none());
}
