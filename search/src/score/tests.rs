use std::path::Path;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tilewright_genome::{Genome, SearchSpace};
use tilewright_journal::Trial;
use tilewright_recorded::{
    Builder, Content, Cost, Failure, FailureKind, RecordedSpace, Row, Timing, Value, read,
};
use tilewright_stats::Judged;

use super::*;
use crate::{Proposal, StateError, Strategy, strategies, strategy};

/// A time, or a failure, and what it cost, s.
type Recorded = (Option<f64>, f64);

fn recorded(rows: &[Recorded]) -> RecordedSpace {
    let row = |(at, &(time, seconds)): (usize, &Recorded)| Row {
        place: format!("{at}"),
        values: vec![Value::Integer(at as i64)],
        result: time
            .map(|time_ms| Timing { time_ms, samples_ms: vec![time_ms; 8] })
            .ok_or(Failure { kind: FailureKind::Run, text: String::new() }),
        cost: Cost { compile_ms: seconds * 1000.0, ..Cost::default() },
    };
    let builder = Builder {
        file: "test".to_owned(),
        kernel: "kernel".to_owned(),
        device: "device".to_owned(),
        digest: String::new(),
        cut_off: false,
        names: vec!["at".to_owned()],
        rows: rows.iter().enumerate().map(row).collect(),
    };
    builder.build().unwrap()
}

fn scored(rows: &[Recorded]) -> ScoredSpace {
    ScoredSpace::new("test", recorded(rows)).unwrap()
}

/// Proposes what it is told to.
#[derive(Debug)]
struct Script(Vec<u16>);

impl Strategy for Script {
    fn id(&self) -> &'static str {
        "script"
    }

    fn ask(&mut self, _: &SearchSpace, count: usize, _: &mut dyn Rng) -> Vec<Proposal> {
        let next: Vec<u16> = self.0.drain(..count.min(self.0.len())).collect();
        next.into_iter()
            .map(|at| Proposal { genome: Genome([at].into()), operator: None, parent: None })
            .collect()
    }

    fn tell(&mut self, _: &SearchSpace, _: &[Judged<Trial>]) {}

    fn save(&self) -> Result<Vec<u8>, StateError> {
        Ok(Vec::new())
    }
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

#[test]
fn the_closed_form_is_the_mean_best_of_random_orders() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for invalid in [0, 30] {
        let values: Vec<f64> = (0..60).map(|at| 1.0 + f64::from(at * at % 61)).collect();
        let baseline = Baseline::new(values.clone(), values.len() + invalid);
        let worst = *baseline.values().last().unwrap();
        let mut order: Vec<f64> = values.iter().copied().chain(vec![f64::INFINITY; invalid]).collect();
        for draws in [1_usize, 2, 5, 20] {
            let best: Vec<f64> = (0..1000)
                .map(|_| {
                    order.shuffle(&mut rng);
                    let best = order[..draws].iter().copied().fold(f64::INFINITY, f64::min);
                    if best.is_finite() { best } else { worst }
                })
                .collect();
            let (mean, error) = mean_and_error(&best);
            let expected = baseline.expected_best(draws as f64);
            assert!(
                (mean - expected).abs() < 3.0 * error,
                "{draws} of {}: {mean} {expected} {error}",
                order.len()
            );
        }
        let half = baseline.expected_best(2.5);
        assert!(
            (half - f64::midpoint(baseline.expected_best(2.0), baseline.expected_best(3.0))).abs() < 1e-12
        );
        assert!((baseline.expected_best(0.0) - worst).abs() < 1e-12);
        assert!((baseline.expected_best(1e9) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn four_points_give_the_score_computed_by_hand() {
    // Optimum 1, median 2.5. From the worst on: 5, 3, 2, 1; the first at most 1 + 1.5 · 0.05 is the optimum
    // at position 3, so position 2 counts, and ⌈2/(5 − 2)⌉ = 1 evaluation of median cost 1 s; at most
    // 1 + 1.5 · 0.99 is position 2: ⌈2/3⌉ = 1 evaluation. The window is one moment, t = 1 s.
    // The mean cost is 2 s, so random search has made half a draw: halfway from the worst, 5, to the mean of
    // all, 2.75, which is 3.875.
    let space = scored(&[(Some(2.0), 1.0), (Some(5.0), 1.0), (Some(1.0), 5.0), (Some(3.0), 1.0)]);
    let window = space.window();
    assert_eq!((window.seconds[0], window.seconds[999], window.budget_seconds), (1.0, 1.0, 1.1));
    assert_eq!((window.optimum, window.median, window.baseline[0]), (1.0, 2.5, 3.875));
    for (order, best, evaluations) in [
        // The first ends at 1 s and counts; the second begins within the budget.
        (vec![0, 3], 2.0, 2),
        (vec![3, 0], 3.0, 2),
        // The optimum takes 5 s and is too late: the median stands for nothing.
        (vec![2, 0], 2.5, 1),
        // Asking twice costs nothing.
        (vec![1, 1, 1, 0], 5.0, 2),
        (vec![], 2.5, 0),
    ] {
        let run = replay(&space, &mut Script(order.clone()), 1);
        assert!((run.score - (3.875 - best) / 2.875).abs() < 1e-12, "{order:?}: {}", run.score);
        assert_eq!(run.evaluations, evaluations, "{order:?}");
    }
}

#[test]
fn a_window_in_motion_gives_the_score_computed_by_hand() {
    // 99 values 1, 2, …, 99 and one failure; all cost 2 s. Median 50, optimum 1.
    // 95 %: cut-off 3.45, first at position 96: ⌈96/(100 − 96)⌉ = 24 evaluations. 1 %: cut-off 49.51, first
    // at position 50: ⌈50/50⌉ = 1. The window goes from 2 s to 48 s.
    let mut rows: Vec<Recorded> = (1..=99).map(|value| (Some(f64::from(value)), 2.0)).collect();
    rows.push((None, 2.0));
    let space = scored(&rows);
    let window = space.window();
    assert_eq!((window.seconds[0], window.seconds[999]), (2.0, 48.0));
    assert!((window.budget_seconds - 52.8).abs() < 1e-12);
    // Failure first, then 40, and 1 as the third, at 6 s.
    let run = replay(&space, &mut Script(vec![99, 39, 0]), 1);
    let expected = |time: f64| -> f64 {
        // Best of M of 100 where the failure counts 99: mean of the minimum by summing the chances that it is
        // above each value.
        let draws = time / 2.0;
        let of = |draws: f64| -> f64 {
            let (mut sum, mut above) = (0.0, 1.0);
            for value in 0..99 {
                sum += above;
                above *= 1.0 - (draws / (100.0 - f64::from(value))).min(1.0);
            }
            sum
        };
        let share = draws.fract();
        of(draws.floor()) * (1.0 - share) + if share > 0.0 { of(draws.ceil()) * share } else { 0.0 }
    };
    let times = (0..1000).map(|at| 2.0 + 46.0 / 999.0 * f64::from(at));
    let score: f64 = times
        .map(|time| {
            let best = if time >= 6.0 {
                1.0
            } else if time >= 4.0 {
                40.0
            } else {
                50.0
            };
            (expected(time) - best) / (expected(time) - 1.0)
        })
        .sum::<f64>()
        / 1000.0;
    assert!((run.score - score).abs() < 1e-9, "{} {score}", run.score);
    assert_eq!(run.improvements.len(), 2);
    assert!(score > 0.8 && score < 1.0, "{score}");
}

#[test]
fn spaces_without_anything_to_find_are_refused() {
    let error = |rows: &[Recorded]| ScoredSpace::new("test", recorded(rows)).unwrap_err();
    assert_eq!(error(&[(None, 1.0)]), ScoreError::NothingValid);
    assert_eq!(error(&[(Some(1.0), 1.0), (Some(1.0), 1.0)]), ScoreError::Flat);
    assert_eq!(error(&[(Some(1.0), 0.0), (Some(2.0), 0.0)]), ScoreError::Free);
}

/// Two bent valleys with failures, small enough for every strategy.
fn valleys() -> Vec<ScoredSpace> {
    let rows = |shift: i32| -> Vec<Recorded> {
        (0..400)
            .map(|at| {
                let (x, y) = (at % 20, at / 20);
                let time =
                    1.0 + 0.05 * f64::from((x - 7 - shift).pow(2)) + 0.1 * f64::from((y - x / 2).pow(2));
                ((at % 17 != 3).then_some(time), 0.5 + 0.01 * f64::from(x))
            })
            .collect()
    };
    ["first", "second"]
        .iter()
        .zip([0, 6])
        .map(|(name, shift)| ScoredSpace::new(name, recorded(&rows(shift))).unwrap())
        .collect()
}

fn contestants() -> Vec<Contestant> {
    strategies().iter().map(|entry| Contestant::from(*entry)).collect()
}

#[test]
fn the_score_does_not_depend_on_the_number_of_threads() {
    let spaces = valleys();
    let settings = ScoreSettings { runs: 4, seed: 3 };
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| score(&spaces, &contestants(), settings, &|| ()).unwrap())
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(8));
    let other = ScoreSettings { seed: 4, ..settings };
    assert_ne!(one.strategies, score(&spaces, &contestants(), other, &|| ()).unwrap().strategies);
}

#[test]
fn reports_name_everything_and_intervals_enclose_the_means() {
    let spaces = valleys();
    let report = score(&spaces, &contestants(), ScoreSettings { runs: 6, seed: 1 }, &|| ()).unwrap();
    assert_eq!(report.strategies.len(), strategies().len());
    for (of, entry) in report.strategies.iter().zip(strategies()) {
        assert_eq!(of.strategy, entry.id);
        assert_eq!(of.spaces.len(), 2);
        for estimate in of.spaces.iter().map(|space| space.estimate).chain([of.aggregate]) {
            assert!(estimate.low <= estimate.score && estimate.score <= estimate.high, "{estimate:?}");
        }
        for space in &of.spaces {
            assert_eq!((space.scores.len(), space.course.mean.len()), (6, 200));
            assert!(space.evaluations > 1.0, "{}: {}", of.strategy, space.evaluations);
        }
    }
}

#[test]
fn random_search_is_the_baseline_where_costs_are_equal() {
    let rows: Vec<Recorded> = (0..500).map(|at| (Some(1.0 + f64::from(at * 7 % 500)), 1.0)).collect();
    let spaces = [scored(&rows)];
    let random = Contestant::from(strategy("random").unwrap());
    let report = score(&spaces, &[random], ScoreSettings { runs: 400, seed: 1 }, &|| ()).unwrap();
    let (mean, error) = mean_and_error(&report.strategies[0].spaces[0].scores);
    assert!(mean.abs() < 3.5 * error && error < 0.05, "{mean} {error}");
}

fn published(name: &str) -> Option<ScoredSpace> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/recorded-spaces");
    let path = path.join(format!("{name}.json.gz"));
    if !path.exists() {
        eprintln!("skipped: {} is not here", path.display());
        return None;
    }
    let Content::Space(space) = read(&path).unwrap() else { panic!("a space") };
    Some(ScoredSpace::new(name, space).unwrap())
}

fn random_score(name: &str, runs: u32) -> Option<(f64, f64)> {
    let spaces = [published(name)?];
    let random = Contestant::from(strategy("random").unwrap());
    let report = score(&spaces, &[random], ScoreSettings { runs, seed: 0 }, &|| ()).unwrap();
    Some(mean_and_error(&report.strategies[0].spaces[0].scores))
}

#[test]
fn random_search_on_a_published_space_has_its_published_score() {
    // Its budget is eight evaluations, and slow configurations cost more.
    let Some((mean, error)) = random_score("convolution_milo-W6600", 400) else { return };
    assert!((mean + 0.61).abs() < 3.5 * error + 0.005, "{mean} {error}");
}

#[test]
#[ignore = "takes minutes: a thousand runs on each of eight spaces"]
fn random_search_on_all_published_spaces_has_its_published_scores() {
    for (name, wanted, tolerance) in [
        ("convolution_milo-A100", 0.0, 0.02),
        ("convolution_milo-A4000", 0.0, 0.02),
        ("convolution_milo-MI250X", -0.09, 0.005),
        ("convolution_milo-W6600", -0.61, 0.005),
        ("dedispersion_milo-A100", 0.0, 0.02),
        ("dedispersion_milo-A4000", 0.0, 0.02),
        ("dedispersion_milo-MI250X", 0.0, 0.02),
        ("dedispersion_milo-W6600", 0.0, 0.02),
    ] {
        let Some((mean, error)) = random_score(name, 1000) else { return };
        assert!((mean - wanted).abs() < tolerance + 3.5 * error, "{name}: {mean} ± {error}");
    }
}
