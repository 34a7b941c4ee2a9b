//! The one line that says how far a matrix is. It is drawn when something happened, never by a timer: between the
//! batches of a cell that is timed nothing else runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tilewright_journal::{Cell, Event};

/// The line; shared by cells that run at the same time.
pub(super) struct Display {
    bar: Option<ProgressBar>,
    candidates: Mutex<u64>,
}

impl Display {
    /// A line for so many cells, of which so many ended earlier.
    pub(super) fn new(quiet: bool, cells: usize, ended: usize) -> Self {
        let bar = (!quiet).then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(10);
            let bar = ProgressBar::with_draw_target(Some(cells as u64), target);
            let style = ProgressStyle::with_template("{bar:24} {pos} of {len} cells · {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("━╸─"));
            bar.set_position(ended as u64);
            bar.reset_eta();
            bar
        });
        Self { bar, candidates: Mutex::new(0) }
    }

    /// What a cell's events are shown to.
    pub(super) fn of<'a>(&'a self, cell: &'a Cell<'_>) -> impl FnMut(&Event) + 'a {
        let mut best_ns = None;
        move |event| {
            match event {
                Event::IncumbentMoved(moved) => best_ns = Some(moved.median_ns),
                Event::TrialFinished(_) => *self.count() += 1,
                _ => return,
            }
            let Some(bar) = &self.bar else { return };
            let best = best_ns.map_or("nothing valid yet".to_owned(), |ns| format!("{:.2} µs", ns / 1e3));
            let (problem, strategy, seed) = (cell.problem(), cell.strategy, cell.seed);
            bar.set_message(format!(
                "{} candidates · {problem}, {strategy}, seed {seed}: {best} · {} left",
                *self.count(),
                indicatif::HumanDuration(bar.eta()),
            ));
        }
    }

    /// A cell ended.
    pub(super) fn ended(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn count(&self) -> MutexGuard<'_, u64> {
        self.candidates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
