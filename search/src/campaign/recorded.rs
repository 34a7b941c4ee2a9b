//! Trials of an interrupted campaign, as answers to the same questions.

use std::collections::VecDeque;

use tilewright_evaluator::{Evaluation, Task};
use tilewright_journal::{Event, TrialFinished};

use super::error::CampaignError;

/// Recorded events that the campaign is about to come across again, in order.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    events: VecDeque<Event>,
}

impl Recorded {
    /// Keeps what follows from seed and answers; confirmation and end are made anew.
    pub(super) fn new(events: impl IntoIterator<Item = Event>) -> Self {
        let follows = |event: &Event| match event {
            Event::TrialFinished(_) => true,
            // A move back to an earlier trial was made among the finalists, after the search.
            Event::IncumbentMoved(moved) => moved.previous.is_none_or(|previous| previous < moved.trial),
            _ => false,
        };
        Self { events: events.into_iter().filter(follows).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether `event` was recorded already; forgets it then.
    pub(super) fn contains(&mut self, event: &Event) -> Result<bool, CampaignError> {
        let Some(front) = self.events.front() else { return Ok(false) };
        let same = match (front, event) {
            (Event::TrialFinished(recorded), Event::TrialFinished(now)) => {
                check(recorded, now.trial.index, &now.trial.candidate.schedule)?;
                true
            }
            (Event::IncumbentMoved(recorded), Event::IncumbentMoved(now)) => recorded.trial == now.trial,
            // A campaign that was stopped inside a batch did not move the incumbent any more.
            (Event::TrialFinished(_), Event::IncumbentMoved(_)) => return Ok(false),
            _ => false,
        };
        if same {
            self.events.pop_front();
            return Ok(true);
        }
        let index = match front {
            Event::TrialFinished(recorded) => recorded.trial.index,
            Event::IncumbentMoved(recorded) => recorded.trial,
            _ => 0,
        };
        Err(CampaignError::Diverged { index, problem: "the incumbent moved elsewhere".to_owned() })
    }

    /// Recorded answers to the first of these tasks, which have the numbers from `index` on, each with the
    /// time since the campaign's start at its end.
    pub(super) fn answers(
        &self,
        index: u64,
        tasks: &[Task],
    ) -> Result<Vec<(Evaluation, u64)>, CampaignError> {
        let mut answers = Vec::new();
        for (event, (at, task)) in self.events.iter().zip(tasks.iter().enumerate()) {
            let Event::TrialFinished(recorded) = event else { break };
            check(recorded, index + at as u64, &task.candidate.schedule)?;
            let trial = &recorded.trial;
            let evaluation = Evaluation {
                outcome: trial.outcome.clone(),
                evidence: trial.evidence.clone(),
                elapsed_ns: trial.elapsed_ns,
            };
            answers.push((evaluation, trial.at_ns));
        }
        Ok(answers)
    }
}

fn check(
    recorded: &TrialFinished,
    index: u64,
    schedule: &tilewright_ir::Schedule,
) -> Result<(), CampaignError> {
    let found = &recorded.trial;
    let problem = if found.index != index {
        format!("trial {index} was expected")
    } else if found.candidate.schedule != *schedule {
        format!("it tried `{}`, this campaign tries `{schedule}`", found.candidate.schedule)
    } else {
        return Ok(());
    };
    Err(CampaignError::Diverged { index: found.index, problem })
}
