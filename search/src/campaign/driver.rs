//! Running a campaign from beginning to end.

use std::sync::atomic::{AtomicBool, Ordering};

use tilewright_evaluator::{BatchReport, Runner, Task};
use tilewright_journal::{CeilingMeasured, Confirmation, EndReason, Event, IncumbentMoved};

use super::error::{CampaignError, Sink};
use super::machine::{Campaign, Champion, Phase, Step};

/// Incumbents that are compared with the last one at the end.
const FINALISTS: usize = 8;

/// How a campaign ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CampaignResult {
    /// Why.
    pub why: EndReason,
    /// Trial whose kernel won; `None` where nothing valid was found.
    pub winner: Option<u64>,
    /// The winner beside the default; `None` where nothing was measured.
    pub confirmation: Option<Confirmation>,
    /// Trials, those that were refused or tried before included.
    pub trials: u64,
    /// Candidates that were handed to the runner.
    pub runs: u64,
    /// Time as reported, ns.
    pub at_ns: u64,
}

impl Campaign {
    /// Runs until the budget is spent, nothing is left to try, or `stop` is set; then confirms the winner.
    ///
    /// # Errors
    /// When an event cannot be recorded, or recorded trials are not this campaign's.
    pub fn run(
        &mut self,
        runner: &mut dyn Runner,
        sink: &mut dyn Sink,
        stop: &AtomicBool,
    ) -> Result<CampaignResult, CampaignError> {
        let every = self.settings.ceiling_every_ns;
        let mut due = self.clock_ns.saturating_add(every);
        loop {
            if self.clock_ns >= due && self.recorded.is_empty() {
                due = self.clock_ns.saturating_add(every);
                if let Some(ceilings) = runner.measure_ceilings() {
                    let measured = CeilingMeasured { ceilings, at_ns: self.clock_ns };
                    self.emit(&Event::CeilingMeasured(measured), sink)?;
                }
            }
            match self.next(stop.load(Ordering::Relaxed), sink)? {
                Step::Evaluate { incumbent, batch } => {
                    let recorded = self.recorded.answers(self.next_index, &batch)?;
                    let rest = &batch[recorded.len()..];
                    let mut answers = recorded;
                    if !rest.is_empty() {
                        let handed = self.runs + answers.len() as u64;
                        let (tasks, canaries) = self.with_canaries(incumbent.as_ref(), rest, handed);
                        let report = runner.run(incumbent.as_ref(), &tasks);
                        let report = self.take_canaries(report, &canaries, sink)?;
                        answers.extend(self.timed(answers.last().map(|answer| answer.1), report));
                    }
                    self.take(answers, sink)?;
                }
                Step::Confirm { winner, default } => {
                    let interrupted = matches!(self.phase, Phase::Confirming(EndReason::Interrupted));
                    if !std::mem::replace(&mut self.rematched, true)
                        && !interrupted
                        && self.rematch(&winner, runner, sink)?
                    {
                        continue;
                    }
                    let report = runner.confirm(&winner, &default);
                    self.confirmed(report, sink)?;
                }
                Step::Done => {
                    return Ok(CampaignResult {
                        why: self.why.clone().unwrap_or(EndReason::Interrupted),
                        winner: self.winner,
                        confirmation: self.confirmation.clone(),
                        trials: self.next_index,
                        runs: self.runs,
                        at_ns: self.clock_ns,
                    });
                }
            }
        }
    }

    /// Has the latest incumbents compared once more; whether another one than the last is now the winner.
    ///
    /// Such a move goes back to an earlier trial, by which a resumed campaign knows that it was no part of the
    /// search.
    fn rematch(
        &mut self,
        winner: &Task,
        runner: &mut dyn Runner,
        sink: &mut dyn Sink,
    ) -> Result<bool, CampaignError> {
        let others = &self.champions[..self.champions.len().saturating_sub(1)];
        let finalists: Vec<Champion> = others.iter().rev().take(FINALISTS).cloned().collect();
        let tasks: Vec<Task> = finalists.iter().map(|finalist| finalist.task.clone()).collect();
        let ratios = runner.rematch(winner, &tasks);
        let best = ratios.iter().zip(finalists).filter_map(|(ratio, finalist)| Some(((*ratio)?, finalist)));
        let best = best.min_by(|(first, _), (second, _)| first.total_cmp(second));
        let Some((_, finalist)) = best.filter(|(ratio, _)| *ratio < 1.0) else { return Ok(false) };
        let moved = IncumbentMoved {
            trial: finalist.trial,
            previous: self.champions.last().map(|champion| champion.trial),
            median_ns: finalist.median_ns,
            program: finalist.task.program.as_ref().map_or_else(String::new, ToString::to_string),
            at_ns: self.clock_ns,
        };
        self.champions.push(finalist);
        self.emit(&Event::IncumbentMoved(moved), sink)?;
        Ok(true)
    }

    /// Evaluations with the time at which each was complete, after `since` or the present time.
    fn timed(
        &self,
        since: Option<u64>,
        report: BatchReport,
    ) -> impl Iterator<Item = (tilewright_evaluator::Evaluation, u64)> + use<> {
        let mut at = since.unwrap_or(self.clock_ns) + report.overhead_ns;
        report.evaluations.into_iter().map(move |evaluation| {
            at += evaluation.elapsed_ns;
            (evaluation, at)
        })
    }
}
