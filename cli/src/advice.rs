//! Which heuristics advise on a campaign, and what came of it.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
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
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Outcome {
    /// What it was learned from.
    subject: String,
    /// Trials of points that it named.
    pub(crate) trials: u64,
    /// Those judged faster than the incumbent.
    pub(crate) faster: u64,
    /// Whether the winner, or the best so far, is one of them.
    pub(crate) winner: bool,
}

/// Heuristics that may advise, by digest.
pub(crate) struct Pool {
    heuristics: Vec<(Digest, Heuristic)>,
}

impl Pool {
    /// No heuristic at all.
    pub(crate) fn none() -> Self {
        Self { heuristics: Vec::new() }
    }

    /// All that a registry has in force; what cannot be read is named and left out.
    pub(crate) fn of(registry: &Registry) -> Result<Self> {
        let kept = registry.heuristics()?;
        Ok(Self { heuristics: readable(registry, kept.iter().map(|kept| kept.id.to_string())) })
    }

    /// Those of these digests.
    ///
    /// # Errors
    /// When the registry lacks one of them, or it is damaged.
    pub(crate) fn named(registry: &Registry, digests: &[String]) -> Result<Self> {
        let heuristics = digests.iter().map(|digest| read(registry, digest)).collect::<Result<_>>()?;
        Ok(Self { heuristics })
    }

    /// Their digests as text.
    pub(crate) fn digests(&self) -> impl Iterator<Item = String> {
        self.heuristics.iter().map(|(id, _)| id.to_string())
    }

    /// Lets those advise that were learned from what is most like the subject, and has the request name them.
    pub(crate) fn advise(&self, request: &mut CampaignRequest, subject: &Subject) -> Vec<Heuristic> {
        let near = self.heuristics.iter();
        let near =
            near.filter_map(|(id, heuristic)| Some((distance(&heuristic.subject, subject)?, id, heuristic)));
        let mut near: Vec<(f64, &Digest, &Heuristic)> = near.collect();
        near.sort_by(|first, second| first.0.total_cmp(&second.0).then(first.1.cmp(second.1)));
        near.truncate(MOST);
        if !near.is_empty() {
            let names: Vec<String> = near.iter().map(|(_, id, _)| id.to_string()).collect();
            request.settings.insert(SETTING.to_owned(), names.join(" "));
        }
        near.into_iter().map(|(_, _, heuristic)| heuristic.clone()).collect()
    }
}

fn read(registry: &Registry, digest: &str) -> Result<(Digest, Heuristic)> {
    let place = || format!("heuristic {digest} of {}", registry.folder().display());
    let id: Digest = digest.parse().with_context(place)?;
    let bytes = registry.heuristic(id).with_context(place)?;
    Ok((id, Heuristic::from_json(&bytes).with_context(place)?))
}

/// Those that can be read; the others are named.
fn readable(registry: &Registry, digests: impl Iterator<Item = String>) -> Vec<(Digest, Heuristic)> {
    let problem = |error| output::note(&format!("note: not used: {error:#}"));
    digests.filter_map(|digest| read(registry, &digest).map_err(problem).ok()).collect()
}

/// The heuristics of the registry that advise on a campaign: those its request names, or, where it has not begun,
/// those that are most like it; the request names them from then on.
pub(crate) fn choose(
    registry: &Registry,
    request: &mut CampaignRequest,
    key: &WorkloadKey,
    begun: bool,
) -> Result<Vec<Heuristic>> {
    if begun {
        let named = request.settings.get(SETTING).map_or("", String::as_str);
        let read = readable(registry, named.split_whitespace().map(str::to_owned));
        return Ok(read.into_iter().map(|(_, heuristic)| heuristic).collect());
    }
    Ok(Pool::of(registry)?.advise(request, &Subject::Workload(key.clone())))
}

/// How unlike two subjects are: sizes by the logarithm of their ratio, everything else that differs as a factor
/// of e. `None` for another operator or kernel, and for a recording and itself.
fn distance(there: &Subject, here: &Subject) -> Option<f64> {
    let differs = |differs: bool| f64::from(u8::from(differs));
    match (there, here) {
        (Subject::Workload(there), Subject::Workload(here)) => {
            let same = there.workload.operator().id() == here.workload.operator().id();
            let places = differs(there.threads != here.threads)
                + differs(there.target != here.target)
                + differs(there.cache != here.cache);
            same.then(|| places + parameters_apart(&there.workload, &here.workload))
        }
        (Subject::Recorded(there), Subject::Recorded(here)) => {
            let advises = there.space == here.space && !there.is_same_source(here);
            advises.then(|| differs(there.parameters != here.parameters))
        }
        _ => None,
    }
}

fn parameters_apart(first: &Workload, second: &Workload) -> f64 {
    let (first, second) = (first.parameters(), second.parameters());
    let alone = second.keys().filter(|&name| !first.contains_key(name)).count() as f64;
    let apart = first.iter().map(|(name, value)| {
        let Some(other) = second.get(name) else { return 1.0 };
        match (value.parse::<f64>(), other.parse::<f64>()) {
            (Ok(value), Ok(other)) if value > 0.0 && other > 0.0 => (value / other).ln().abs(),
            _ => f64::from(u8::from(value != other)),
        }
    });
    alone + apart.sum::<f64>()
}

/// What came of the advice, in the order of the heuristics.
pub(crate) fn outcomes(advice: &[Heuristic], campaign: &Campaign) -> Vec<Outcome> {
    advice.iter().map(|heuristic| Outcome::of(heuristic.subject.to_string(), campaign)).collect()
}

/// What came of all advice that was tried, by subject.
pub(crate) fn tried(campaign: &Campaign) -> Vec<Outcome> {
    let operators = campaign.trials.iter().filter_map(|it| it.trial.provenance.operator.as_deref());
    let subjects: BTreeSet<&str> = operators.filter_map(advice_of).collect();
    subjects.into_iter().map(|subject| Outcome::of(subject.to_owned(), campaign)).collect()
}

impl Outcome {
    fn of(subject: String, campaign: &Campaign) -> Self {
        let best = campaign.confirmation.as_ref().and_then(|confirmation| confirmation.winner.trial);
        let best = best.or_else(|| campaign.moves.last().map(|moved| moved.trial));
        let mut outcome = Self { trials: 0, faster: 0, winner: false, subject };
        for finished in &campaign.trials {
            let operator = finished.trial.provenance.operator.as_deref();
            if operator.and_then(advice_of) == Some(outcome.subject.as_str()) {
                outcome.trials += 1;
                let judgement = finished.judgement.as_ref();
                outcome.faster +=
                    u64::from(judgement.is_some_and(|judgement| judgement.verdict.kind == Decision::Faster));
                outcome.winner |= best == Some(finished.trial.index);
            }
        }
        outcome
    }

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

    // U172
    #[test]
    fn workloads_are_alike_by_ratios_of_sizes() {
        let apart = |first: &str, second: &str| {
            parameters_apart(&first.parse::<Workload>().unwrap(), &second.parse::<Workload>().unwrap())
        };
        let base = "matmul:m=64,n=64,k=64,dtype=f32";
        assert_eq!(apart(base, base), 0.0);
        assert!((apart(base, "matmul:m=128,n=64,k=32,dtype=f32") - 2.0 * 2_f64.ln()).abs() < 1e-12);
        assert!(apart(base, "matmul:m=64,n=64,k=64,dtype=f32,layout=nt") >= 1.0);
    }
}
