//! What a campaign writes down: trials that were evaluated, refused, or tried before.

use std::sync::Arc;

use tilewright_ir::{Illegal, Schedule};
use tilewright_journal::{Candidate, EvalError, Event, Judgement, Outcome, Provenance, Trial, TrialFinished};
use tilewright_stats::{Evidence, Judged};

use super::error::{CampaignError, Sink};
use super::judge::judge;
use super::machine::Campaign;
use crate::strategy::Proposal;

impl Campaign {
    pub(super) fn provenance(
        &self,
        strategy: &str,
        operator: Option<String>,
        parent: Option<u64>,
    ) -> Provenance {
        Provenance {
            strategy: strategy.to_owned(),
            operator,
            parent,
            fidelity: self.parts.fidelity,
            stream: 0,
            predicted_ns: None,
        }
    }

    /// Records a candidate that is illegal, and lets the strategy learn of it.
    pub(super) fn refuse(
        &mut self,
        schedule: Schedule,
        illegal: &Illegal,
        proposal: Option<&Proposal>,
        sink: &mut dyn Sink,
    ) -> Result<(), CampaignError> {
        let error = EvalError::Illegal(illegal.to_string());
        let evidence = Evidence::Failure { kind: error.kind().to_owned(), reproduced: true };
        let trial = self.unevaluated(schedule, None, error, evidence, proposal);
        let (judged, judgement) = judge(trial);
        self.finish(&judged, Some(judgement), sink)?;
        self.learn(&[judged]);
        Ok(())
    }

    /// Records a candidate whose program was tried before; there is nothing to judge.
    pub(super) fn duplicate(
        &mut self,
        schedule: Schedule,
        hash: String,
        of: u64,
        proposal: &Proposal,
        sink: &mut dyn Sink,
    ) -> Result<(), CampaignError> {
        let error = EvalError::Duplicate { of };
        let evidence = Evidence::Failure { kind: error.kind().to_owned(), reproduced: true };
        let trial = self.unevaluated(schedule, Some(hash), error, evidence, Some(proposal));
        self.next_index += 1;
        self.emit(&Event::TrialFinished(Box::new(TrialFinished { trial, judgement: None })), sink)
    }

    fn unevaluated(
        &self,
        schedule: Schedule,
        program_hash: Option<String>,
        error: EvalError,
        evidence: Evidence,
        proposal: Option<&Proposal>,
    ) -> Trial {
        let provenance = match proposal {
            Some(proposal) => {
                self.provenance(self.parts.strategy.id(), proposal.operator.clone(), proposal.parent)
            }
            None => self.provenance("default", None, None),
        };
        Trial {
            index: self.next_index,
            candidate: Candidate { subject: Arc::clone(&self.subject), schedule },
            program_hash,
            outcome: Outcome::Err(error),
            evidence,
            incumbent: None,
            provenance: Provenance { stream: self.next_index, ..provenance },
            at_ns: self.clock_ns,
            elapsed_ns: 0,
        }
    }

    /// Emits a judged trial and counts it.
    pub(super) fn finish(
        &mut self,
        judged: &Judged<Trial>,
        judgement: Option<Judgement>,
        sink: &mut dyn Sink,
    ) -> Result<(), CampaignError> {
        self.next_index += 1;
        let trial = judged.subject().clone();
        self.emit(&Event::TrialFinished(Box::new(TrialFinished { trial, judgement })), sink)
    }

    pub(super) fn learn(&mut self, judged: &[Judged<Trial>]) {
        self.parts.strategy.tell(&self.parts.space, judged);
        self.parts.ranker.learn(judged);
    }

    /// Emits an event unless it is recorded already.
    pub(super) fn emit(&mut self, event: &Event, sink: &mut dyn Sink) -> Result<(), CampaignError> {
        if self.recorded.contains(event)? {
            return Ok(());
        }
        sink.record(event).map_err(CampaignError::Sink)
    }
}
