//! What becomes of answers: trials are judged in the order of proposal, the incumbent moves, all learn.

use tilewright_evaluator::{BatchReport, Evaluation};
use tilewright_journal::{Event, IncumbentMoved, Trial};
use tilewright_stats::{Decision, Judged};

use super::error::{CampaignError, Sink};
use super::judge::judge;
use super::machine::{Campaign, Champion, Pending};

impl Campaign {
    /// Takes the answers to the batch that [`Step::Evaluate`](super::Step) asked for, in its order. Fewer
    /// answers than candidates mean that the runner was told to stop: the search ends with them.
    ///
    /// # Errors
    /// When an event cannot be recorded, when there are more answers than candidates, or when recorded trials
    /// are not this campaign's.
    pub fn answer(&mut self, report: BatchReport, sink: &mut dyn Sink) -> Result<(), CampaignError> {
        self.clock_ns += report.overhead_ns;
        let mut at = self.clock_ns;
        let answers = report.evaluations.into_iter().map(|evaluation| {
            at += evaluation.elapsed_ns;
            (evaluation, at)
        });
        self.take(answers.collect(), sink)
    }

    /// Takes answers with the time at which each was complete.
    pub(super) fn take(
        &mut self,
        answers: Vec<(Evaluation, u64)>,
        sink: &mut dyn Sink,
    ) -> Result<(), CampaignError> {
        let pending = std::mem::take(&mut self.pending);
        if answers.len() > pending.len() {
            return Err(CampaignError::Answers { answers: answers.len(), tasks: pending.len() });
        }
        let complete = answers.len() == pending.len();
        let incumbent = self.incumbent().map(|champion| champion.trial);
        let mut judged = Vec::with_capacity(answers.len());
        let mut champions = Vec::with_capacity(answers.len());
        for (pending, (evaluation, at_ns)) in pending.into_iter().zip(answers) {
            let Pending { task, hash, provenance } = pending;
            self.clock_ns = at_ns;
            self.runs += 1;
            self.elapsed_ns += evaluation.elapsed_ns;
            let median_ns = evaluation.outcome.as_ref().map_or(f64::INFINITY, |outcome| outcome.median_ns);
            let (trial, judgement) = judge(Trial {
                index: self.next_index,
                candidate: task.candidate.clone(),
                program_hash: hash,
                outcome: evaluation.outcome,
                evidence: evaluation.evidence,
                incumbent,
                provenance,
                at_ns,
                elapsed_ns: evaluation.elapsed_ns,
            });
            champions.push(Champion { trial: self.next_index, task, median_ns });
            self.finish(&trial, Some(judgement), sink)?;
            judged.push(trial);
        }
        let best = best(&judged, incumbent.is_some()).map(|at| champions.swap_remove(at));
        if let Some(best) = best {
            let moved = IncumbentMoved {
                trial: best.trial,
                previous: incumbent,
                median_ns: best.median_ns,
                program: best.task.program.as_ref().map_or_else(String::new, ToString::to_string),
                at_ns: self.clock_ns,
            };
            self.progressed(best.median_ns);
            self.champions.push(best);
            // An interrupted batch is completed when the campaign is resumed; the move is recorded then.
            if complete {
                self.emit(&Event::IncumbentMoved(moved), sink)?;
            }
        }
        self.learn(&judged);
        if !complete {
            self.interrupt();
        }
        Ok(())
    }

    /// Takes note of a new incumbent's median where it is progress.
    fn progressed(&mut self, median_ns: f64) {
        let gain = self.settings.budget.plateau.map_or(0.0, |plateau| plateau.gain);
        if median_ns < self.progress.0 * (1.0 - gain) {
            self.progress = (median_ns, self.runs);
        }
    }
}

/// Position of the trial that becomes the incumbent. Beside one, the fastest of those judged faster, by the
/// upper end of the ratio's interval: the one that is surest to be an improvement. Without one, the valid
/// trial with the shortest median.
fn best(judged: &[Judged<Trial>], beside: bool) -> Option<usize> {
    let rank = |judged: &Judged<Trial>| {
        let measurement = judged.subject().outcome.as_ref().ok()?;
        let verdict = judged.verdict();
        if !beside {
            return Some((measurement.median_ns, 0.0));
        }
        let ratio = verdict.ratio.filter(|_| verdict.kind == Decision::Faster)?;
        Some((verdict.high.unwrap_or(ratio), ratio))
    };
    let ranked = judged.iter().enumerate().filter_map(|(at, judged)| rank(judged).map(|rank| (rank, at)));
    ranked
        .min_by(|(first, _), (second, _)| first.0.total_cmp(&second.0).then(first.1.total_cmp(&second.1)))
        .map(|(_, at)| at)
}
