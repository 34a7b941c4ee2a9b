//! The confirmation, how the answer was checked, and how often the judging errs.

use tilewright_journal::{ClaimBasis, Confirmation, Withheld};
use tilewright_stats::{Decision, EvidenceKind, Level, interval};

use super::Source;
use super::markup::{details, facts, paragraph, table};
use crate::format::{count, number, percent, time, time_interval};

pub(super) fn section(source: &Source<'_>) -> String {
    let mut body = String::new();
    match &source.campaign.confirmation {
        Some(confirmation) => {
            body += &source.figure(
                "pairs",
                "Winner and default took turns, a random one first, so that a drifting clock meets both. Bands \
                 are distribution-free 95 % intervals of the medians.",
            );
            body += &source.figure(
                "ratios",
                "Each point is one pair. The interval of the median has to lie below the margin's line for the \
                 gain to be claimed.",
            );
            body += &confirmed(confirmation);
        }
        None => body += &paragraph("There was no confirmation."),
    }
    body += &self_comparisons(source);
    body += &source.figure(
        "roofline",
        "The rates that arithmetic and each memory level allow, measured in this campaign (Williams, Waterman & \
         Patterson 2009). Only compulsory traffic is counted; trials are spread a little to the sides.",
    );
    body
}

fn confirmed(confirmation: &Confirmation) -> String {
    let verdict = &confirmation.judgement.verdict;
    let kind = match confirmation.evidence.kind() {
        EvidenceKind::Pairs => "measured in pairs",
        EvidenceKind::Claim => "measured in pairs, and confirmed in a fresh process",
        EvidenceKind::Samples => "recorded samples",
        EvidenceKind::Exact => "simulated",
        EvidenceKind::Failure => "none",
    };
    let settings: Vec<String> =
        confirmation.judgement.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let row = |name: &str, kernel: &tilewright_journal::ConfirmedKernel| {
        let measured = &kernel.measurement;
        let interval =
            measured.interval_ns.map_or_else(|| "–".to_owned(), |found| time_interval(found.low, found.high));
        vec![
            name.to_owned(),
            time(measured.median_ns),
            interval,
            measured.p99_ns.map_or_else(|| "–".to_owned(), time),
            count(measured.launches),
            crate::format::bytes(measured.workspace_bytes),
            crate::format::bytes(measured.code_bytes),
        ]
    };
    let verification = &confirmation.verification;
    let head = ["", "median", "95 % interval", "p99 of launches", "launches", "workspace", "code"];
    let rows = [row("winner", &confirmation.winner), row("default", &confirmation.default)];
    let judged = facts(&[
        ("evidence", kind.to_owned()),
        ("gate", format!("{} ({})", verdict.gate, settings.join(", "))),
        ("decision", format!("{:?}", verdict.kind).to_lowercase()),
    ]);
    let drift = verification.drift.map_or_else(String::new, |drift| {
        format!(
            "{} of the norm of {} accepted; at most {} units in the last place",
            number(drift.relative_error),
            number(drift.limit),
            number(drift.max_ulps)
        )
    });
    let checked = facts(&[
        ("method", verification.method.clone()),
        ("inputs", verification.inputs.join(", ")),
        ("elements compared", count(verification.elements)),
        (
            "largest error",
            format!("{} of {} allowed", number(verification.max_error), number(verification.tolerance)),
        ),
        ("drift", drift),
        (
            "a wrong kernel passes with probability",
            format!("at most {}", number(verification.miss_probability)),
        ),
    ]);
    format!(
        "{}{}<div class=\"columns\"><div><h3>Judgement</h3>{judged}</div><div><h3>Verification on the fresh \
         data</h3>{checked}</div></div>{}",
        confirmation.withheld.as_ref().map_or_else(String::new, withheld),
        table(&head, &rows),
        confirmation.claim.as_deref().map_or_else(String::new, basis)
    )
}

fn withheld(why: &Withheld) -> String {
    paragraph(&format!("The gain that the gate found is not claimed: {why}."))
}

/// What a claim was made under.
fn basis(claim: &ClaimBasis) -> String {
    let spread = format!("{} a pair, {} pairs", percent(claim.spread), claim.self_comparison.incumbent.len());
    let made = facts(&[
        ("the default beside itself", spread),
        ("margin that follows", percent(claim.margin)),
        (
            "e-value",
            format!("{} of {} after {} pairs", number(claim.e_value), number(claim.threshold), claim.pairs),
        ),
        ("launches of a sample", format!("{} and {}", claim.launches[0], claim.launches[1])),
    ]);
    let rows =
        [("sequential", &claim.sequential), ("confirmation", &claim.confirmation)].map(|(name, seen)| {
            let share = |ns: Option<u64>| {
                ns.map_or_else(|| "–".to_owned(), |ns| percent(ns as f64 / seen.elapsed_ns.max(1) as f64))
            };
            let counted = |number: Option<u64>| number.map_or_else(|| "–".to_owned(), count);
            vec![
                name.to_owned(),
                count(seen.repeated),
                share(seen.steal_ns),
                share(seen.waited_ns),
                counted(seen.involuntary_switches),
                counted(seen.migrations),
                seen.drift.map_or_else(|| "–".to_owned(), |drift| percent(drift.ratio - 1.0)),
                if seen.tainted { "disturbed" } else { "quiet" }.to_owned(),
            ]
        });
    let head = ["", "pairs repeated", "stolen", "waited", "preempted", "migrated", "drift", "machine"];
    format!("<h3>Conditions of the claim</h3>{made}{}", table(&head, &rows))
}

fn self_comparisons(source: &Source<'_>) -> String {
    let comparisons = &source.campaign.comparisons;
    if comparisons.is_empty() {
        return String::new();
    }
    let decided = |decision: Decision| {
        comparisons.iter().filter(|comparison| comparison.judgement.verdict.kind == decision).count() as u64
    };
    let (faster, slower, total) =
        (decided(Decision::Faster), decided(Decision::Slower), comparisons.len() as u64);
    let range = interval::proportion_interval(faster + slower, total, Level::FIVE_PERCENT).map_or_else(
        |_| String::new(),
        |range| format!(" (95 % interval {} to {})", percent(range.low), percent(range.high)),
    );
    let rows: Vec<Vec<String>> = comparisons
        .iter()
        .map(|comparison| {
            let verdict = &comparison.judgement.verdict;
            vec![
                comparison.trial.to_string(),
                verdict.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.4}")),
                format!("{:?}", verdict.kind).to_lowercase(),
                verdict.gate.clone(),
            ]
        })
        .collect();
    let text = format!(
        "{} times during the search a kernel was measured against itself; anything decided there is an error. \
         {faster} were judged faster and {slower} slower{range}.",
        count(total)
    );
    format!(
        "<h3>A kernel against itself</h3>{}{}",
        paragraph(&text),
        details("every comparison", &table(&["trial", "ratio", "decision", "gate"], &rows))
    )
}
