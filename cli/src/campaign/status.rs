//! What has become of each cell, from the journals alone: a run that is going on can be looked at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use tilewright_journal::{CampaignRequest, Cell, EndReason, JOURNAL_FILE};
use tilewright_results::Campaign;

use super::folder::Folder;
use crate::advice::{self, Outcome};
use crate::output;

/// How far a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// Nothing has been tried.
    Waiting,
    /// Begun; it runs, or was killed.
    Begun,
    /// The user stopped it.
    Interrupted,
    /// It could not go on.
    Failed,
    /// It ended by itself.
    Ended,
}

/// A cell and what has become of it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CellStatus {
    workload: String,
    target: Option<String>,
    strategy: String,
    seed: u64,
    folder: PathBuf,
    pub(super) state: State,
    /// Why it ended; `None` where it did not.
    why: Option<EndReason>,
    /// Candidates, those that were illegal or tried before included.
    trials: usize,
    /// Time of the first valid candidate, ns.
    first_ns: Option<f64>,
    /// Time of the best so far, ns.
    pub(super) best_ns: Option<f64>,
    /// Time spent, as trials report it, s.
    seconds: f64,
    /// What came of advice that was tried.
    heuristics: Vec<Outcome>,
    #[serde(skip)]
    problem: String,
    #[serde(skip)]
    pub(super) request: Option<CampaignRequest>,
}

impl CellStatus {
    /// Looks at a cell.
    pub(super) fn of(folder: &Folder, cell: &Cell<'_>) -> Result<Self> {
        let path = folder.path.join(cell.folder());
        let mut status = Self {
            workload: cell.workload.name.clone(),
            target: cell.target.map(|target| target.name.clone()),
            strategy: cell.strategy.to_owned(),
            seed: cell.seed,
            folder: cell.folder(),
            state: State::Waiting,
            why: None,
            trials: 0,
            first_ns: None,
            best_ns: None,
            seconds: 0.0,
            heuristics: Vec::new(),
            problem: cell.problem(),
            request: None,
        };
        if !has_events(&path)? {
            return Ok(status);
        }
        let campaign =
            Campaign::read(&path).with_context(|| format!("cannot read the cell {}", path.display()))?;
        let why = campaign.ended.as_ref().map(|ended| ended.why.clone());
        status.state = match &why {
            None => State::Begun,
            Some(EndReason::Interrupted) => State::Interrupted,
            Some(EndReason::Failed(_)) => State::Failed,
            Some(_) => State::Ended,
        };
        status.why = why;
        status.trials = campaign.trials.len();
        status.first_ns = campaign.moves.first().map(|moved| moved.median_ns);
        status.best_ns = campaign.moves.last().map(|moved| moved.median_ns);
        status.seconds = campaign.duration_ns() as f64 / 1e9;
        status.heuristics = advice::tried(&campaign);
        status.request = CampaignRequest::read(&path.join(tilewright_journal::CAMPAIGN_FILE)).ok();
        Ok(status)
    }
}

/// Whether a journal has a whole line: one that was begun and killed at once holds nothing.
fn has_events(folder: &Path) -> Result<bool> {
    let journal = folder.join(JOURNAL_FILE);
    match std::fs::read(&journal) {
        Ok(bytes) => Ok(bytes.contains(&b'\n')),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", journal.display())),
    }
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Printed<'a> {
    version: u32,
    folder: &'a Path,
    /// How many cells are in which state.
    states: BTreeMap<String, usize>,
    cells: &'a [CellStatus],
}

/// Prints what has become of each cell.
pub(super) fn print(folder: &Folder, json: bool) -> Result<Vec<CellStatus>> {
    let cells: Vec<CellStatus> =
        folder.matrix.cells().iter().map(|cell| CellStatus::of(folder, cell)).collect::<Result<_>>()?;
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    for cell in &cells {
        *states.entry(output::name_of(&cell.state)).or_default() += 1;
    }
    if json {
        output::json(&Printed { version: 1, folder: &folder.path, states, cells: &cells })?;
    } else {
        output::result(&text(folder, &cells, &states))?;
    }
    Ok(cells)
}

/// One line a problem and strategy.
fn text(folder: &Folder, cells: &[CellStatus], states: &BTreeMap<String, usize>) -> String {
    let mut groups: Vec<(&str, &str, Vec<&CellStatus>)> = Vec::new();
    for cell in cells {
        match groups.iter_mut().find(|group| (group.0, group.1) == (&cell.problem, &cell.strategy)) {
            Some((_, _, members)) => members.push(cell),
            None => groups.push((&cell.problem, &cell.strategy, vec![cell])),
        }
    }
    let width = |of: fn(&(&str, &str, Vec<&CellStatus>)) -> usize| groups.iter().map(of).max().unwrap_or(0);
    let (problems, strategies) = (width(|group| group.0.len()).max(7), width(|group| group.1.len()).max(8));
    let mut text = format!(
        "{:problems$}  {:strategies$}  {:>9}  {:>10}  {:>12}  {:>8}\n",
        "problem", "strategy", "ended", "candidates", "best", "gain"
    );
    for (problem, strategy, members) in groups {
        let ended = members.iter().filter(|cell| cell.state == State::Ended).count();
        let trials: usize = members.iter().map(|cell| cell.trials).sum();
        let best = members.iter().filter_map(|cell| cell.best_ns).reduce(f64::min);
        let gains: Vec<f64> =
            members.iter().filter_map(|cell| Some(cell.first_ns? / cell.best_ns?)).collect();
        let gain =
            tilewright_stats::samples::median(&gains).map_or("–".to_owned(), |gain| format!("×{gain:.2}"));
        let best = best.map_or("–".to_owned(), |ns| format!("{:.2} µs", ns / 1e3));
        let ended = format!("{ended} of {}", members.len());
        text.push_str(&format!(
            "{problem:problems$}  {strategy:strategies$}  {ended:>9}  {trials:>10}  {best:>12}  {gain:>8}\n"
        ));
    }
    let states: Vec<String> = states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    text.push_str(&format!(
        "\n{} cells: {}; gain: time of the first valid candidate over the best, median over the seeds\n{}\n",
        cells.len(),
        states.join(", "),
        folder.path.display()
    ));
    let advised: Vec<&CellStatus> = cells.iter().filter(|cell| !cell.heuristics.is_empty()).collect();
    if !advised.is_empty() {
        let sum =
            |of: fn(&Outcome) -> u64| advised.iter().flat_map(|cell| &cell.heuristics).map(of).sum::<u64>();
        let best = advised.iter().filter(|cell| cell.heuristics.iter().any(|of| of.winner)).count();
        text.push_str(&format!(
            "advice: {} points tried in {} cells, {} judged faster; the best of {best} cells is one of them\n",
            sum(|of| of.trials),
            advised.len(),
            sum(|of| of.faster)
        ));
    }
    text
}
