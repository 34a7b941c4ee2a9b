use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_genome::{Gene, Genome, SearchSpace};
use tilewright_ir::Schedule;
use tilewright_journal::{Candidate, EvalError, Fidelity, Measurement, Provenance, Subject, Trial};
use tilewright_stats::{Evidence, Judged};

use super::*;
use crate::campaign::judge;
use crate::strategy::{Strategy, strategies, strategy};
use crate::synthetic;

/// A space of 16 × 16 × 3 points.
fn space() -> SearchSpace {
    let sizes: Vec<u64> = (1..=16).collect();
    let genes = vec![
        Gene::ordered("rows", "rows", sizes.clone()),
        Gene::ordered("columns", "columns", sizes),
        Gene::categorical("order", "order", &["row", "column", "tiled"]),
    ];
    SearchSpace::plain(genes, Vec::new()).unwrap()
}

/// Time of a point, ns: best at 12 rows, 3 columns, tiled.
fn time_ns(genome: &Genome) -> f64 {
    let apart = |at: usize, best: f64| (f64::from(genome.0[at]) + 1.0 - best).abs();
    1000.0 + 40.0 * apart(0, 12.0) + 25.0 * apart(1, 3.0) + 300.0 * f64::from(2 - genome.0[2])
}

fn subject() -> Subject {
    Subject::Recorded(tilewright_journal::RecordedSpace {
        space: "test".to_owned(),
        device: "there".to_owned(),
        digest: String::new(),
        parameters: ["rows", "columns", "order"].map(str::to_owned).to_vec(),
    })
}

fn judged(index: u64, schedule: Schedule, time_ns: Option<f64>) -> Judged<Trial> {
    let samples = |time: f64| vec![time; 8];
    let (outcome, evidence) = if let Some(time) = time_ns {
        let (incumbent, candidate) = (samples(2000.0), samples(time));
        (Ok(Measurement::predicted(time)), Evidence::Samples { incumbent, candidate })
    } else {
        let error = EvalError::Crashed { signal: 11 };
        let evidence = Evidence::Failure { kind: error.kind().to_owned(), reproduced: true };
        (Err(error), evidence)
    };
    let provenance = Provenance {
        strategy: "test".to_owned(),
        operator: Some("step".to_owned()),
        parent: None,
        fidelity: Fidelity::Replayed,
        stream: index,
        predicted_ns: None,
    };
    let candidate = Candidate { subject: Arc::new(subject()), schedule };
    let program_hash = None;
    let (incumbent, at_ns, elapsed_ns) = (None, 0, 1);
    judge(Trial {
        index,
        candidate,
        program_hash,
        outcome,
        evidence,
        incumbent,
        provenance,
        at_ns,
        elapsed_ns,
    })
    .0
}

/// All points of the space with the times that `time` gives.
fn heuristic(time: impl Fn(&Genome) -> Option<f64>) -> Heuristic {
    let space = space();
    let genomes =
        (0..16).flat_map(|r| (0..16).flat_map(move |c| (0..3).map(move |o| Genome([r, c, o].into()))));
    let trials: Vec<Judged<Trial>> = genomes
        .zip(0..)
        .map(|(genome, index)| judged(index, space.decode(&genome).unwrap(), time(&genome)))
        .collect();
    Heuristic::learn(&subject(), &trials).unwrap()
}

/// Evaluations until a point within 1 % of the best is found.
fn evaluations(strategy: &mut dyn Strategy, seed: u64) -> u64 {
    let space = space();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for index in 0..768 {
        let [proposal] = &strategy.ask(&space, 1, &mut rng)[..] else { panic!("nothing proposed") };
        let time = time_ns(&proposal.genome);
        if time < 1010.0 {
            return index + 1;
        }
        strategy.tell(&space, &[judged(index, space.decode(&proposal.genome).unwrap(), Some(time))]);
    }
    panic!("never found")
}

fn advised(heuristics: &[Heuristic], evaluations: Option<u64>) -> Advised {
    let advisors = heuristics.iter().map(|it| Advisor::of(it, &space()).unwrap()).collect();
    Advised::new((strategy("random").unwrap().create)(), advisors, evaluations)
}

#[test]
fn points_are_in_order_and_failures_are_last() {
    let learned = heuristic(|genome| (genome.0[0] != 3).then(|| time_ns(genome)));
    assert_eq!((learned.evidence, learned.points().len()), (768, 768));
    assert_eq!(learned.points()[0].score, Some(0.0));
    assert_eq!(learned.points()[0].schedule, space().decode(&Genome([11, 2, 2].into())).unwrap());
    assert!(learned.points()[720..].iter().all(|point| point.score.is_none()));
    assert_eq!(learned.timed().count(), 720);
    assert_eq!(learned.parameters(), ["columns", "order", "rows"]);
    assert_eq!(learned.operators["step"].trials, 768);
}

#[test]
fn nothing_is_learned_from_a_failure_that_was_not_reproduced() {
    let crashed = judged(1, Schedule::default(), None);
    let once = Evidence::Failure { kind: "crashed".to_owned(), reproduced: false };
    let once = judge(Trial { evidence: once, ..crashed.subject().clone() }).0;
    let valid = judged(0, Schedule::default().with_number("rows", 1), Some(1.0));
    let learned = Heuristic::learn(&subject(), &[valid.clone(), once.clone()]).unwrap();
    assert_eq!((learned.evidence, learned.points().len()), (1, 1));
    assert_eq!(Heuristic::learn(&subject(), &[valid, crashed]).unwrap().evidence, 2);
    assert_eq!(Heuristic::learn(&subject(), &[once]), None);
}

#[test]
fn a_heuristic_is_read_back_and_a_damaged_one_is_named() {
    let learned = heuristic(|genome| Some(time_ns(genome)));
    let text = learned.to_json();
    assert_eq!(Heuristic::from_json(text.as_bytes()), Ok(learned));
    let error = |text: &str| Heuristic::from_json(text.as_bytes()).unwrap_err().to_string();
    assert!(error("").contains("not a heuristic"));
    assert!(error(&text[..text.len() / 2]).contains("not a heuristic"));
    assert!(error(&text.replace("\"version\":1", "\"version\":9")).contains("newer"));
    assert!(error(&text.replace("\"score\":0.0", "\"score\":0.5")).contains("points"));
    assert!(error(&text.replace("\"evidence\":768", "\"evidence\":7")).contains("evidence"));
}

// U085, U172
#[test]
fn parameters_are_mapped_by_name_and_values_by_meaning() {
    let learned = heuristic(|genome| Some(time_ns(genome)));
    // Other order, other lists, one gene more: 12 rows and 3 columns are at other indices.
    let genes = vec![
        Gene::categorical("order", "order", &["tiled", "row"]),
        Gene::ordered("columns", "columns", vec![2, 3, 5]),
        Gene::ordered("unroll", "unroll", vec![1, 2]),
        Gene::ordered("rows", "rows", vec![4, 12, 20]),
    ];
    let other = SearchSpace::plain(genes, Vec::new()).unwrap();
    let advisor = Advisor::of(&learned, &other).unwrap();
    let best = other.decode(&advisor.best_first()[0]).unwrap();
    let named = |name: &str| best.parameters[name].to_string();
    assert_eq!((named("rows"), named("columns"), named("order")), ("12".into(), "3".into(), "tiled".into()));
    let foreign = SearchSpace::plain(vec![Gene::ordered("x", "x", vec![1, 2])], Vec::new()).unwrap();
    assert_eq!(Advisor::of(&learned, &foreign), None);
}

#[test]
fn an_unknown_point_is_placed_by_its_neighbours() {
    let learned = heuristic(|genome| (genome.0[0] % 2 == 0).then(|| time_ns(genome)));
    let advisor = Advisor::of(&learned, &space()).unwrap();
    let place = |genes: [u16; 3]| advisor.predict(&space(), &Genome(genes.into()));
    assert_eq!((place([10, 2, 2]), place([3, 2, 2])), (0.0, 1.0));
    let few: Vec<Judged<Trial>> = [[10, 2, 2], [12, 2, 2], [10, 3, 2], [11, 3, 2], [0, 15, 0]]
        .iter()
        .zip(0..)
        .map(|(genes, index)| {
            let genome = Genome((*genes).into());
            judged(index, space().decode(&genome).unwrap(), Some(time_ns(&genome)))
        })
        .collect();
    let advisor = Advisor::of(&Heuristic::learn(&subject(), &few).unwrap(), &space()).unwrap();
    let near = advisor.predict(&space(), &Genome([11, 2, 2].into()));
    assert!(near < 0.5, "{near}");
}

// U073
#[test]
fn good_advice_is_followed_and_bad_advice_costs_little() {
    let mean = |heuristics: &[Heuristic]| {
        let runs = (0..20).map(|seed| evaluations(&mut advised(heuristics, None), seed));
        runs.sum::<u64>() as f64 / 20.0
    };
    let (right, wrong) = (heuristic(|it| Some(time_ns(it))), heuristic(|it| Some(1e6 / time_ns(it))));
    // The advice of a neighbour: its best is four rows away, the order is alike.
    let moved = heuristic(|it| Some(time_ns(&Genome([it.0[0] + 4, it.0[1], it.0[2]].into()))));
    let cold = mean(&[]);
    assert_eq!(mean(std::slice::from_ref(&right)), 1.0);
    assert!(mean(std::slice::from_ref(&moved)) < 0.5 * cold, "{cold}");
    assert!(mean(&[wrong.clone(), moved]) < 0.6 * cold, "{cold}");
    assert!(mean(&[wrong]) < cold + 3.0, "{cold}");
}

#[test]
fn advice_that_has_proven_nothing_gets_two_evaluations() {
    let advice = |evaluations: Option<u64>| {
        let wrong = heuristic(|it| Some(1e6 / time_ns(it)));
        let mut strategy = advised(&[wrong], evaluations);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut given = 0;
        for index in 0..40 {
            let proposal = strategy.ask(&space(), 1, &mut rng).pop().unwrap();
            given += u32::from(proposal.operator.is_some_and(|it| it.starts_with("advice of ")));
            let schedule = space().decode(&proposal.genome).unwrap();
            strategy.tell(&space(), &[judged(index, schedule, Some(time_ns(&proposal.genome)))]);
        }
        given
    };
    assert!((1..=2).contains(&advice(None)));
    assert!((1..=2).contains(&advice(Some(1000))));
    assert_eq!(advice(Some(40)), 20);
}

#[test]
fn every_strategy_is_advised_without_asking_twice_and_the_same_for_a_seed() {
    let space = synthetic::space();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let known: Vec<Judged<Trial>> = (0..200)
        .map(|index| {
            let genome = space.sample(&mut rng);
            judged(index, space.decode(&genome).unwrap(), Some(1000.0 + f64::from(genome.0[0])))
        })
        .collect();
    let learned = Heuristic::learn(&subject(), &known).unwrap();
    for entry in strategies() {
        let advisors = || vec![Advisor::of(&learned, &space).unwrap()];
        let run = || {
            let mut strategy = Advised::new((entry.create)(), advisors(), None);
            let mut rng = ChaCha8Rng::seed_from_u64(9);
            let mut asked = Vec::new();
            for round in 0..6 {
                let proposals = strategy.ask(&space, 8, &mut rng);
                let judged: Vec<Judged<Trial>> = proposals
                    .iter()
                    .zip(8 * round..)
                    .map(|(it, index)| {
                        let time = 1000.0 + it.genome.0.iter().map(|&index| f64::from(index)).sum::<f64>();
                        judged(index, space.decode(&it.genome).unwrap(), Some(time))
                    })
                    .collect();
                strategy.tell(&space, &judged);
                asked.extend(proposals.into_iter().map(|it| it.genome));
            }
            (asked, strategy.save().unwrap())
        };
        let (asked, state) = run();
        assert_eq!((asked.clone(), state), run(), "{}", entry.id);
        let different: std::collections::BTreeSet<&Genome> = asked.iter().collect();
        assert_eq!((different.len(), asked.len()), (48, 48), "{}", entry.id);
    }
}
