use std::sync::atomic::AtomicBool;

use tilewright_evaluator::Runner;
use tilewright_journal::{EndReason, Event, TrialFinished};

use super::*;
use crate::synthetic::{self, Landscape, SyntheticRunner, TimeOf};
use crate::{External, Ranked, Ranker, strategies, strategy};

fn settings(seed: u64, trials: u64) -> CampaignSettings {
    let budget = Budget { trials: Some(trials), time_ns: None, plateau: None };
    CampaignSettings { seed, budget, ..CampaignSettings::default() }
}

fn campaign(name: &str, settings: CampaignSettings, events: &[Event]) -> Campaign {
    let parts = synthetic::parts((strategy(name).unwrap().create)());
    Campaign::resume(settings, parts, events.iter().cloned())
}

struct Journal(Vec<Event>);

impl Sink for Journal {
    fn record(&mut self, event: &Event) -> Result<(), SinkError> {
        self.0.push(event.clone());
        Ok(())
    }
}

fn run_with(campaign: &mut Campaign, runner: &mut dyn Runner) -> (CampaignResult, Vec<Event>) {
    let mut journal = Journal(Vec::new());
    let result = campaign.run(runner, &mut journal, &AtomicBool::new(false)).unwrap();
    (result, journal.0)
}

fn run(name: &str, settings: CampaignSettings) -> (CampaignResult, Vec<Event>) {
    run_with(&mut campaign(name, settings, &[]), &mut SyntheticRunner::default())
}

fn trials(events: &[Event]) -> Vec<&TrialFinished> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::TrialFinished(trial) => Some(trial.as_ref()),
            _ => None,
        })
        .collect()
}

fn schedules(events: &[Event]) -> Vec<String> {
    trials(events).iter().map(|finished| finished.trial.candidate.schedule.to_string()).collect()
}

/// True time of what won.
fn winner_time(result: &CampaignResult, events: &[Event]) -> f64 {
    Landscape.time_of(&trials(events)[result.winner.unwrap() as usize].trial.candidate.schedule)
}

// U023, U075, U076, U122
#[test]
fn every_strategy_begins_with_the_default_finds_something_faster_and_ends_within_budget() {
    for entry in strategies() {
        let (result, events) = run(entry.id, settings(1, 300));
        assert_eq!((result.why.clone(), result.runs), (EndReason::Trials, 300), "{}", entry.id);
        let trials = trials(&events);
        assert_eq!(trials[0].trial.candidate.schedule, synthetic::default_schedule());
        assert_eq!(trials[0].trial.incumbent, None);
        for (at, finished) in trials.iter().enumerate() {
            assert_eq!(finished.trial.index, at as u64);
        }
        let gain = Landscape.time_of(&synthetic::default_schedule()) / winner_time(&result, &events);
        assert!(gain > 1.5, "{}: {gain}", entry.id);
        assert!(matches!(events.last(), Some(Event::CampaignEnded(ended)) if ended.winner == result.winner));
    }
}

#[test]
fn golden_search() {
    for entry in strategies() {
        let (_, events) = run(entry.id, settings(42, 60));
        insta::assert_snapshot!(format!("golden_{}", entry.id), schedules(&events).join("\n"));
    }
}

#[test]
fn evolution_beats_random_search_at_equal_budget() {
    let best = |name: &str, seed| {
        let (result, events) = run(name, settings(seed, 400));
        winner_time(&result, &events)
    };
    for name in ["evolution", "evolution-ucb", "evolution-uniform", "evolution-policy"] {
        let mean: f64 =
            (0..10).map(|seed| (best("random", seed) / best(name, seed)).ln()).sum::<f64>() / 10.0;
        println!("{name}: mean log-ratio {mean:.3}");
        assert!(mean > 0.05, "{name}: {mean}");
    }
}

// U066, U071
#[test]
fn a_campaign_killed_anywhere_and_resumed_ends_like_one_that_was_not() {
    for entry in strategies() {
        let (whole, events) = run(entry.id, settings(5, 120));
        for cut in [0, 1, 2, 7, 40, 41, 42, 43, 99, events.len() - 2, events.len() - 1, events.len()] {
            let mut resumed = campaign(entry.id, settings(5, 120), &events[..cut]);
            let (result, rest) = run_with(&mut resumed, &mut SyntheticRunner::default());
            assert_eq!(result, whole, "{} cut at {cut}", entry.id);
            // Confirmation and end are made anew; the rest continues where the record ends.
            let last = events.len() - 1;
            assert_eq!(rest, events[cut.min(last)..], "{} cut at {cut}", entry.id);
        }
    }
}

/// The events as the journal writes them, with any number of threads.
fn bytes_with(threads: usize, run: impl FnOnce() -> Vec<Event> + Send) -> Vec<u8> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| run().iter().flat_map(|event| serde_json::to_vec(event).unwrap()).collect())
}

// U043
#[test]
fn proposals_are_the_same_byte_for_byte_with_any_number_of_threads_killed_and_resumed() {
    for entry in strategies() {
        // A ranker that discriminates makes rounds of many proposals, which all threads work on.
        let ranked = |events: &[Event]| {
            let settings = CampaignSettings { ns_per_proposal: 5_000, ..settings(11, 60) };
            let mut parts = synthetic::parts((entry.create)());
            parts.ranker = Box::new(Oracle);
            Campaign::resume(settings, parts, events.iter().cloned())
        };
        let whole = || run_with(&mut ranked(&[]), &mut SyntheticRunner::default()).1;
        let one = bytes_with(1, whole);
        assert!(one.len() > 10_000);
        for threads in [2, 8] {
            assert!(bytes_with(threads, whole) == one, "{} with {threads} threads", entry.id);
        }
        let events = whole();
        for (threads, cut) in [(8, 5), (1, events.len() / 2), (2, events.len() * 4 / 5)] {
            let resumed = || {
                let rest = run_with(&mut ranked(&events[..cut]), &mut SyntheticRunner::default()).1;
                [events[..cut].to_vec(), rest].concat()
            };
            let resumed = bytes_with(threads, resumed);
            assert!(resumed == one, "{} killed after {cut}, resumed with {threads} threads", entry.id);
        }
    }
}

/// A campaign whose strategy is a program outside, which ends after so many answers.
fn outside(events: &[Event], answers: usize) -> Campaign {
    let recorded = events.iter().filter_map(|event| match event {
        Event::ProposerAnswered(answered) => Some(answered.clone()),
        _ => None,
    });
    let (output, input) = crate::strategy::proposer(answers);
    let strategy = External::continued(recorded.collect(), output, input);
    Campaign::resume(settings(5, 120), synthetic::parts(Box::new(strategy)), events.iter().cloned())
}

#[test]
fn a_campaign_of_a_program_outside_is_recorded_and_goes_on_after_any_end_of_the_program() {
    let (whole, events) = run_with(&mut outside(&[], usize::MAX), &mut SyntheticRunner::default());
    assert_eq!(whole.why, EndReason::Trials);
    assert!(events.iter().any(|event| matches!(event, Event::ProposerAnswered(_))));
    for cut in [0, 1, 2, 3, 17, 18, 19, 20, 60, events.len() - 2, events.len()] {
        let mut resumed = outside(&events[..cut], usize::MAX);
        let (result, rest) = run_with(&mut resumed, &mut SyntheticRunner::default());
        assert_eq!(result, whole, "cut at {cut}");
        assert_eq!(rest, events[cut.min(events.len() - 1)..], "cut at {cut}");
    }
    let (result, recorded) = run_with(&mut outside(&[], 9), &mut SyntheticRunner::default());
    assert!(matches!(&result.why, EndReason::Failed(why) if why.contains("ended")), "{:?}", result.why);
    assert!(result.winner.is_some() && result.runs > 16);
    let recorded: Vec<Event> =
        recorded.into_iter().filter(|event| !matches!(event, Event::CampaignEnded(_))).collect();
    assert_eq!(recorded, events[..recorded.len()]);
    let (result, rest) = run_with(&mut outside(&recorded, usize::MAX), &mut SyntheticRunner::default());
    assert_eq!((result, [recorded.clone(), rest].concat()), (whole, events));
    // A program that ends before it has heard what is recorded: nothing is written.
    let mut journal = Journal(Vec::new());
    let error = outside(&recorded, 1)
        .run(&mut SyntheticRunner::default(), &mut journal, &AtomicBool::new(false))
        .unwrap_err();
    assert!(matches!(error, CampaignError::Strategy(_)) && journal.0.is_empty(), "{error}");
}

// U167
#[test]
fn a_record_of_another_campaign_is_refused() {
    let (_, events) = run("random", settings(1, 40));
    let mut other = campaign("random", settings(2, 40), &events);
    let error = other
        .run(&mut SyntheticRunner::default(), &mut Journal(Vec::new()), &AtomicBool::new(false))
        .unwrap_err();
    assert!(matches!(error, CampaignError::Diverged { index: 1, .. }), "{error}");
}

// U068
#[test]
fn a_campaign_stopped_inside_a_batch_goes_on_from_there() {
    let (whole, events) = run("evolution", settings(9, 100));
    let mut first = campaign("evolution", settings(9, 100), &[]);
    let mut stopping = SyntheticRunner { stop_after: Some(37), ..SyntheticRunner::default() };
    let (result, recorded) = run_with(&mut first, &mut stopping);
    assert_eq!((result.why, result.runs), (EndReason::Interrupted, 37));
    assert!(result.winner.is_some());
    let mut second = campaign("evolution", settings(9, 100), &recorded);
    let (result, rest) = run_with(&mut second, &mut SyntheticRunner::default());
    assert_eq!(result, whole);
    let recorded: Vec<Event> =
        recorded.into_iter().filter(|event| !matches!(event, Event::CampaignEnded(_))).collect();
    assert_eq!([recorded, rest].concat(), events);
}

#[test]
fn a_larger_budget_begins_like_a_smaller_one() {
    let (_, small) = run("evolution", settings(3, 50));
    let (_, large) = run("evolution", settings(3, 90));
    let common = trials(&small).len();
    assert_eq!(schedules(&small), schedules(&large)[..common]);
}

// U038, U122
#[test]
fn time_is_what_trials_report() {
    let budget = Budget { trials: None, time_ns: Some(20_000_000), plateau: None };
    let settings = CampaignSettings { budget, seed: 1, ..CampaignSettings::default() };
    let mut runner = SyntheticRunner { overhead_ns: 500_000, ..SyntheticRunner::default() };
    let (result, events) = run_with(&mut campaign("random", settings, &[]), &mut runner);
    assert_eq!(result.why, EndReason::Time);
    let elapsed: u64 = trials(&events).iter().map(|finished| finished.trial.elapsed_ns).sum();
    assert!(result.at_ns >= 20_000_000 && result.at_ns > elapsed);
    assert_eq!((result.at_ns - elapsed) % 500_000, 0);
    let trials = trials(&events);
    assert!(trials.windows(2).all(|pair| pair[0].trial.at_ns <= pair[1].trial.at_ns));
    // No more than one batch past the limit.
    assert!(trials[trials.len() - 17].trial.at_ns < 20_000_000);
}

// U160
#[test]
fn a_stop_before_the_first_trial_ends_without_a_winner() {
    let mut journal = Journal(Vec::new());
    let mut campaign = campaign("random", settings(1, 10), &[]);
    let result = campaign.run(&mut SyntheticRunner::default(), &mut journal, &AtomicBool::new(true)).unwrap();
    assert_eq!((result.why, result.winner, result.runs), (EndReason::Interrupted, None, 0));
}

// U070
#[test]
fn a_full_disk_stops_the_campaign() {
    let mut left = 10;
    let mut sink = |_: &Event| -> Result<(), SinkError> {
        left -= 1;
        if left == 0 { Err("no space left".into()) } else { Ok(()) }
    };
    let error = campaign("random", settings(1, 100), &[])
        .run(&mut SyntheticRunner::default(), &mut sink, &AtomicBool::new(false))
        .unwrap_err();
    assert!(
        matches!(&error, CampaignError::Sink(_)) && error.to_string().contains("no space left"),
        "{error}"
    );
}

// U017, U018, U092
#[test]
fn a_default_that_fails_is_replaced_by_the_first_valid_candidate() {
    let mut runner =
        SyntheticRunner { fails: Some(synthetic::default_schedule()), ..SyntheticRunner::default() };
    let (result, events) = run_with(&mut campaign("evolution", settings(1, 60), &[]), &mut runner);
    assert!(result.winner.is_some_and(|winner| winner > 0));
    assert!(trials(&events)[0].trial.outcome.is_err());
}

// U076, U113
#[test]
fn a_small_space_is_exhausted() {
    for entry in strategies() {
        let mut parts = synthetic::parts((entry.create)());
        parts.space = synthetic::tiny_space();
        let mut campaign = Campaign::new(settings(1, 10_000), parts);
        let (result, events) = run_with(&mut campaign, &mut SyntheticRunner::default());
        assert_eq!(result.why, EndReason::Exhausted, "{}", entry.id);
        // Twelve points, and the default that lies outside.
        assert!((10..=13).contains(&result.runs), "{}: {}", entry.id, result.runs);
        let mut seen = schedules(&events);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), trials(&events).len(), "{}", entry.id);
    }
}

/// Knows the landscape.
struct Oracle;

impl Ranker for Oracle {
    fn rank(&mut self, candidates: &[Ranked<'_>]) -> Vec<Option<f64>> {
        candidates.iter().map(|ranked| Some(Landscape.time_of(&ranked.candidate.schedule))).collect()
    }
}

#[test]
fn a_ranker_that_knows_makes_random_search_faster_and_its_predictions_are_recorded() {
    let mut gain = 0.0;
    for seed in 0..5 {
        let settings = CampaignSettings { ns_per_proposal: 1_000, ..settings(seed, 60) };
        let mut parts = synthetic::parts((strategy("random").unwrap().create)());
        parts.ranker = Box::new(Oracle);
        let (ranked, events) = run_with(&mut Campaign::new(settings, parts), &mut SyntheticRunner::default());
        let (plain, plain_events) = run("random", settings);
        gain += (winner_time(&plain, &plain_events) / winner_time(&ranked, &events)).ln() / 5.0;
        let trials = trials(&events);
        let predicted = trials.iter().filter(|finished| finished.trial.provenance.predicted_ns.is_some());
        assert_eq!(predicted.count() as u64, ranked.runs - 1);
    }
    assert!(gain > 0.05, "{gain}");
}

fn confirmation(events: &[Event]) -> &tilewright_journal::Confirmation {
    let found = events.iter().find_map(|event| match event {
        Event::Confirmation(confirmation) => Some(confirmation.as_ref()),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn the_winner_is_confirmed_beside_the_default() {
    let mut runner = SyntheticRunner { confirms: true, ..SyntheticRunner::default() };
    let (result, events) = run_with(&mut campaign("evolution", settings(1, 100), &[]), &mut runner);
    let confirmed = confirmation(&events);
    assert_eq!(result.confirmation.as_ref(), Some(confirmed));
    assert_eq!((confirmed.winner.trial, confirmed.default.trial), (result.winner, Some(0)));
    assert!(result.winner > Some(0));
    assert_eq!(confirmed.judgement.verdict.kind, tilewright_stats::Decision::Faster);
}

#[test]
fn without_a_claim_the_default_wins() {
    let mut runner = SyntheticRunner { confirms: true, ..SyntheticRunner::default() };
    let (result, events) = run_with(&mut campaign("random", settings(1, 1), &[]), &mut runner);
    let confirmed = confirmation(&events);
    assert_eq!(result.winner, Some(0));
    assert_eq!(confirmed.winner, confirmed.default);
}

#[test]
fn a_winner_that_fails_when_confirmed_gives_way_to_the_incumbent_before() {
    let (whole, events) = run("evolution", settings(1, 100));
    let winner = &trials(&events)[whole.winner.unwrap() as usize].trial.candidate.schedule;
    let mut runner =
        SyntheticRunner { confirms: true, unconfirmed: vec![winner.clone()], ..SyntheticRunner::default() };
    let (result, events) = run_with(&mut campaign("evolution", settings(1, 100), &[]), &mut runner);
    let moves: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            Event::IncumbentMoved(moved) => Some(moved.trial),
            _ => None,
        })
        .collect();
    assert_eq!(whole.winner, moves.last().copied());
    assert_eq!(result.winner, Some(moves[moves.len() - 2]));
}
