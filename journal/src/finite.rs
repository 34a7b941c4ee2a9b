//! JSON writes NaN and infinity as `null`, which is read back as nothing or not at all; so no event may hold one.

use tilewright_stats::Evidence;

use crate::{Ceilings, Event, JournalError, Measurement, Verification};

/// Refuses an event with a number that would not be read back. (Wrong answers have a form of their own.)
pub(crate) fn check(event: &Event) -> Result<(), JournalError> {
    let wrong = match event {
        Event::CampaignStarted(started) => first_wrong([
            ("operations", all([started.work.operations])),
            ("ceilings", ceilings(&started.ceilings)),
            ("request", all(started.request.seconds)),
            ("space_points", all(started.space_points)),
            ("best_known_ns", all(started.best_known_ns)),
        ]),
        Event::TrialFinished(finished) => {
            let trial = &finished.trial;
            first_wrong([
                ("evidence", evidence(&trial.evidence)),
                ("measurement", trial.outcome.as_ref().is_err() || trial.outcome.iter().all(measurement)),
                ("predicted_ns", all(trial.provenance.predicted_ns)),
            ])
        }
        Event::IncumbentMoved(moved) => first_wrong([("median_ns", all([moved.median_ns]))]),
        Event::CeilingMeasured(measured) => first_wrong([("ceilings", ceilings(&measured.ceilings))]),
        Event::SelfComparison(comparison) => first_wrong([("evidence", evidence(&comparison.evidence))]),
        Event::Confirmation(confirmation) => first_wrong([
            ("evidence", evidence(&confirmation.evidence)),
            ("winner", measurement(&confirmation.winner.measurement)),
            ("default", measurement(&confirmation.default.measurement)),
            ("verification", verification(&confirmation.verification)),
            ("ceilings", ceilings(&confirmation.ceilings)),
        ]),
        Event::CampaignResumed(_)
        | Event::ProposerAnswered(_)
        | Event::LinesLost(_)
        | Event::CampaignEnded(_) => None,
    };
    match wrong {
        Some(part) => {
            Err(JournalError::Unwritable { problem: format!("`{part}` holds a number that is not finite") })
        }
        None => Ok(()),
    }
}

fn first_wrong<const N: usize>(parts: [(&'static str, bool); N]) -> Option<&'static str> {
    parts.into_iter().find(|(_, finite)| !finite).map(|(part, _)| part)
}

fn all(numbers: impl IntoIterator<Item = f64>) -> bool {
    numbers.into_iter().all(f64::is_finite)
}

fn evidence(evidence: &Evidence) -> bool {
    match evidence {
        Evidence::Pairs { incumbent, candidate } | Evidence::Samples { incumbent, candidate } => {
            all(incumbent.iter().chain(candidate).copied())
        }
        Evidence::Exact { incumbent, candidate } => all([*incumbent, *candidate]),
        Evidence::Failure { .. } => true,
    }
}

fn measurement(measurement: &Measurement) -> bool {
    let interval = measurement.interval_ns.iter().flat_map(|interval| [interval.low, interval.high]);
    all([measurement.median_ns].into_iter().chain(measurement.p99_ns).chain(interval))
        && measurement.verification.iter().all(verification)
}

fn verification(verification: &Verification) -> bool {
    all([verification.max_error, verification.tolerance, verification.miss_probability])
}

fn ceilings(ceilings: &Ceilings) -> bool {
    let bandwidths = ceilings.bandwidths.iter().map(|bandwidth| bandwidth.gbps);
    all([ceilings.gflops].into_iter().chain(ceilings.noise_floor).chain(bandwidths))
}
