//! Runs the cells of a matrix that have not ended: simulated and recorded ones at the same time, then measured
//! ones one after the other, with nothing beside them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use tilewright_journal::{Cell, EndReason};

use super::arguments::How;
use super::cell::Bench;
use super::display::Display;
use super::folder::Folder;
use super::status::{self, CellStatus, State};
use crate::conduct::stop_flag;
use crate::{Ending, output};

/// Runs a matrix, or goes on with it.
pub(super) fn run(folder: &mut Folder, how: &How) -> Result<Ending> {
    let quiet = how.quiet || how.json;
    let pool = folder.advice(how)?;
    let folder = &*folder;
    let bench = Bench::new(folder, pool, quiet)?;
    let _lock = folder.lock()?;
    folder.write()?;
    let stop = stop_flag()?;
    let mut open = Vec::new();
    for cell in folder.matrix.cells() {
        if !is_over(&CellStatus::of(folder, &cell)?, &bench.request(&cell)?.0) {
            open.push(cell);
        }
    }
    let cells = folder.matrix.cells().len();
    let display = Display::new(quiet, cells, cells - open.len());
    let failures = Mutex::new(Vec::new());
    let carry_out = |cell: &Cell<'_>| {
        let result = bench.carry_out(cell, &mut display.of(cell), &stop);
        let failure = match result {
            Ok(result) => match result.why {
                EndReason::Failed(why) => Some(why),
                _ => None,
            },
            Err(error) => Some(format!("{error:#}")),
        };
        if let Some(why) = failure {
            let failure = Failure::new(folder, cell, &why);
            failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
        }
        display.ended();
    };
    let (timed, free): (Vec<Cell<'_>>, Vec<Cell<'_>>) = open.into_iter().partition(Cell::is_timed);
    side_by_side(&free, how.jobs, &stop, &carry_out)?;
    for cell in &timed {
        if !stop.load(Ordering::Relaxed) {
            carry_out(cell);
        }
    }
    display.clear();
    let cells = status::print(folder, how.json)?;
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    if stop.load(Ordering::Relaxed) {
        if !quiet {
            output::note(&format!("tilewright campaign resume {}   goes on", folder.path.display()));
        }
        return Ok(Ending::Interrupted);
    }
    if !failures.is_empty() {
        bail!(
            "{} of {} cells failed; what they have is kept, and `tilewright campaign resume {}` tries again:\n{}",
            failures.len(),
            cells.len(),
            folder.path.display(),
            Failure::text(&failures)
        );
    }
    let found = cells.iter().any(|cell| cell.best_ns.is_some());
    Ok(if found { Ending::Done } else { Ending::NothingValid })
}

/// A cell that could not go on.
struct Failure {
    cell: String,
    /// Why, without the names that differ from cell to cell.
    why: String,
}

impl Failure {
    fn new(folder: &Folder, cell: &Cell<'_>, why: &str) -> Self {
        let path = folder.path.join(cell.folder());
        let why = why.replace(&*path.to_string_lossy(), "its folder");
        Self { cell: cell.folder().display().to_string(), why }
    }

    /// One line a reason: a full disk is the same for all.
    fn text(failures: &[Self]) -> String {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for failure in failures {
            reasons.entry(&failure.why).or_default().push(&failure.cell);
        }
        let line = |(why, cells): (&str, Vec<&str>)| match &cells[..] {
            [cell, others @ ..] if !others.is_empty() => format!("{cell} and {} more: {why}", others.len()),
            cells => format!("{}: {why}", cells.concat()),
        };
        reasons.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Whether a cell has nothing more to do: it ended by itself, and was asked what it is asked now.
fn is_over(cell: &CellStatus, request: &tilewright_journal::CampaignRequest) -> bool {
    cell.state == State::Ended && cell.request.as_ref() == Some(request)
}

/// Runs cells that nothing can disturb, in order, so many at a time.
fn side_by_side(
    cells: &[Cell<'_>],
    jobs: Option<u32>,
    stop: &AtomicBool,
    carry_out: &(impl Fn(&Cell<'_>) + Sync),
) -> Result<()> {
    if cells.is_empty() {
        return Ok(());
    }
    let threads = jobs.map_or(0, |jobs| jobs as usize);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let next = AtomicUsize::new(0);
    pool.context("cannot start threads")?.broadcast(|_| {
        while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !stop.load(Ordering::Relaxed) {
                carry_out(cell);
            }
        }
    });
    Ok(())
}
