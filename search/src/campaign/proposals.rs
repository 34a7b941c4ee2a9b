//! A round of proposals: what is new and legal, and which of it is evaluated.

use std::collections::BTreeSet;

use rand::{Rng, RngExt};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use tilewright_ir::Schedule;

use super::error::{CampaignError, Sink};
use super::machine::Campaign;
use crate::heuristics::advice_of;
use crate::prepare::Prepared;
use crate::ranker::Ranked;
use crate::strategy::Proposal;
use crate::streams;
use tilewright_journal::{Candidate, Event};

/// Origin of a point that the space names to begin with.
const START: &str = "start";

/// A proposal that could be evaluated.
struct Contender {
    proposal: Proposal,
    schedule: Schedule,
    prepared: Prepared,
    predicted_ns: Option<f64>,
}

impl Campaign {
    /// Asks the strategy, records what is illegal or known, and fills the batch with the best of the rest.
    pub(super) fn propose(&mut self, sink: &mut dyn Sink) -> Result<(), CampaignError> {
        let mut rng = streams::of_round(self.settings.seed, self.rounds);
        self.rounds += 1;
        let batch = self.batch_size();
        let starts = self.starts(batch);
        // What the space names to begin with is evaluated whatever a ranker thinks of it.
        if !starts.is_empty() {
            let count = starts.len();
            let contenders = self.contenders(starts, sink)?;
            self.hand_out_all(contenders, count, &mut rng);
            return Ok(());
        }
        let proposals =
            self.parts.strategy.ask(&self.parts.space, batch * self.proposals_per_trial(), &mut rng);
        for answered in self.parts.strategy.take_answers() {
            sink.record(&Event::ProposerAnswered(answered)).map_err(CampaignError::Sink)?;
        }
        let contenders = self.contenders(proposals, sink)?;
        self.idle = if contenders.is_empty() { self.idle + 1 } else { 0 };
        self.hand_out_all(contenders, batch, &mut rng);
        Ok(())
    }

    /// The next points that the space names to begin with.
    fn starts(&mut self, count: usize) -> Vec<Proposal> {
        let left = self.parts.space.starts().iter().skip(self.starts_proposed);
        let starts: Vec<Proposal> = left
            .take(count)
            .map(|genome| Proposal { genome: genome.clone(), operator: Some(START.to_owned()), parent: None })
            .collect();
        self.starts_proposed += starts.len();
        starts
    }

    /// Those that are legal and new; the others are recorded.
    fn contenders(
        &mut self,
        proposals: Vec<Proposal>,
        sink: &mut dyn Sink,
    ) -> Result<Vec<Contender>, CampaignError> {
        let mut contenders = Vec::with_capacity(proposals.len());
        let mut hashes = BTreeSet::new();
        // Nothing is being timed now, so all cores may work; the order of proposal is kept.
        let (space, prepare) = (&self.parts.space, &*self.parts.prepare);
        let ready: Vec<_> = proposals
            .into_par_iter()
            .map(|proposal| {
                let schedule = space.decode(&proposal.genome);
                let prepared = schedule.as_ref().ok().map(|schedule| prepare.prepare(schedule));
                (proposal, schedule, prepared)
            })
            .collect();
        for (proposal, schedule, prepared) in ready {
            let (schedule, prepared) = match (schedule, prepared) {
                (Ok(schedule), Some(prepared)) => (schedule, prepared),
                (Ok(_), None) => continue,
                (Err(illegal), _) => {
                    self.refuse(Schedule::default(), &illegal, Some(&proposal), sink)?;
                    continue;
                }
            };
            match prepared {
                Err(illegal) => self.refuse(schedule, &illegal, Some(&proposal), sink)?,
                Ok(prepared) => match self.seen.get(&prepared.hash) {
                    Some(&of) => self.duplicate(schedule, prepared.hash, of, &proposal, sink)?,
                    // Of proposals of one round with one program, the first stands for all.
                    None if !hashes.insert(prepared.hash.clone()) => {}
                    None => contenders.push(Contender { proposal, schedule, prepared, predicted_ns: None }),
                },
            }
        }
        self.predict(&mut contenders);
        Ok(contenders)
    }

    /// Puts the best of the contenders into the batch.
    fn hand_out_all(&mut self, contenders: Vec<Contender>, count: usize, rng: &mut dyn Rng) {
        let strategy = self.parts.strategy.id();
        for contender in select(contenders, count, self.settings.random_every, rng) {
            let Contender { proposal, schedule, prepared, predicted_ns } = contender;
            let provenance = self.provenance(strategy, proposal.operator, proposal.parent);
            self.hand_out(schedule, prepared, provenance, predicted_ns);
        }
    }

    fn predict(&mut self, contenders: &mut [Contender]) {
        let candidates: Vec<Candidate> = contenders
            .iter()
            .map(|contender| Candidate {
                subject: self.subject.clone(),
                schedule: contender.schedule.clone(),
            })
            .collect();
        let ranked: Vec<Ranked<'_>> = candidates
            .iter()
            .zip(contenders.iter())
            .map(|(candidate, contender)| Ranked {
                candidate,
                program: contender.prepared.program.as_deref(),
            })
            .collect();
        let predictions = self.parts.ranker.rank(&ranked);
        for (contender, predicted) in contenders.iter_mut().zip(predictions) {
            contender.predicted_ns = predicted.filter(|time| !time.is_nan());
        }
    }

    /// Mean time of an evaluation so far, ns; `None` before the first.
    fn mean_ns(&self) -> Option<u64> {
        self.elapsed_ns.checked_div(self.runs).filter(|&mean| mean > 0)
    }

    /// Candidates of a batch; depends on reported times alone.
    fn batch_size(&self) -> usize {
        let fits = self.mean_ns().map_or(1, |mean| self.settings.batch_ns / mean);
        (fits as usize).clamp(1, self.settings.largest_batch.max(1))
    }

    fn proposals_per_trial(&self) -> usize {
        if !self.parts.ranker.discriminates() {
            return 1;
        }
        let pays = self.mean_ns().map_or(1, |mean| mean / self.settings.ns_per_proposal.max(1));
        pays.clamp(1, self.settings.proposals_per_trial.max(1)) as usize
    }

    /// How much of a batch the budget still allows. What is left out is at its end, and the batch stays open:
    /// a larger budget would have begun the same way, and goes on with the rest of it.
    pub(super) fn affordable(&self, batch: usize) -> usize {
        let trials = self.settings.budget.trials.map_or(u64::MAX, |trials| trials.saturating_sub(self.runs));
        batch.min(usize::try_from(trials).unwrap_or(usize::MAX))
    }
}

/// `count` contenders, those with the shortest predicted time first; every `random_every`-th is drawn among
/// the others instead, so that a ranker's mistakes show. Without predictions the order stays.
fn select(
    mut contenders: Vec<Contender>,
    count: usize,
    random_every: usize,
    rng: &mut dyn Rng,
) -> Vec<Contender> {
    if contenders.iter().all(|contender| contender.predicted_ns.is_none()) {
        contenders.truncate(count);
        return contenders;
    }
    // Advice was measured elsewhere, and earns its weight by being measured: it keeps its share of the batch
    // whatever a ranker thinks of it.
    let total = contenders.len();
    let (mut selected, mut contenders): (Vec<_>, Vec<_>) = contenders
        .into_iter()
        .partition(|contender| contender.proposal.operator.as_deref().and_then(advice_of).is_some());
    selected.truncate((count * selected.len()).div_ceil(total.max(1)).min(count));
    let time = |contender: &Contender| contender.predicted_ns.unwrap_or(f64::INFINITY);
    contenders.sort_by(|first, second| time(first).total_cmp(&time(second)));
    while selected.len() < count && !contenders.is_empty() {
        let random = random_every > 0 && (selected.len() + 1).is_multiple_of(random_every);
        let at = if random { rng.random_range(0..contenders.len()) } else { 0 };
        selected.push(contenders.remove(at));
    }
    selected
}
