//! Canaries: now and then the incumbent enters the comparison as an anonymous challenger of itself.
//!
//! The runner cannot tell it from a candidate. How often it wins is held against the rate that the gates allow
//! for; once that is refuted, no gain of the campaign is claimed any more. Canaries take no number of a trial
//! and nothing learns from them, so that a campaign proposes the same with and without them.

use rand::RngExt;
use tilewright_evaluator::{BatchReport, Task};
use tilewright_journal::{ClaimBasis, Event, Fidelity, Judgement, SelfComparison, Withheld};
use tilewright_stats::e_process::RateBets;
use tilewright_stats::{ConfirmedClaim, Decision, Evidence, Judged, Level, Racing};

use super::error::{CampaignError, Sink};
use super::judge::gate;
use super::machine::Campaign;
use crate::streams;

/// One canary beside so many candidates: never fewer than 2 % of the comparisons from the 25th on.
pub(super) const EVERY: u64 = 25;

/// E-value against the rate allowed for at which claims stop.
const ALARM: f64 = 100.0;

/// What the comparisons of kernels with themselves have shown so far.
#[derive(Debug)]
pub(super) struct Canaries {
    /// In races, which few pairs may decide.
    races: RateBets,
    /// At the level of claims.
    claims: RateBets,
}

impl Default for Canaries {
    fn default() -> Self {
        let races = Level::new(Racing::MOST_WRONG).expect("invariant: a rate between 0 and 1");
        Self { races: RateBets::new(races), claims: RateBets::new(ConfirmedClaim::DEFAULT.level()) }
    }
}

impl Canaries {
    /// Takes note of a recorded or a new comparison.
    pub(super) fn note(&mut self, comparison: &SelfComparison) {
        let verdict = &comparison.judgement.verdict;
        let of_claims = verdict.gate == tilewright_stats::Gate::id(&ConfirmedClaim::DEFAULT.sequential());
        let bets = if of_claims { &mut self.claims } else { &mut self.races };
        bets.observe(verdict.kind == Decision::Faster);
    }

    /// Why nothing is claimed any more, if so.
    pub(super) fn alarm(&self) -> Option<Withheld> {
        let highest = if self.claims.highest() > self.races.highest() { &self.claims } else { &self.races };
        (highest.highest() >= ALARM).then(|| Withheld::Canaries {
            comparisons: highest.trials(),
            false_wins: highest.successes(),
            e_value: highest.highest(),
        })
    }
}

impl Campaign {
    /// The tasks with canaries among them, and where those are; `first` is how many candidates were handed to
    /// the runner before.
    pub(super) fn with_canaries(
        &self,
        incumbent: Option<&Task>,
        tasks: &[Task],
        first: u64,
    ) -> (Vec<Task>, Vec<usize>) {
        let (mut mixed, mut places) = (Vec::with_capacity(tasks.len() + 1), Vec::new());
        for (run, task) in (first..).zip(tasks) {
            if let Some(incumbent) = incumbent.filter(|_| self.parts.fidelity == Fidelity::Measured) {
                let mut rng = streams::of_canary(self.settings.seed, run / EVERY);
                // The very first candidate has nothing to be compared with.
                let due = rng.random_range(u64::from(run < EVERY)..EVERY);
                if run % EVERY == due {
                    places.push(mixed.len());
                    mixed.push(Task { seed: rng.random(), ..incumbent.clone() });
                }
            }
            mixed.push(task.clone());
        }
        (mixed, places)
    }

    /// Takes the canaries out of a report and records them; their time counts as the runner's own.
    pub(super) fn take_canaries(
        &mut self,
        mut report: BatchReport,
        places: &[usize],
        sink: &mut dyn Sink,
    ) -> Result<BatchReport, CampaignError> {
        let answered = report.evaluations.len();
        for &place in places.iter().rev().filter(|&&place| place < answered) {
            let canary = report.evaluations.remove(place);
            report.overhead_ns += canary.elapsed_ns;
            if canary.outcome.is_ok() {
                let judged = Judged::by(gate(&canary.evidence), canary.evidence, ());
                self.self_comparison(&judged, sink)?;
            }
        }
        Ok(report)
    }

    /// Takes note of what a claim's own comparison of the default with itself has shown.
    pub(super) fn note_basis(
        &mut self,
        gate: &ConfirmedClaim,
        basis: &ClaimBasis,
        sink: &mut dyn Sink,
    ) -> Result<(), CampaignError> {
        let evidence = Evidence::from(basis.self_comparison.clone());
        self.self_comparison(&Judged::by(&gate.sequential(), evidence, ()), sink)
    }

    fn self_comparison(&mut self, judged: &Judged<()>, sink: &mut dyn Sink) -> Result<(), CampaignError> {
        let comparison = SelfComparison {
            trial: self.incumbent().map_or(0, |champion| champion.trial),
            evidence: judged.evidence().clone(),
            judgement: Judgement::of(judged),
            at_ns: self.clock_ns,
        };
        self.canaries.note(&comparison);
        sink.record(&Event::SelfComparison(Box::new(comparison))).map_err(CampaignError::Sink)
    }
}
