use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_genome::{Gene, Genome, SearchSpace};
use tilewright_recorded::{Builder, Cost, Row, Timing, Value};

use super::edit::edits;
use super::experience::Experience;
use super::features::{self, NAMES};
use super::network;
use super::*;
use crate::bandit::SearchContext;
use crate::score::ScoredSpace;
use crate::synthetic;

/// A recording of `numbers` ordered and `choices` other genes in which only the ordered ones matter: a bowl with
/// its bottom at `bottom` of eight values, and one gene more that means nothing.
fn only_numbers_matter(name: &str, numbers: usize, choices: usize, bottom: i64) -> ScoredSpace {
    let genes = numbers + choices;
    let values = |at: usize| -> i64 { if at < numbers { 8 } else { 5 } };
    let count: i64 = (0..genes).map(values).product();
    let rows = (0..count).map(|number| {
        let mut rest = number;
        let (mut point, mut time_ms) = (Vec::new(), 1.0);
        for at in 0..genes {
            let value = rest % values(at);
            rest /= values(at);
            if at < numbers {
                time_ms *= 1.0 + 0.1 * (value - bottom).abs() as f64;
                point.push(Value::Integer(value + 1));
            } else {
                point.push(Value::Text(format!("choice {value}")));
            }
        }
        Row {
            place: number.to_string(),
            values: point,
            result: Ok(Timing { time_ms, samples_ms: vec![time_ms; 8] }),
            cost: Cost { compile_ms: 1_000.0, ..Cost::default() },
        }
    });
    let names = (0..genes).map(|at| format!("{name}{at}")).collect();
    let builder = Builder {
        file: name.to_owned(),
        kernel: name.to_owned(),
        device: "formula".to_owned(),
        digest: String::new(),
        cut_off: false,
        names,
        rows: rows.collect(),
    };
    ScoredSpace::new(name, builder.build().unwrap()).unwrap()
}

fn settings(episodes: u32) -> TrainSettings {
    TrainSettings { episodes, ..TrainSettings::default() }
}

fn untrained() -> Policy {
    Policy::untrained(&mut ChaCha8Rng::seed_from_u64(9))
}

/// Share of edits that change an ordered gene, of a search that has seen nothing, over random parents.
fn share_of_numbers(policy: &Policy, space: &SearchSpace) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let experience = Experience::default();
    let shares = (0..50).map(|_| {
        let genome = space.sample(&mut rng);
        let view = View {
            space,
            genome: &genome,
            parents: &[&genome],
            donor: None,
            context: SearchContext::default(),
        };
        let state = features::state(&view.context, &experience);
        let edits = edits(space, &genome, None, &mut rng);
        let preferences: Vec<f64> = edits
            .iter()
            .map(|edit| {
                network::preference(&policy.weights, &features::edit(&view, &experience, &state, edit))
            })
            .collect();
        let probabilities = network::softmax(&preferences);
        let of_numbers = edits.iter().zip(probabilities);
        of_numbers
            .filter(|(edit, _)| space.genes()[edit.gene].is_ordered())
            .map(|(_, probability)| probability)
            .sum::<f64>()
    });
    shares.sum::<f64>() / 50.0
}

#[test]
fn training_learns_which_kind_of_gene_matters_and_carries_it_to_other_spaces() {
    let spaces = [only_numbers_matter("left", 2, 3, 2), only_numbers_matter("right", 3, 2, 6)];
    let trained = train(&spaces.iter().collect::<Vec<_>>(), &settings(160), 1);
    let unseen = only_numbers_matter("unseen", 1, 4, 4);
    let (before, after) =
        (share_of_numbers(&untrained(), unseen.space()), share_of_numbers(&trained, unseen.space()));
    println!("{before:.3} then {after:.3}, weight {:.3}", trained.weight_of("gene: ordered"));
    assert!(before < 0.45, "{before}");
    assert!(after > before + 0.2, "{before} then {after}");
}

#[test]
fn training_is_the_same_with_any_number_of_threads_and_another_seed_gives_another_policy() {
    let spaces = [only_numbers_matter("one", 2, 1, 3)];
    let spaces: Vec<&ScoredSpace> = spaces.iter().collect();
    let with = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train(&spaces, &settings(20), seed))
    };
    let one = with(1, 3);
    assert_eq!(one, with(2, 3));
    assert_eq!(one, with(8, 3));
    assert_ne!(one, with(1, 4));
    assert_eq!(train(&[], &settings(20), 3), Policy::untrained(&mut ChaCha8Rng::seed_from_u64(3)));
}

#[test]
fn one_policy_serves_spaces_with_any_number_of_genes() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let policy = untrained();
    for genes in [1, 2, 7, 40] {
        let genes = (0..genes).map(|at| Gene::ordered(&format!("g{at}"), "g", (1..=9).collect())).collect();
        let space = SearchSpace::plain(genes, Vec::new()).unwrap();
        let genome = space.sample(&mut rng);
        let view = View {
            space: &space,
            genome: &genome,
            parents: &[&genome],
            donor: None,
            context: SearchContext::default(),
        };
        let choice = policy.choose(&view, &Experience::default(), &|_| true, true, &mut rng).unwrap();
        assert!(choice.gradient.iter().any(|derivative| *derivative != 0.0));
        assert!((choice.surprise - 1.0).abs() < 1e-9, "untrained: all alike");
    }
}

#[test]
fn names_and_places_of_genes_are_not_seen() {
    let genes = |names: [&str; 2]| {
        let [first, second] = names;
        vec![Gene::ordered(first, first, (1..=9).collect()), Gene::ordered(second, second, (1..=9).collect())]
    };
    let features = |names, at: usize| {
        let space = SearchSpace::plain(genes(names), Vec::new()).unwrap();
        let genome = Genome([3, 3].into());
        let view = View {
            space: &space,
            genome: &genome,
            parents: &[&genome],
            donor: None,
            context: SearchContext::default(),
        };
        let experience = Experience::default();
        let state = features::state(&view.context, &experience);
        let edits = edits(&space, &genome, None, &mut ChaCha8Rng::seed_from_u64(1));
        let edit = edits.iter().find(|edit| edit.gene == at && edit.target == 4).unwrap();
        features::edit(&view, &experience, &state, edit)
    };
    assert_eq!(features(["a", "b"], 0), features(["x", "y"], 1));
    assert_eq!(NAMES.iter().collect::<BTreeSet<_>>().len(), NAMES.len());
}

#[test]
fn a_stored_policy_is_read_back_and_a_damaged_one_refused() {
    let spaces = [only_numbers_matter("one", 2, 1, 3)];
    let policy = train(&spaces.iter().collect::<Vec<_>>(), &settings(16), 1);
    let text = policy.to_json().unwrap();
    assert_eq!(Policy::from_json(&text), Ok(policy.clone()));

    let damaged = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Policy::from_json(&text.replacen(from, to, 1)).unwrap_err()
    };
    assert_eq!(damaged("\"version\": 1", "\"version\": 2"), PolicyError::Version { found: 2 });
    assert_eq!(damaged("gene: ordered", "gene: round"), PolicyError::Features);
    let first = format!("{:?}", policy.weights[0]);
    assert_eq!(damaged(&first, "0.125"), PolicyError::Damaged("its digest is another"));
    assert_eq!(damaged(&format!("{first},"), ""), PolicyError::Damaged("weights are missing"));
    for wrong in ["1e999", "null", "\"0\""] {
        assert!(matches!(damaged(&first, wrong), PolicyError::Unreadable(_)), "{wrong}");
    }
    for length in (0..text.len()).step_by(97) {
        assert!(Policy::from_json(&text[..length]).is_err(), "cut at {length}");
    }
    let mut infinite = policy;
    infinite.baseline[0] = f64::NAN;
    assert!(infinite.to_json().is_err());
}

#[test]
fn a_search_learns_online_only_when_it_may() {
    use crate::{EvolutionPolicy, Strategy};
    let space = synthetic::space();
    for (learning, changes) in
        [(Learning::Frozen, false), (Learning::Recorded, false), (Learning::Online { rate: 0.1 }, true)]
    {
        let mut strategy = EvolutionPolicy::with(untrained(), learning);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        strategy.tell(&space, &synthetic::judged_trials(30));
        for index in 0..40 {
            for proposal in strategy.ask(&space, 2, &mut rng) {
                let schedule = space.decode(&proposal.genome).unwrap();
                let time = 1_000.0 + 100.0 * f64::from(proposal.genome.0[0]);
                strategy.tell(&space, &[synthetic::judged(schedule, 100 + index, Some(time))]);
            }
        }
        assert_eq!(*strategy.policy() != untrained(), changes, "{learning:?}");
    }
}
