use std::collections::BTreeMap;

use serde::Serialize;
use tilewright_ir::{CacheState, Schedule};
use tilewright_journal::{Measurement, Subject, Withheld};
use tilewright_stats::Decision;

use crate::roofline::{Bound, bound};
use crate::{Campaign, Placed, Placement, format};

/// Version of [`Summary`]'s form, raised when a name changes its meaning.
pub const SUMMARY_VERSION: u32 = 1;

/// The numbers that a campaign comes down to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// [`SUMMARY_VERSION`].
    pub version: u32,
    /// The kernel that the campaign proposes; `None` if nothing valid was found.
    pub winner: Option<KernelSummary>,
    /// The kernel of the default schedule, measured beside it.
    pub default: Option<KernelSummary>,
    /// Whether the winner was confirmed in a fresh process; else its numbers are those of the search.
    pub confirmed: bool,
    /// Default time over winner time, median of the confirmation's pairs: above 1 the winner is faster. 1 where
    /// nothing was judged faster, so that the winner is the default itself.
    pub speedup: Option<f64>,
    /// The winner beside the ceiling and the best known.
    pub placement: Option<Placement>,
    /// What the claim rests on; `None` where nothing was confirmed, or by a version that did not record it.
    pub claim: Option<ClaimSummary>,
    /// What the device can do.
    pub ceiling: CeilingSummary,
    /// Distinct programs verified and timed.
    pub evaluations: u64,
    /// Those for each second of the search.
    pub evaluations_per_second: f64,
    /// Median time of code generation, µs.
    pub codegen_median_us: Option<f64>,
    /// Trials of each outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Fingerprint of the device.
    pub device: String,
    /// Seed of the campaign.
    pub seed: u64,
}

/// One kernel in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelSummary {
    /// 10⁹ operations a second at the median.
    pub gflops: f64,
    /// Fraction of the binding ceiling.
    pub ceiling_fraction: f64,
    /// What binds: `compute`, or a memory level.
    pub bound: String,
    /// Median time of a launch, ns.
    pub median_ns: f64,
    /// Lower end of the median's 95 % interval, ns.
    pub low_ns: Option<f64>,
    /// Upper end of the median's 95 % interval, ns.
    pub high_ns: Option<f64>,
    /// 99 % quantile of single launches, ns.
    pub p99_ns: Option<f64>,
    /// Bytes of scratch memory.
    pub workspace_bytes: u64,
    /// Its schedule.
    pub schedule: Schedule,
    /// SHA-256 of its code.
    pub artifact_sha256: Option<String>,
}

/// What the comparison of winner and default rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClaimSummary {
    /// Whether a gain is claimed: found, confirmed, and not withheld.
    pub claimed: bool,
    /// Relative effect that it had to exceed.
    pub margin: f64,
    /// E-value that the sequential test reached.
    pub e_value: f64,
    /// E-value that it had to reach.
    pub threshold: f64,
    /// Pairs until then.
    pub pairs: u64,
    /// Lower end of the 95 % interval of winner time over default time, of the confirmation.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Whether the machine was too disturbed.
    pub tainted: bool,
    /// Why a gain that was found is not claimed.
    pub withheld: Option<Withheld>,
    /// Comparisons of a kernel with itself during the campaign.
    pub self_comparisons: u64,
    /// Those in which it was judged faster than itself.
    pub false_wins: u64,
}

/// What the device can do, as last measured in the campaign.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CeilingSummary {
    /// 10⁹ operations a second.
    pub gflops: f64,
    /// Read bandwidth of the level in which the operands lie, 10⁹ bytes a second.
    pub gbps: Option<f64>,
}

impl Summary {
    /// The numbers of `campaign`.
    pub fn of(campaign: &Campaign) -> Self {
        let bound = campaign.bound();
        let kernel = |schedule: &Schedule, measurement: &Measurement| KernelSummary {
            gflops: campaign.gflops(measurement.median_ns),
            ceiling_fraction: campaign.gflops(measurement.median_ns) / bound.gflops,
            bound: bound.name.clone(),
            median_ns: measurement.median_ns,
            low_ns: measurement.interval_ns.map(|interval| interval.low),
            high_ns: measurement.interval_ns.map(|interval| interval.high),
            p99_ns: measurement.p99_ns,
            workspace_bytes: measurement.workspace_bytes,
            schedule: schedule.clone(),
            artifact_sha256: measurement.artifact_sha256.clone(),
        };
        let of_trial = |index: u64| {
            let trial = campaign.evaluated().find(|trial| trial.index == index)?;
            Some(kernel(&trial.candidate.schedule, trial.outcome.as_ref().ok()?))
        };
        let (winner, default) = match &campaign.confirmation {
            Some(confirmation) => (
                Some(kernel(&confirmation.winner.schedule, &confirmation.winner.measurement)),
                Some(kernel(&confirmation.default.schedule, &confirmation.default.measurement)),
            ),
            // The first incumbent of a search is the default.
            None => (
                campaign.moves.last().and_then(|moved| of_trial(moved.trial)),
                campaign.moves.first().and_then(|moved| of_trial(moved.trial)),
            ),
        };
        let codegen: Vec<f64> = campaign
            .trials
            .iter()
            .filter_map(|finished| finished.trial.outcome.as_ref().ok())
            .filter(|measurement| measurement.codegen_ns > 0)
            .map(|measurement| measurement.codegen_ns as f64 / 1e3)
            .collect();
        let evaluations = campaign.evaluations();
        let default_kept =
            campaign.confirmation.as_ref().is_some_and(|found| found.winner.trial == found.default.trial);
        let ratio = campaign.confirmation.as_ref().and_then(|found| found.judgement.verdict.ratio);
        let placement = winner.as_ref().map(|winner| {
            Placement::of(&Placed {
                median_ns: winner.median_ns,
                gflops: winner.gflops,
                bound: &bound,
                best_known_ns: campaign.started.best_known_ns,
                confirmed: campaign.confirmation.is_some(),
            })
        });
        Self {
            version: SUMMARY_VERSION,
            placement,
            winner,
            default,
            confirmed: campaign.confirmation.is_some(),
            speedup: if default_kept { ratio.and(Some(1.0)) } else { ratio.map(f64::recip) },
            claim: campaign.claim(),
            ceiling: CeilingSummary {
                gflops: campaign.current_ceilings().gflops,
                gbps: bound.level.map(|level| level.gbps),
            },
            evaluations,
            evaluations_per_second: format::per_second(evaluations, campaign.search_ns()),
            codegen_median_us: tilewright_stats::samples::median(&codegen).ok(),
            outcomes: campaign.outcomes(),
            device: campaign.started.host.fingerprint.clone(),
            seed: campaign.started.request.seed,
        }
    }
}

impl Campaign {
    /// What bounds the campaign's workload.
    pub fn bound(&self) -> Bound {
        bound(&self.started.work, self.current_ceilings(), self.cache())
    }

    /// What the comparison of winner and default rests on.
    fn claim(&self) -> Option<ClaimSummary> {
        let confirmation = self.confirmation.as_ref()?;
        let basis = confirmation.claim.as_deref()?;
        let verdict = &confirmation.judgement.verdict;
        let wins = self.comparisons.iter().filter(|of| of.judgement.verdict.kind == Decision::Faster);
        Some(ClaimSummary {
            claimed: verdict.kind == Decision::Faster && confirmation.withheld.is_none(),
            margin: basis.margin,
            e_value: basis.e_value,
            threshold: basis.threshold,
            pairs: basis.pairs,
            low: verdict.low,
            high: verdict.high,
            tainted: basis.is_tainted(),
            withheld: confirmation.withheld.clone(),
            self_comparisons: self.comparisons.len() as u64,
            false_wins: wins.count() as u64,
        })
    }

    /// State of the caches before each launch.
    pub fn cache(&self) -> CacheState {
        match &self.started.subject {
            Subject::Workload(key) => key.cache,
            Subject::Recorded(_) => self.started.request.cache,
        }
    }
}
