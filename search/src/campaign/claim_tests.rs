//! Canaries among the candidates, and claims that are withheld.

use std::sync::atomic::AtomicBool;

use tilewright_journal::{Confirmation, Event, Fidelity, SelfComparison, Withheld};
use tilewright_stats::Decision;

use super::*;
use crate::strategy;
use crate::synthetic::{self, SyntheticRunner};

fn run(trials: u64, runner: SyntheticRunner, recorded: &[Event]) -> (CampaignResult, Vec<Event>) {
    let budget = Budget { trials: Some(trials), time_ns: None, plateau: None };
    let settings = CampaignSettings { seed: 3, budget, ..CampaignSettings::default() };
    let mut parts = synthetic::parts((strategy("evolution").unwrap().create)());
    parts.fidelity = if runner.measures { Fidelity::Measured } else { Fidelity::Replayed };
    let mut events = Vec::new();
    let mut sink = |event: &Event| -> Result<(), SinkError> {
        events.push(event.clone());
        Ok(())
    };
    let mut runner = runner;
    let result = Campaign::resume(settings, parts, recorded.iter().cloned())
        .run(&mut runner, &mut sink, &AtomicBool::new(false))
        .unwrap();
    (result, events)
}

fn measuring() -> SyntheticRunner {
    SyntheticRunner { measures: true, confirms: true, ..SyntheticRunner::default() }
}

fn canaries(events: &[Event]) -> Vec<&SelfComparison> {
    let found = events.iter().filter_map(|event| match event {
        Event::SelfComparison(comparison) => Some(comparison.as_ref()),
        _ => None,
    });
    found.filter(|comparison| comparison.judgement.verdict.gate == "racing").collect()
}

fn schedules(events: &[Event]) -> Vec<String> {
    let found = events.iter().filter_map(|event| match event {
        Event::TrialFinished(finished) => Some(finished.trial.candidate.schedule.to_string()),
        _ => None,
    });
    found.collect()
}

fn confirmation(events: &[Event]) -> &Confirmation {
    let found = events.iter().find_map(|event| match event {
        Event::Confirmation(confirmation) => Some(confirmation.as_ref()),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn two_percent_of_the_comparisons_and_more_are_canaries() {
    for trials in [25, 49, 50, 149, 400] {
        let (result, events) = run(trials, measuring(), &[]);
        let found = canaries(&events).len() as f64;
        assert!(found / result.runs as f64 >= 0.02, "{found} of {}", result.runs);
        assert!(found / result.runs as f64 <= 0.05, "{found} of {}", result.runs);
    }
}

#[test]
fn a_search_proposes_the_same_with_and_without_canaries() {
    let (_, with) = run(150, measuring(), &[]);
    let (_, without) = run(150, SyntheticRunner { confirms: true, ..SyntheticRunner::default() }, &[]);
    assert!(!canaries(&with).is_empty() && canaries(&without).is_empty());
    assert_eq!(schedules(&with), schedules(&without));
}

#[test]
fn a_resumed_campaign_has_the_same_canaries_and_remembers_those_before() {
    let (whole, events) = run(150, measuring(), &[]);
    for cut in [30, 77, events.len() - 3] {
        let (result, rest) = run(150, measuring(), &events[..cut]);
        assert_eq!(result.winner, whole.winner, "cut at {cut}");
        let again = [&events[..cut], &rest].concat();
        assert_eq!(schedules(&again), schedules(&events), "cut at {cut}");
        // One that was recorded before its batch was complete is made again.
        assert!((0..=1).contains(&(canaries(&again).len() - canaries(&events).len())), "cut at {cut}");
    }
}

#[test]
fn a_gain_is_claimed_where_nothing_speaks_against_it() {
    let (result, events) = run(150, measuring(), &[]);
    let found = confirmation(&events);
    assert_eq!((found.judgement.verdict.kind, &found.withheld), (Decision::Faster, &None));
    assert!(result.winner > Some(0) && found.judgement.verdict.gate == "confirmed_claim");
}

#[test]
fn claims_stop_when_kernels_beat_themselves() {
    for runner in [
        SyntheticRunner { favours: true, ..measuring() },
        SyntheticRunner { beats_itself: true, ..measuring() },
    ] {
        let (result, events) = run(150, runner, &[]);
        let found = confirmation(&events);
        assert_eq!(found.judgement.verdict.kind, Decision::Faster);
        let Some(Withheld::Canaries { e_value, false_wins, .. }) = &found.withheld else {
            panic!("{:?}", found.withheld)
        };
        assert!(*e_value >= 100.0 && *false_wins > 0);
        assert_eq!((result.winner, &found.winner), (Some(0), &found.default));
    }
}

#[test]
fn the_alarm_of_an_interrupted_campaign_stands_when_it_goes_on() {
    let favouring = || SyntheticRunner { favours: true, ..measuring() };
    let (_, events) = run(150, favouring(), &[]);
    let (_, rest) = run(150, measuring(), &events[..events.len() - 3]);
    assert!(matches!(confirmation(&rest).withheld, Some(Withheld::Canaries { .. })));
}

#[test]
fn what_a_disturbed_machine_shows_is_not_claimed() {
    let (result, events) = run(150, SyntheticRunner { disturbed: true, ..measuring() }, &[]);
    let found = confirmation(&events);
    assert_eq!((&found.withheld, result.winner), (&Some(Withheld::Tainted), Some(0)));
}
