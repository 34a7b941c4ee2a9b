use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tilewright_journal::{
    CAMPAIGN_FILE, CELLS_FOLDER, CHECKPOINT_FILE, CampaignRequest, DamageCause, Event, JOURNAL_FILE, Journal,
    Known, MATRIX_FILE, Matrix, MatrixError, RequestError, checkpoint, set_aside,
};
use tilewright_storage::{holder, move_aside};

use super::Place;

/// Checks the folder of one campaign.
pub(super) fn campaign(folder: &Path, repair: bool, found: &mut Place) -> Result<()> {
    let begun = journal(&folder.join(JOURNAL_FILE), repair, found)?;
    request(&folder.join(CAMPAIGN_FILE), begun, repair, found)?;
    let file = folder.join(CHECKPOINT_FILE);
    if file.exists()
        && let Err(error) = checkpoint::check(&file)
    {
        // The journal holds all that it did.
        let newer = matches!(error, checkpoint::CheckpointError::Newer { .. });
        put_away(&file, error.to_string(), repair && !newer, found)?;
    }
    Ok(())
}

/// Checks the folder of a matrix: what was asked, and every cell.
pub(super) fn matrix(folder: &Path, repair: bool, found: &mut Place) -> Result<()> {
    let file = folder.join(MATRIX_FILE);
    match Matrix::read(&file, Known::default()) {
        Ok(_) => found.sound += 1,
        Err(MatrixError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
            found.wrong(&file, None, "missing: copy the file that was given to `campaign run` here");
        }
        // What a person asked for is nowhere else, so it is left for a person to mend.
        Err(error) => found.wrong(&file, None, error.to_string()),
    }
    let mut cells = Vec::new();
    find_cells(&folder.join(CELLS_FOLDER), &mut cells)?;
    for cell in cells {
        campaign(&cell, repair, found).with_context(|| cell.display().to_string())?;
    }
    Ok(())
}

/// Folders with a journal or a request.
fn find_cells(folder: &Path, cells: &mut Vec<PathBuf>) -> Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(|| folder.display().to_string())?,
    };
    let mut inner = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| folder.display().to_string())?;
        // Links are not followed: they may lead anywhere, and round in circles.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            inner.push(entry.path());
        }
    }
    inner.sort();
    if [JOURNAL_FILE, CAMPAIGN_FILE].iter().any(|name| folder.join(name).exists()) {
        cells.push(folder.to_owned());
    }
    inner.iter().try_for_each(|inner| find_cells(inner, cells))
}

/// Checks a journal; the request that it begins with comes back.
fn journal(file: &Path, repair: bool, found: &mut Place) -> Result<Option<CampaignRequest>> {
    if !file.exists() {
        // Killed before anything had happened.
        return Ok(None);
    }
    let journal = match Journal::read(file) {
        Ok(journal) => journal,
        Err(error) => {
            found.wrong(file, None, error.to_string());
            return Ok(None);
        }
    };
    // A line that is being written is not cut off.
    let written = holder(file)?.is_some();
    for damage in &journal.damage {
        if !(written && damage.cause == DamageCause::Torn) {
            found.wrong(file, Some(damage.line), damage.to_string());
        }
    }
    found.sound += journal.entries.len() as u64;
    let begun = journal.events().find_map(|event| match event {
        Event::CampaignStarted(started) => Some(started.request.clone()),
        _ => None,
    });
    if repair && found.problems.iter().any(|problem| problem.path == file) {
        found.aside.extend(set_aside(file)?.aside);
        found.repaired(file);
    }
    if begun.is_none() && !journal.entries.is_empty() {
        found.wrong(
            file,
            None,
            "its first event is lost, which says what was asked: the rest cannot be reported",
        );
    }
    Ok(begun)
}

/// Checks a request, which the journal repeats.
fn request(file: &Path, begun: Option<CampaignRequest>, repair: bool, found: &mut Place) -> Result<()> {
    let Err(error) = CampaignRequest::read(file) else {
        found.sound += 1;
        return Ok(());
    };
    let missing =
        matches!(&error, RequestError::Io { error, .. } if error.kind() == std::io::ErrorKind::NotFound);
    if missing && begun.is_none() {
        return Ok(());
    }
    let remedy = if begun.is_some() { "; the journal repeats it" } else { "" };
    found.wrong(file, None, format!("{error}{remedy}"));
    let newer = matches!(error, RequestError::Newer { .. });
    let Some(begun) = begun.filter(|_| repair && !newer) else { return Ok(()) };
    if !missing {
        found.aside.push(move_aside(file).with_context(|| file.display().to_string())?);
    }
    begun.write(file)?;
    found.repaired(file);
    Ok(())
}

fn put_away(file: &Path, problem: String, repair: bool, found: &mut Place) -> Result<()> {
    found.wrong(file, None, problem);
    if repair {
        found.aside.push(move_aside(file).with_context(|| file.display().to_string())?);
        found.repaired(file);
    }
    Ok(())
}
