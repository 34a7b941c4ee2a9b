//! No numbers, however odd, make a gate panic or decide on what cannot be decided.

use proptest::prelude::*;
use tilewright_stats::{Decision, Evidence, Gate, Judged, PairedTimes, Reason, Stored, gates};

fn any_evidence() -> impl Strategy<Value = Evidence> {
    let time = || {
        prop_oneof![
            4 => 1.0..1e9f64,
            2 => (1..5u8).prop_map(f64::from),
            1 => any::<f64>(),
            1 => prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(5e-324), Just(f64::MAX)],
        ]
    };
    let times = move || prop::collection::vec(time(), 0..40);
    let good = || prop::collection::vec(1.0..1e9f64, 1..40);
    prop_oneof![
        (times(), times()).prop_map(|(incumbent, candidate)| Evidence::Pairs { incumbent, candidate }),
        good().prop_map(|incumbent| {
            let candidate = incumbent.iter().rev().copied().collect();
            Evidence::Pairs { incumbent, candidate }
        }),
        (times(), times()).prop_map(|(incumbent, candidate)| Evidence::Samples { incumbent, candidate }),
        (good(), good()).prop_map(|(incumbent, candidate)| Evidence::Samples { incumbent, candidate }),
        (time(), time()).prop_map(|(incumbent, candidate)| Evidence::Exact { incumbent, candidate }),
        (times(), times(), good()).prop_map(|(incumbent, candidate, fresh)| Evidence::Claim {
            sequential: PairedTimes { incumbent, candidate },
            confirmation: PairedTimes { candidate: fresh.iter().rev().copied().collect(), incumbent: fresh },
        }),
    ]
}

fn times(evidence: &Evidence) -> Vec<f64> {
    match evidence {
        Evidence::Pairs { incumbent, candidate } | Evidence::Samples { incumbent, candidate } => {
            incumbent.iter().chain(candidate).copied().collect()
        }
        Evidence::Claim { sequential, confirmation } => [sequential, confirmation]
            .into_iter()
            .flat_map(|times| times.incumbent.iter().chain(&times.candidate))
            .copied()
            .collect(),
        &Evidence::Exact { incumbent, candidate } => vec![incumbent, candidate],
        Evidence::Failure { .. } => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    // U030
    #[test]
    fn any_numbers_get_a_verdict_that_fits_itself(evidence in any_evidence()) {
        for gate in gates() {
            let verdict = gate.judge(&evidence);
            let impossible = times(&evidence).iter().any(|time| !time.is_finite() || *time <= 0.0);
            prop_assert!(!impossible || verdict.kind == Decision::Inconclusive);
            prop_assert_eq!(verdict.reason == Reason::Met, verdict.kind != Decision::Inconclusive);
            if let (Some(low), Some(ratio), Some(high)) = (verdict.low, verdict.ratio, verdict.high) {
                prop_assert!(low <= ratio * (1.0 + 1e-9) && ratio <= high * (1.0 + 1e-9), "{:?}", verdict);
            }
            prop_assert!(verdict.kind != Decision::Faster || verdict.ratio.is_none_or(|ratio| ratio < 1.0));
            prop_assert!(verdict.kind != Decision::Slower || verdict.ratio.is_none_or(|ratio| ratio > 1.0));
        }
    }

    #[test]
    fn what_was_judged_reads_back_from_a_file_as_it_was(evidence in any_evidence()) {
        // A file cannot hold what is not a number.
        let storable = times(&evidence).iter().all(|time| time.is_finite());
        for gate in gates().iter().filter(|_| storable) {
            let judged = Judged::by(*gate, evidence.clone(), 7_u32);
            let text = serde_json::to_string(&judged).unwrap();
            let stored: Stored<u32> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&stored.verdict, judged.verdict());
            prop_assert_eq!(Judged::reread(stored).unwrap(), judged);
        }
    }
}

/// Asserts that no gate decides on `evidence`.
fn undecided(evidence: &Evidence) {
    for gate in gates() {
        assert_eq!(gate.judge(evidence).kind, Decision::Inconclusive, "{}: {evidence:?}", gate.id());
    }
}

#[test]
fn one_sample_a_side_decides_nothing() {
    undecided(&Evidence::Pairs { incumbent: vec![9.0], candidate: vec![1.0] });
    undecided(&Evidence::Samples { incumbent: vec![9.0], candidate: vec![1.0] });
    let one = PairedTimes { incumbent: vec![9.0], candidate: vec![1.0] };
    undecided(&Evidence::Claim { sequential: one.clone(), confirmation: one });
}

// U025
#[test]
fn no_sample_decides_nothing() {
    undecided(&Evidence::Pairs { incumbent: vec![], candidate: vec![] });
    undecided(&Evidence::Samples { incumbent: vec![], candidate: vec![1.0] });
    undecided(&Evidence::Claim { sequential: PairedTimes::default(), confirmation: PairedTimes::default() });
}

#[test]
fn equal_times_decide_nothing_and_have_the_ratio_one() {
    for count in [1, 3, 31, 100] {
        let times = vec![5.0; count];
        for evidence in [
            Evidence::Pairs { incumbent: times.clone(), candidate: times.clone() },
            Evidence::Samples { incumbent: times.clone(), candidate: times.clone() },
            Evidence::Exact { incumbent: 5.0, candidate: 5.0 },
            Evidence::Claim {
                sequential: PairedTimes { incumbent: times.clone(), candidate: times.clone() },
                confirmation: PairedTimes { incumbent: times.clone(), candidate: times.clone() },
            },
        ] {
            undecided(&evidence);
            let suitable = |gate: &&&dyn Gate| !matches!(gate.judge(&evidence).reason, Reason::Unsuitable(_));
            for gate in gates().iter().filter(suitable) {
                assert_eq!(gate.judge(&evidence).ratio, Some(1.0), "{}", gate.id());
            }
        }
    }
}

#[test]
fn a_failure_counts_once_it_is_reproduced() {
    let failure = |reproduced| Evidence::Failure { kind: "timeout".to_owned(), reproduced };
    undecided(&failure(false));
    for gate in gates() {
        let verdict = gate.judge(&failure(true));
        assert_eq!((verdict.kind, verdict.ratio), (Decision::Failed, None));
        assert_eq!(verdict.reason, Reason::Reproduced("timeout".to_owned()));
        assert_eq!(verdict.gate, gate.id());
    }
}

#[test]
fn a_decision_never_contradicts_the_ratio() {
    // Few large gains against many small losses, and gains at first against losses later.
    let lopsided = |i: usize| if i % 5 < 2 { 50.0 } else { 100.1 };
    let turning = |i: usize| if i < 20 { 90.0 } else { 110.0 };
    let against =
        |candidate: Vec<f64>| Evidence::Pairs { incumbent: vec![100.0; candidate.len()], candidate };
    let evidence = against((0..60).map(lopsided).collect());
    undecided(&evidence);
    undecided(&against((0..60).map(turning).collect()));
    undecided(&evidence.swapped());
}
