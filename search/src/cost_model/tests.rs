//! What every cost model of the list must do.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_genome::{Genome, SearchSpace};
use tilewright_ir::Schedule;
use tilewright_journal::{
    Candidate, EvalError, Fidelity, Measurement, Provenance, RecordedSpace, Subject, Trial,
};
use tilewright_stats::correlation::spearman;
use tilewright_stats::{Evidence, Exact, Gate, Judged};

use super::*;
use crate::synthetic::{self, Landscape, TimeOf};

/// A judged trial of a schedule; `None` for one that fails.
fn judged(schedule: &Schedule, time: Option<f64>, space: &str) -> Judged<Trial> {
    let failure = Evidence::Failure { kind: "out_of_memory".to_owned(), reproduced: true };
    let outcome = time.map(Measurement::predicted).ok_or(EvalError::OutOfMemory);
    let evidence = time.map_or(failure, |candidate| Evidence::Exact { incumbent: 1.0, candidate });
    let recorded = RecordedSpace {
        space: space.to_owned(),
        device: String::new(),
        digest: String::new(),
        parameters: Vec::new(),
    };
    let trial = Trial {
        index: 0,
        candidate: Candidate { subject: Subject::Recorded(recorded).into(), schedule: schedule.clone() },
        program_hash: None,
        outcome,
        evidence: evidence.clone(),
        incumbent: None,
        provenance: Provenance {
            strategy: String::new(),
            operator: None,
            parent: None,
            fidelity: Fidelity::Simulated,
            stream: 0,
            predicted_ns: None,
        },
        at_ns: 0,
        elapsed_ns: 0,
    };
    let failed: &dyn Gate = &tilewright_stats::Racing::DEFAULT;
    let gate = if time.is_some() { &Exact as &dyn Gate } else { failed };
    Judged::by(gate, evidence, trial)
}

/// Genomes of the test landscape with their scores; wide register tiles fail where `failing`.
fn points(count: usize, seed: u64, failing: bool) -> (SearchSpace, Vec<Genome>, Vec<Option<f64>>) {
    let space = synthetic::space();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let genomes: Vec<Genome> = (0..count).map(|_| space.sample(&mut rng)).collect();
    let scores = genomes.iter().map(|genome| {
        let schedule = space.decode(genome).unwrap();
        let number = |name: &str| schedule.number(name).unwrap();
        let fails = failing && number("rows") * number("columns") > 256;
        (!fails).then(|| (Landscape.time_of(&schedule) / 10_000.0).ln())
    });
    let scores = scores.collect();
    (space, genomes, scores)
}

fn learn(model: &mut dyn CostModel, seed: u64, count: usize, failing: bool, space: &str) {
    let (landscape, genomes, scores) = points(count, seed, failing);
    let features = SpaceFeatures::of(&landscape);
    for (genomes, scores) in genomes.chunks(16).zip(scores.chunks(16)) {
        let trials: Vec<Judged<Trial>> = genomes
            .iter()
            .zip(scores)
            .map(|(genome, score)| judged(&landscape.decode(genome).unwrap(), score.map(f64::exp), space))
            .collect();
        let scored: Vec<Scored<'_>> = trials
            .iter()
            .zip(scores)
            .map(|(judged, &score)| Scored { judged, score: score.map(|score| score + 3.0) })
            .collect();
        model.update(&features.genomes(&landscape, genomes), &scored);
    }
}

fn predict(model: &dyn CostModel, genomes: &[Genome]) -> Vec<Prediction> {
    let space = synthetic::space();
    model.predict(&SpaceFeatures::of(&space).genomes(&space, genomes)).unwrap()
}

#[test]
fn a_model_orders_what_it_has_not_seen_and_places_it() {
    let (_, genomes, scores) = points(2_000, 99, false);
    let truth: Vec<f64> = scores.into_iter().flatten().collect();
    for entry in cost_models() {
        for (count, wanted) in [(30, 0.35), (120, 0.7), (500, 0.8)] {
            let mut model = (entry.create)(7);
            assert_eq!(model.id(), entry.id);
            learn(model.as_mut(), 1, count, false, "valley");
            let predictions = predict(model.as_ref(), &genomes);
            let found: Vec<f64> = predictions.iter().map(|prediction| prediction.score).collect();
            let agreement = spearman(&found, &truth).unwrap();
            println!("{} after {count}: {agreement:.3}", entry.id);
            assert!(agreement > wanted, "{} after {count}: {agreement}", entry.id);
            let errors: Vec<f64> = predictions
                .iter()
                .zip(&truth)
                .map(|(prediction, truth)| (prediction.score - 3.0 - truth) / prediction.uncertainty)
                .collect();
            let within = errors.iter().filter(|error| error.abs() < 2.0).count();
            println!("  within two deviations: {within} of {}", errors.len());
            assert!(within > 1_500, "{} after {count}: {within}", entry.id);
            assert!(predictions.iter().all(|prediction| prediction.failure < 0.1));
        }
    }
}

#[test]
fn failures_are_a_probability_and_no_time() {
    let (space, genomes, scores) = points(1_000, 99, true);
    for entry in cost_models() {
        let mut model = (entry.create)(7);
        learn(model.as_mut(), 1, 200, true, "valley");
        let predictions = predict(model.as_ref(), &genomes);
        let right = predictions
            .iter()
            .zip(&scores)
            .filter(|(prediction, score)| (prediction.failure > 0.5) == score.is_none())
            .count();
        println!("{}: {right} of 1000", entry.id);
        assert!(right > 850, "{}: {right}", entry.id);
        let valid: Vec<(f64, f64)> = predictions
            .iter()
            .zip(&scores)
            .filter_map(|(prediction, score)| Some((prediction.score, (*score)?)))
            .collect();
        let (found, truth): (Vec<f64>, Vec<f64>) = valid.into_iter().unzip();
        assert!(spearman(&found, &truth).unwrap() > 0.6, "{}", entry.id);
    }
    assert!(space.is_literal());
}

#[test]
fn another_subject_s_times_are_not_compared_but_its_order_helps() {
    let (_, genomes, scores) = points(1_000, 99, false);
    let truth: Vec<f64> = scores.into_iter().flatten().collect();
    for entry in cost_models() {
        let agreement = |before: usize| {
            let mut model = (entry.create)(7);
            learn(model.as_mut(), 2, before, false, "a slower device");
            learn(model.as_mut(), 1, 10, false, "valley");
            let found: Vec<f64> =
                predict(model.as_ref(), &genomes).iter().map(|prediction| prediction.score).collect();
            spearman(&found, &truth).unwrap_or(0.0)
        };
        assert!(agreement(300) > agreement(0).max(0.6), "{}", entry.id);
    }
}

#[test]
fn a_saved_model_predicts_and_learns_as_before_and_names_may_differ() {
    let (space, genomes, _) = points(64, 99, false);
    for entry in cost_models() {
        let mut model = (entry.create)(7);
        learn(model.as_mut(), 1, 50, true, "valley");
        let mut restored = (entry.restore)(&model.save().unwrap()).unwrap();
        assert_eq!(predict(model.as_ref(), &genomes), predict(restored.as_ref(), &genomes), "{}", entry.id);
        learn(model.as_mut(), 3, 50, true, "valley");
        learn(restored.as_mut(), 3, 50, true, "valley");
        assert_eq!(predict(model.as_ref(), &genomes), predict(restored.as_ref(), &genomes), "{}", entry.id);
        let names: Vec<String> = vec!["rows.log2".to_owned(), "of another version".to_owned()];
        let foreign = Table::new(names.into(), 3);
        let predictions = model.predict(&foreign).unwrap();
        assert!(predictions.iter().all(|prediction| prediction.score.is_finite()), "{}", entry.id);
        let schedule = space.decode(&genomes[0]).unwrap();
        let trials: Vec<_> =
            (0..3).map(|at| judged(&schedule, Some(1.0 + f64::from(at)), "valley")).collect();
        let scored: Vec<_> =
            trials.iter().enumerate().map(|(at, judged)| Scored { judged, score: Some(at as f64) }).collect();
        model.update(&foreign, &scored);
        assert_eq!(predict(model.as_ref(), &genomes).len(), 64);
        assert!((entry.restore)(&[255, 1, 2]).is_err(), "{}", entry.id);
    }
}

// U030
#[test]
fn little_or_odd_knowledge_is_no_trouble() {
    let (space, genomes, _) = points(10, 99, false);
    let features = SpaceFeatures::of(&space);
    for entry in cost_models() {
        let mut model = (entry.create)(7);
        assert_eq!(model.predict(&features.genomes(&space, &genomes)), None);
        model.update(&features.genomes(&space, []), &[]);
        let schedule = space.decode(&genomes[0]).unwrap();
        let same = judged(&schedule, Some(5.0), "valley");
        let failed = judged(&schedule, None, "valley");
        for score in [Some(f64::NAN), None, Some(1.0)] {
            let scored = Scored { judged: if score.is_none() { &failed } else { &same }, score };
            for _ in 0..8 {
                model.update(&features.genomes(&space, &genomes[..1]), &[scored]);
            }
        }
        let predictions = predict(model.as_ref(), &genomes);
        assert!(predictions.iter().all(|prediction| (prediction.score - 1.0).abs() < 1e-6), "{}", entry.id);
        assert!(predictions.iter().all(|prediction| (0.2..0.8).contains(&prediction.failure)));
    }
}

#[test]
fn genomes_and_their_schedules_have_the_same_features() {
    let (space, genomes, _) = points(50, 3, false);
    let features = SpaceFeatures::of(&space);
    let schedules: Vec<Schedule> = genomes.iter().map(|genome| space.decode(genome).unwrap()).collect();
    let (by_genome, by_schedule) = (features.genomes(&space, &genomes), features.schedules(&schedules));
    assert_eq!(by_genome, by_schedule);
    assert!(features.names().iter().any(|name| name == "rows*columns.log2"));
    let at = features.names().iter().position(|name| name == "pack=tile").unwrap();
    let share = by_genome.column(at).iter().sum::<f32>() / 50.0;
    assert!((0.1..0.7).contains(&share), "{share}");
}
