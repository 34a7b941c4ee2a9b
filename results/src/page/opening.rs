//! Title, the result in one sentence, and the numbers one looks for first.

use tilewright_journal::{EndReason, Subject};
use tilewright_stats::Decision;

use super::Source;
use crate::format::{count, escape, interval, number, percent, time, time_interval};
use crate::{Campaign, KernelSummary};

pub(super) fn section(source: &Source<'_>) -> String {
    let campaign = source.campaign;
    let started = &campaign.started;
    let (title, conditions) = match &started.subject {
        Subject::Workload(key) => {
            let text = key.workload.to_string();
            let (operator, parameters) = text.split_once(':').unwrap_or((&text, ""));
            let threads =
                if key.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", key.threads) };
            (
                format!("{operator} {}", parameters.replace(',', " ")),
                format!("{threads}, {} cache", key.cache),
            )
        }
        Subject::Recorded(space) => (space.space.clone(), format!("recorded on {}", space.device)),
    };
    format!(
        "<header><p class=\"brand\">Tilewright · campaign report</p><h1>{}</h1>\
         <p class=\"where\">{} · {} · {}</p></header>\n{}{}{}{}",
        escape(&title),
        escape(&started.host.processor),
        escape(&conditions),
        escape(&started.started),
        warnings(campaign),
        verdict(source),
        placement(source),
        cards(source),
    )
}

fn warnings(campaign: &Campaign) -> String {
    let mut warnings = String::new();
    if !campaign.damage.is_empty() {
        let lines: String = campaign
            .damage
            .iter()
            .map(|damage| format!("<li>{}</li>", escape(&damage.to_string())))
            .collect();
        let lost = campaign.damage.len();
        warnings += &format!(
            "<div class=\"note bad\"><strong>{lost} damaged line(s) in the journal.</strong> This page is made \
             from the others.<ul>{lines}</ul></div>\n"
        );
    }
    let why = match campaign.ended.as_ref().map(|ended| &ended.why) {
        None => "The campaign did not end by itself: it was killed, or still runs.".to_owned(),
        Some(EndReason::Interrupted) => "The campaign was interrupted by its user.".to_owned(),
        Some(EndReason::Failed(problem)) => format!("The campaign failed: {problem}"),
        Some(_) => return warnings,
    };
    warnings + &format!("<div class=\"note\">{}</div>\n", escape(&why))
}

fn verdict(source: &Source<'_>) -> String {
    let Some(confirmation) = &source.campaign.confirmation else {
        let text = if source.summary.winner.is_some() {
            "The best candidate of the search has not been confirmed in a fresh process; its numbers are those \
             of the search, which favour it."
        } else {
            "No valid kernel was found."
        };
        return format!("<p class=\"verdict open\">{text}</p>\n");
    };
    let verdict = &confirmation.judgement.verdict;
    let (class, text) = match (verdict.kind, verdict.ratio, verdict.low, verdict.high) {
        (Decision::Faster, Some(ratio), Some(low), Some(high)) => (
            "good",
            format!(
                "<strong>{}× the speed of the default schedule</strong> (95 % interval {}), judged by gate \
                 <code>{}</code> with a margin of {} on pairs measured in a fresh process on fresh data.",
                number(ratio.recip()),
                interval(high.recip(), low.recip()),
                escape(&verdict.gate),
                percent(verdict.margin),
            ),
        ),
        (Decision::Faster, ..) => ("good", "Judged faster than the default schedule.".to_owned()),
        _ => (
            "open",
            "Nothing was judged faster than the default schedule, so the default is the winner.".to_owned(),
        ),
    };
    format!("<p class=\"verdict {class}\">{text}</p>\n")
}

/// The winner beside the ceiling and the best known.
fn placement(source: &Source<'_>) -> String {
    let Some(placement) = &source.summary.placement else { return String::new() };
    if placement.replacement {
        return String::new();
    }
    let reasons: String =
        placement.reasons.iter().map(|reason| format!("<li>{}</li>", escape(reason))).collect();
    format!("<div class=\"note bad\"><strong>Not a replacement.</strong><ul>{reasons}</ul></div>\n")
}

fn cards(source: &Source<'_>) -> String {
    let summary = source.summary;
    let bound = source.campaign.bound();
    let mut cards = Vec::new();
    if let Some(winner) = &summary.winner {
        cards.push(card("winner", &number(winner.gflops), "GFLOP/s", "winner", &median(winner)));
        let of = format!("of {} GFLOP/s", number(bound.gflops));
        cards.push(card(
            "",
            &number(winner.ceiling_fraction * 100.0),
            "%",
            &format!("of the {} ceiling", bound.title()),
            &of,
        ));
    }
    if let Some((placement, best_ns)) =
        summary.placement.as_ref().and_then(|placement| Some((placement, placement.best_known_ns?)))
    {
        let ratio = number(placement.best_known_ratio.unwrap_or(1.0));
        cards.push(card("", &ratio, "×", "the best known time", &time(best_ns)));
    }
    if let Some(default) = &summary.default {
        let share = format!("{} of the ceiling", percent(default.ceiling_fraction));
        cards.push(card("default", &number(default.gflops), "GFLOP/s", "default schedule", &share));
    }
    let default = summary.default.as_ref();
    let default_kept =
        default.zip(summary.winner.as_ref()).is_some_and(|(first, second)| first.schedule == second.schedule);
    if let Some(speedup) = summary.speedup.filter(|_| !default_kept) {
        cards.push(card("", &number(speedup), "×", "against the default", "median of the pairs"));
    }
    let rate = format!("{} a second", number(summary.evaluations_per_second));
    cards.push(card("", &count(summary.evaluations), "", "programs verified and timed", &rate));
    if let Some(codegen) = summary.codegen_median_us {
        cards.push(card("", &number(codegen), "µs", "code generation", "median of a candidate"));
    }
    format!("<div class=\"cards\">{}</div>\n", cards.concat())
}

fn card(class: &str, value: &str, unit: &str, label: &str, note: &str) -> String {
    format!(
        "<div class=\"card {class}\"><div class=\"value\">{}<small>{}</small></div><div class=\"label\">{}</div>\
         <div class=\"detail\">{}</div></div>",
        escape(value),
        escape(unit),
        escape(label),
        escape(note),
    )
}

fn median(kernel: &KernelSummary) -> String {
    let median = time(kernel.median_ns);
    match (kernel.low_ns, kernel.high_ns) {
        (Some(low), Some(high)) => format!("{median} ({})", time_interval(low, high)),
        _ => median,
    }
}
