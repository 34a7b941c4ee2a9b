//! The progress line. It is drawn between batches only: while candidates are timed nothing else runs.

use std::collections::BTreeMap;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tilewright_journal::{CampaignStarted, Event, TrialFinished};

/// What the line says.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    operations: f64,
    ceiling_gflops: f64,
    seconds: Option<f64>,
    trials: Option<u64>,
    best_ns: Option<f64>,
    evaluations: u64,
    finished: u64,
    outcomes: BTreeMap<&'static str, u64>,
}

impl Progress {
    /// A line for this campaign.
    pub(crate) fn new(quiet: bool, started: &CampaignStarted) -> Self {
        let bar = (!quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{bar:24} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("━╸─"));
            bar
        });
        Self {
            bar,
            operations: started.work.operations,
            ceiling_gflops: started.ceilings.gflops,
            seconds: started.request.seconds,
            trials: started.request.trials,
            best_ns: None,
            evaluations: 0,
            finished: 0,
            outcomes: BTreeMap::new(),
        }
    }

    /// Takes note of an event, and redraws where that is allowed.
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::TrialFinished(finished) => self.trial(finished),
            Event::IncumbentMoved(moved) => self.best_ns = Some(moved.median_ns),
            Event::CeilingMeasured(measured) => {
                self.ceiling_gflops = self.ceiling_gflops.max(measured.ceilings.gflops);
            }
            _ => {}
        }
    }

    fn trial(&mut self, finished: &TrialFinished) {
        let trial = &finished.trial;
        self.finished += 1;
        self.evaluations += u64::from(trial.is_evaluation());
        *self.outcomes.entry(trial.outcome_kind()).or_default() += 1;
        let Some(bar) = &self.bar else { return };
        let elapsed = trial.at_ns as f64 / 1e9;
        let by_time = self.seconds.map(|seconds| elapsed / seconds);
        let by_trials = self.trials.map(|trials| self.evaluations as f64 / trials as f64);
        let share = by_time.into_iter().chain(by_trials).fold(0.0, f64::max).min(1.0);
        let best = self.best_ns.map_or("nothing valid yet".to_owned(), |best_ns| {
            let gflops = self.operations / best_ns;
            format!("{gflops:.1} GFLOP/s, {:.1} % of ceiling", 100.0 * gflops / self.ceiling_gflops)
        });
        let left = if share > 0.0 { elapsed * (1.0 - share) / share } else { 0.0 };
        let outcomes: Vec<String> =
            self.outcomes.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        bar.set_position((1000.0 * share) as u64);
        bar.set_message(format!(
            "{best} · {:.0}/s · {} · {left:.0} s left",
            self.evaluations as f64 / elapsed.max(1e-9),
            outcomes.join(", ")
        ));
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
