//! Which heuristics advise on a campaign, and what came of it.

use anyhow::Result;
use serde::Serialize;
use tilewright_ir::{Workload, WorkloadKey};
use tilewright_journal::{CampaignRequest, Subject};
use tilewright_registry::{Digest, Registry};
use tilewright_results::Campaign;
use tilewright_search::{Heuristic, advice_of};
use tilewright_stats::Decision;

use crate::output;

/// Setting of a request that names the heuristics that advise, so that a campaign goes on with the same.
const SETTING: &str = "heuristics";
/// Most heuristics that advise: those of the workloads that are most alike.
const MOST: usize = 4;

/// What came of a heuristic's advice.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    /// What it was learned from.
    subject: String,
    /// Trials of points that it named.
    trials: u64,
    /// Those judged faster than the incumbent.
    faster: u64,
    /// Whether the winner is one of them.
    winner: bool,
}

/// The heuristics of the registry that advise on this campaign: those its request names, or, where it has not
/// begun, those of the same operator that are most alike; the request names them from then on.
pub(crate) fn choose(
    registry: &Registry,
    request: &mut CampaignRequest,
    key: &WorkloadKey,
    begun: bool,
) -> Result<Vec<Heuristic>> {
    if begun {
        let named = request.settings.get(SETTING).map_or("", String::as_str);
        return Ok(named.split_whitespace().filter_map(|id| named_again(registry, id)).collect());
    }
    let mut found: Vec<(f64, Digest, Heuristic)> = Vec::new();
    for kept in registry.heuristics()? {
        match registry.heuristic(kept.id).map(|bytes| Heuristic::from_json(&bytes)) {
            Ok(Ok(heuristic)) => {
                if let Some(distance) = distance(&heuristic.subject, key) {
                    found.push((distance, kept.id, heuristic));
                }
            }
            Ok(Err(problem)) => output::note(&format!("note: heuristic {} is not used: {problem}", kept.id)),
            Err(problem) => output::note(&format!("note: a heuristic is not used: {problem}")),
        }
    }
    found.sort_by(|first, second| first.0.total_cmp(&second.0).then(first.1.cmp(&second.1)));
    found.truncate(MOST);
    if !found.is_empty() {
        let ids: Vec<String> = found.iter().map(|(_, id, _)| id.to_string()).collect();
        request.settings.insert(SETTING.to_owned(), ids.join(" "));
    }
    Ok(found.into_iter().map(|(_, _, heuristic)| heuristic).collect())
}

fn named_again(registry: &Registry, id: &str) -> Option<Heuristic> {
    let read = id.parse::<Digest>().ok().and_then(|id| registry.heuristic(id).ok());
    let heuristic = read.and_then(|bytes| Heuristic::from_json(&bytes).ok());
    if heuristic.is_none() {
        output::note(&format!(
            "note: heuristic {id}, which this campaign began with, cannot be read in {}: it goes on without",
            registry.folder().display()
        ));
    }
    heuristic
}

/// How unlike two workloads of one operator are: sizes by the logarithm of their ratio, everything else that
/// differs as a factor of e. `None` for another operator, and for recordings.
fn distance(subject: &Subject, key: &WorkloadKey) -> Option<f64> {
    let Subject::Workload(there) = subject else { return None };
    let (here, there_workload) = (&key.workload, &there.workload);
    if here.operator().id() != there_workload.operator().id() {
        return None;
    }
    let differs = |differs: bool| f64::from(u8::from(differs));
    let places = differs(there.threads != key.threads)
        + differs(there.target != key.target)
        + differs(there.cache != key.cache);
    Some(places + sizes_apart(here, there_workload))
}

fn sizes_apart(first: &Workload, second: &Workload) -> f64 {
    let (first, second) = (first.to_string(), second.to_string());
    let mut others: Vec<&str> = second.split([',', ':']).collect();
    let mut apart = 0.0;
    for part in first.split([',', ':']) {
        let name = part.split('=').next();
        let at = others.iter().position(|other| other.split('=').next() == name);
        let Some(other) = at.map(|at| others.swap_remove(at)) else {
            apart += 1.0;
            continue;
        };
        let number = |text: &str| text.split('=').nth(1).and_then(|value| value.parse::<f64>().ok());
        apart += match (number(part), number(other)) {
            (Some(first), Some(second)) if first > 0.0 && second > 0.0 => (first / second).ln().abs(),
            _ => f64::from(u8::from(part != other)),
        };
    }
    apart + others.len() as f64
}

/// What came of the advice, in the order of the heuristics.
pub(crate) fn outcomes(advice: &[Heuristic], campaign: &Campaign) -> Vec<Outcome> {
    let winner = campaign.confirmation.as_ref().and_then(|confirmation| confirmation.winner.trial);
    let of = |heuristic: &Heuristic| {
        let subject = heuristic.subject.to_string();
        let mut outcome = Outcome { trials: 0, faster: 0, winner: false, subject };
        for finished in &campaign.trials {
            let operator = finished.trial.provenance.operator.as_deref();
            if operator.and_then(advice_of) == Some(outcome.subject.as_str()) {
                outcome.trials += 1;
                let judgement = finished.judgement.as_ref();
                outcome.faster +=
                    u64::from(judgement.is_some_and(|judgement| judgement.verdict.kind == Decision::Faster));
                outcome.winner |= winner == Some(finished.trial.index);
            }
        }
        outcome
    };
    advice.iter().map(of).collect()
}

impl Outcome {
    /// One line for people.
    pub(crate) fn text(&self) -> String {
        let Self { subject, trials, faster, winner } = self;
        let winner = if *winner { ", the winner among them" } else { "" };
        format!("{subject}: {trials} points tried, {faster} judged faster{winner}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_alike_by_ratios_of_sizes() {
        let apart = |first: &str, second: &str| {
            sizes_apart(&first.parse::<Workload>().unwrap(), &second.parse::<Workload>().unwrap())
        };
        let base = "matmul:m=64,n=64,k=64,dtype=f32";
        assert_eq!(apart(base, base), 0.0);
        assert!((apart(base, "matmul:m=128,n=64,k=32,dtype=f32") - 2.0 * 2_f64.ln()).abs() < 1e-12);
        assert!(apart(base, "matmul:m=64,n=64,k=64,dtype=f32,layout=nt") >= 1.0);
    }
}
