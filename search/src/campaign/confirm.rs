//! The end of a campaign: the winner is measured beside the default once more.

use tilewright_evaluator::ConfirmationReport;
use tilewright_journal::{
    CampaignEnded, Confirmation, ConfirmedKernel, EndReason, EvalError, Event, Judgement, Withheld,
};
use tilewright_stats::{Decision, Judged};

use super::error::{CampaignError, Sink};
use super::machine::{Campaign, Phase, Step};

impl Campaign {
    /// Ends the search inside a batch: for want of budget, or because it was told to stop.
    pub(super) fn interrupt(&mut self) {
        self.phase = Phase::Confirming(self.limit(false).unwrap_or(EndReason::Interrupted));
    }

    /// What there is to confirm; `None` when nothing valid was found.
    pub(super) fn confirmation_step(&self) -> Option<Step> {
        let (winner, default) = (self.champions.last()?, self.champions.first()?);
        Some(Step::Confirm { winner: winner.task.clone(), default: default.task.clone() })
    }

    /// Takes the answer to [`Step::Confirm`]: a report; `None` where evaluations are not measurements; or
    /// how one of the two failed, upon which the incumbent before is the one to confirm.
    ///
    /// A winner that the claim gate does not judge faster than the default gives way to the default, and so does
    /// one whose claim must be withheld: for a disturbed machine, or since kernels were told from themselves too
    /// often.
    ///
    /// # Errors
    /// When an event cannot be recorded.
    pub fn confirmed(
        &mut self,
        report: Result<Option<ConfirmationReport>, EvalError>,
        sink: &mut dyn Sink,
    ) -> Result<(), CampaignError> {
        if let Ok(Some(report)) = &report {
            self.note_basis(&report.gate, &report.claim, sink)?;
        }
        let (Some(winner), Some(default)) = (self.champions.last(), self.champions.first()) else {
            return self.end(sink);
        };
        match report {
            Err(_) => {
                self.champions.pop();
                if self.champions.is_empty() { self.end(sink) } else { Ok(()) }
            }
            Ok(None) => {
                self.winner = Some(winner.trial);
                self.end(sink)
            }
            Ok(Some(report)) => {
                let judged = Judged::by(&report.gate, report.evidence.clone(), ());
                let found = judged.verdict().kind == Decision::Faster;
                let tainted = || report.claim.is_tainted().then_some(Withheld::Tainted);
                let withheld = if found { self.canaries.alarm().or_else(tainted) } else { None };
                let default_side = ConfirmedKernel {
                    trial: Some(default.trial),
                    schedule: default.task.candidate.schedule.clone(),
                    measurement: report.default.measurement,
                    listing: report.default.listing,
                };
                let winner_side = if found && withheld.is_none() {
                    ConfirmedKernel {
                        trial: Some(winner.trial),
                        schedule: winner.task.candidate.schedule.clone(),
                        measurement: report.winner.measurement,
                        listing: report.winner.listing,
                    }
                } else {
                    default_side.clone()
                };
                self.clock_ns += report.elapsed_ns;
                self.winner = winner_side.trial;
                let confirmation = Confirmation {
                    winner: winner_side,
                    default: default_side,
                    evidence: report.evidence,
                    judgement: Judgement::of(&judged),
                    claim: Some(Box::new(report.claim)),
                    withheld,
                    verification: report.verification,
                    ceilings: report.ceilings,
                    at_ns: self.clock_ns,
                };
                self.confirmation = Some(confirmation.clone());
                self.emit(&Event::Confirmation(Box::new(confirmation)), sink)?;
                self.end(sink)
            }
        }
    }

    /// Emits the last event.
    pub(super) fn end(&mut self, sink: &mut dyn Sink) -> Result<(), CampaignError> {
        let why = match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Confirming(why) => why,
            Phase::Searching | Phase::Done => EndReason::Interrupted,
        };
        self.why = Some(why.clone());
        let ended = CampaignEnded { why, winner: self.winner, at_ns: self.clock_ns };
        self.emit(&Event::CampaignEnded(ended), sink)
    }
}
