use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tilewright_evaluator::Task;
use tilewright_genome::SearchSpace;
use tilewright_ir::Schedule;
use tilewright_journal::{Candidate, Confirmation, EndReason, Event, Fidelity, Provenance, Subject};

use super::canaries::Canaries;
use super::error::{CampaignError, Sink};
use super::recorded::Recorded;
use super::settings::CampaignSettings;
use crate::prepare::{Prepare, Prepared};
use crate::ranker::Ranker;
use crate::strategy::Strategy;
use crate::streams;

/// What a campaign is made of.
pub struct CampaignParts {
    /// What is being made fast.
    pub subject: Subject,
    /// Where schedules come from.
    pub space: SearchSpace,
    /// The schedule to begin with, which the winner must beat.
    pub default: Schedule,
    /// What to try next.
    pub strategy: Box<dyn Strategy>,
    /// Which proposals to evaluate.
    pub ranker: Box<dyn Ranker>,
    /// From schedule to program.
    pub prepare: Box<dyn Prepare>,
    /// How the runner evaluates.
    pub fidelity: Fidelity,
}

/// What a campaign asks for next.
#[derive(Debug)]
pub enum Step {
    /// Evaluate these beside the incumbent and give the report to [`Campaign::answer`].
    Evaluate {
        /// The one to beat; `None` where nothing valid is known yet.
        incumbent: Option<Task>,
        /// What to evaluate.
        batch: Vec<Task>,
    },
    /// Measure the winner beside the default and give the report to [`Campaign::confirmed`].
    Confirm {
        /// The fastest by the search's own judgement.
        winner: Task,
        /// The default, or the first valid one where the default fails.
        default: Task,
    },
    /// The campaign is over.
    Done,
}

/// A candidate that was evaluated and is valid.
#[derive(Debug, Clone)]
pub(super) struct Champion {
    pub(super) trial: u64,
    pub(super) task: Task,
    pub(super) median_ns: f64,
}

/// A candidate handed to the runner.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) task: Task,
    pub(super) hash: Option<String>,
    pub(super) provenance: Provenance,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Phase {
    Searching,
    Confirming(EndReason),
    Done,
}

/// A search for the fastest schedule. See [`Campaign::run`] for the whole of it.
pub struct Campaign {
    pub(super) settings: CampaignSettings,
    pub(super) subject: Arc<Subject>,
    pub(super) parts: CampaignParts,
    pub(super) phase: Phase,
    pub(super) recorded: Recorded,
    /// Time since the start, as reported, ns.
    pub(super) clock_ns: u64,
    /// Number of the next trial.
    pub(super) next_index: u64,
    /// Candidates handed to the runner and answered.
    pub(super) runs: u64,
    /// Time of those, ns.
    pub(super) elapsed_ns: u64,
    /// Rounds of proposals.
    pub(super) rounds: u64,
    /// Rounds since one had a new candidate.
    pub(super) idle: u32,
    /// Trial of each program.
    pub(super) seen: BTreeMap<String, u64>,
    pub(super) pending: Vec<Pending>,
    /// Shortest median of an incumbent that counted as progress, ns, and the runs until then.
    pub(super) progress: (f64, u64),
    /// Incumbents so far, the present one last.
    pub(super) champions: Vec<Champion>,
    pub(super) started: bool,
    /// Points that the space names to begin with, so many of which were proposed.
    pub(super) starts_proposed: usize,
    /// Whether the finalists have been compared.
    pub(super) rematched: bool,
    pub(super) winner: Option<u64>,
    pub(super) why: Option<EndReason>,
    pub(super) confirmation: Option<Confirmation>,
    pub(super) canaries: Canaries,
}

impl fmt::Debug for Campaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Campaign")
            .field("subject", &self.subject)
            .field("strategy", &self.parts.strategy)
            .field("phase", &self.phase)
            .field("trials", &self.next_index)
            .finish_non_exhaustive()
    }
}

impl Campaign {
    /// A campaign that has not begun.
    pub fn new(settings: CampaignSettings, parts: CampaignParts) -> Self {
        Self::resume(settings, parts, [])
    }

    /// A campaign that begins anew with the recorded events of an interrupted one as answers: it proposes
    /// what the interrupted one proposed, emits only what is not recorded, and goes on from there.
    pub fn resume(
        settings: CampaignSettings,
        parts: CampaignParts,
        events: impl IntoIterator<Item = Event>,
    ) -> Self {
        let mut canaries = Canaries::default();
        let events = events.into_iter().inspect(|event| {
            if let Event::SelfComparison(comparison) = event {
                canaries.note(comparison);
            }
        });
        let recorded = Recorded::new(events);
        Self {
            settings,
            subject: Arc::new(parts.subject.clone()),
            parts,
            phase: Phase::Searching,
            recorded,
            clock_ns: 0,
            next_index: 0,
            runs: 0,
            elapsed_ns: 0,
            rounds: 0,
            idle: 0,
            seen: BTreeMap::new(),
            pending: Vec::new(),
            progress: (f64::INFINITY, 0),
            champions: Vec::new(),
            started: false,
            starts_proposed: 0,
            rematched: false,
            winner: None,
            why: None,
            confirmation: None,
            canaries,
        }
    }

    /// What to do next; `stop` ends the search after what is recorded. Asking again without an answer in
    /// between abandons the candidates that were handed out.
    ///
    /// # Errors
    /// When an event cannot be recorded, or recorded trials are not this campaign's.
    pub fn next(&mut self, stop: bool, sink: &mut dyn Sink) -> Result<Step, CampaignError> {
        self.pending.clear();
        loop {
            match &self.phase {
                Phase::Done => return Ok(Step::Done),
                Phase::Confirming(_) => match self.confirmation_step() {
                    Some(step) => return Ok(step),
                    None => self.end(sink)?,
                },
                Phase::Searching => {
                    if let Some(why) = self.limit(stop) {
                        if let (EndReason::Failed(failure), false) = (&why, self.recorded.is_empty()) {
                            return Err(CampaignError::Strategy(failure.clone()));
                        }
                        self.phase = Phase::Confirming(why);
                    } else if self.started {
                        self.propose(sink)?;
                    } else {
                        self.propose_default(sink)?;
                    }
                    if !self.pending.is_empty() {
                        let affordable = self.affordable(self.pending.len());
                        let batch =
                            self.pending[..affordable].iter().map(|pending| pending.task.clone()).collect();
                        let incumbent = self.incumbent().map(|champion| champion.task.clone());
                        return Ok(Step::Evaluate { incumbent, batch });
                    }
                }
            }
        }
    }

    /// Time since the campaign's start as reported so far, ns.
    pub fn clock_ns(&self) -> u64 {
        self.clock_ns
    }

    /// The present incumbent.
    pub(super) fn incumbent(&self) -> Option<&Champion> {
        self.champions.last()
    }

    /// Why the search ends now, if it does.
    pub(super) fn limit(&self, stop: bool) -> Option<EndReason> {
        let budget = self.settings.budget;
        if stop && self.recorded.is_empty() {
            Some(EndReason::Interrupted)
        } else if budget.trials.is_some_and(|trials| self.runs >= trials) {
            Some(EndReason::Trials)
        } else if budget.time_ns.is_some_and(|time| self.clock_ns >= time) {
            Some(EndReason::Time)
        } else if budget.plateau.is_some_and(|plateau| self.runs - self.progress.1 >= plateau.trials) {
            Some(EndReason::Plateau)
        } else if let Some(failure) = self.parts.strategy.failure() {
            Some(EndReason::Failed(failure))
        } else if self.idle >= self.settings.idle_rounds {
            Some(EndReason::Exhausted)
        } else {
            None
        }
    }

    fn propose_default(&mut self, sink: &mut dyn Sink) -> Result<(), CampaignError> {
        self.started = true;
        let schedule = self.parts.default.clone();
        match self.parts.prepare.prepare(&schedule) {
            Ok(prepared) => {
                let provenance = self.provenance("default", None, None);
                self.hand_out(schedule, prepared, provenance, None);
                Ok(())
            }
            Err(illegal) => self.refuse(schedule, &illegal, None, sink),
        }
    }

    /// Puts a candidate into the batch.
    pub(super) fn hand_out(
        &mut self,
        schedule: Schedule,
        prepared: Prepared,
        provenance: Provenance,
        predicted_ns: Option<f64>,
    ) {
        let stream = self.next_index + self.pending.len() as u64;
        self.seen.insert(prepared.hash.clone(), stream);
        let candidate = Candidate { subject: Arc::clone(&self.subject), schedule };
        let seed = streams::of_trial(self.settings.seed, stream);
        self.pending.push(Pending {
            task: Task { candidate, program: prepared.program, seed },
            hash: Some(prepared.hash),
            provenance: Provenance { stream, predicted_ns, ..provenance },
        });
    }
}
