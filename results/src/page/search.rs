//! How the search went: convergence, outcomes, parameters, mutation operators, trials.

use std::collections::BTreeMap;

use tilewright_journal::{EvalError, TrialFinished};
use tilewright_stats::Decision;

use super::Source;
use super::markup::{details, paragraph, table};
use crate::format::{count, number, percent, time};

/// Trials that a table on a page can hold; the export has all.
const MOST_TRIALS: usize = 100;
const MOST_FAILURES: usize = 200;

pub(super) fn section(source: &Source<'_>) -> String {
    let mut body = source.figure(
        "convergence-evaluations",
        "The incumbent moves when another candidate wins a race against it; that is no claim yet. Grey: every \
         trial measured whole, thinned evenly where there are many.",
    );
    body += &source.figure("convergence-time", "The same over time; time spent interrupted is left out.");
    body += &source.figure(
        "outcomes",
        "Illegal candidates and duplicates cost next to nothing; simulated ones were ranked and not run.",
    );
    body += &source.figure(
        "importance",
        "One-way analysis of variance over the timed trials, numbers with many values in eighths; ε² after \
         Kelley (1935). What only two parameters decide together is not seen, and a search that settles early \
         shows little of what it settled. “best” is the group with the lowest geometric mean, “worst” how much \
         slower the worst group was.",
    );
    body += &operators(source);
    body += &fastest(source);
    body += &failures(source);
    body
}

/// What became of the proposals of each mutation operator.
fn operators(source: &Source<'_>) -> String {
    let mut arms: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for TrialFinished { trial, judgement } in &source.campaign.trials {
        let counts =
            arms.entry(trial.provenance.operator.as_deref().unwrap_or("(random or given)")).or_default();
        counts[0] += 1;
        counts[1] += u64::from(trial.is_evaluation());
        counts[2] +=
            u64::from(judgement.as_ref().is_some_and(|judgement| judgement.verdict.kind == Decision::Faster));
    }
    if arms.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = arms
        .into_iter()
        .map(|(name, [proposed, timed, faster])| {
            let share = if timed == 0 { "–".to_owned() } else { percent(faster as f64 / timed as f64) };
            vec![name.to_owned(), count(proposed), count(timed), count(faster), share]
        })
        .collect();
    let head = ["operator", "proposed", "timed", "judged faster than the incumbent", "of those timed"];
    format!("<h3>Mutation operators</h3>{}", table(&head, &rows))
}

fn fastest(source: &Source<'_>) -> String {
    let campaign = source.campaign;
    let mut timed: Vec<_> = campaign.timed().collect();
    if timed.is_empty() {
        return paragraph("No candidate was timed.");
    }
    timed.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.index.cmp(&b.0.index)));
    let shown = timed.len().min(MOST_TRIALS);
    let rows: Vec<Vec<String>> = timed[..shown]
        .iter()
        .map(|(trial, median_ns)| {
            vec![
                trial.index.to_string(),
                number(campaign.gflops(*median_ns)),
                time(*median_ns),
                trial.provenance.operator.clone().unwrap_or_else(|| "–".to_owned()),
                format!("{:.1} s", trial.at_ns as f64 / 1e9),
                trial.candidate.schedule.to_string(),
            ]
        })
        .collect();
    let title = format!("The {} fastest of {} timed trials", count(shown as u64), count(timed.len() as u64));
    details(&title, &table(&["trial", "GFLOP/s", "median", "operator", "at", "schedule"], &rows))
}

fn failures(source: &Source<'_>) -> String {
    let telling = |error: &EvalError| !matches!(error, EvalError::Illegal(_) | EvalError::Duplicate { .. });
    let failed: Vec<_> = source
        .campaign
        .trials
        .iter()
        .filter_map(|finished| Some((&finished.trial, finished.trial.outcome.as_ref().err()?)))
        .filter(|(_, error)| telling(error))
        .collect();
    if failed.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = failed
        .iter()
        .take(MOST_FAILURES)
        .map(|(trial, error)| {
            vec![trial.index.to_string(), error.to_string(), trial.candidate.schedule.to_string()]
        })
        .collect();
    let title = if failed.len() > MOST_FAILURES {
        format!("The first {MOST_FAILURES} of {} candidates that failed when run", count(failed.len() as u64))
    } else {
        format!("All {} candidates that failed when run", count(failed.len() as u64))
    };
    details(&title, &table(&["trial", "what happened", "schedule"], &rows))
}
