use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tilewright_storage::{keep_aside, replace};

use crate::repair::open_locked;
use crate::{DamageCause, Event, Journal, JournalError, LinesLost, frame};

/// What was done to a damaged journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetAside {
    /// Events that were kept, to the byte.
    pub kept: u64,
    /// Lines of the journal whose place is now taken by [`Event::LinesLost`].
    pub lost: u64,
    /// File beside the journal that keeps the damaged lines; `None` where nothing was damaged.
    pub aside: Option<PathBuf>,
}

/// Takes every damaged line out of a journal and keeps it in a file beside. What is sound stays, to the byte; a place
/// holder says where lines are missing. Needs the journal for itself. A kill leaves the old journal or the new one.
///
/// # Errors
/// When another process writes the journal, the system refuses, or a later version wrote it.
pub fn set_aside(path: &Path) -> Result<SetAside, JournalError> {
    // Held until the end: the journal that takes its place has no writer before this one is gone.
    let _file = open_locked(path)?;
    let io = |error| JournalError::io(path, error);
    let journal = Journal::read(path)?;
    if journal.damage.is_empty() {
        return Ok(SetAside { kept: journal.entries.len() as u64, ..SetAside::default() });
    }
    let bytes = std::fs::read(path).map_err(io)?;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let damaged: BTreeSet<u64> = journal
        .damage
        .iter()
        .filter(|damage| !matches!(damage.cause, DamageCause::Missing(_)))
        .map(|damage| damage.line)
        .collect();
    let line = |number: u64| lines.get(number as usize - 1).copied().unwrap_or_default();
    let removed: Vec<u8> = damaged.iter().flat_map(|&number| line(number)).copied().collect();
    let aside = keep_aside(path, &removed).map_err(io)?;
    let lost = |number| {
        let name = aside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        frame::encode(number, &Event::LinesLost(LinesLost { aside: name }))
    };
    let mut sound = Vec::with_capacity(bytes.len());
    let mut done = SetAside { aside: Some(aside.clone()), ..SetAside::default() };
    let mut expected = 1;
    for entry in &journal.entries {
        // One place holder for all: how many are missing is what a number in the file says, which may be anything.
        if entry.number > expected {
            done.lost += entry.number - expected;
            sound.extend(lost(entry.number - 1)?);
        }
        if damaged.contains(&entry.line) {
            // An intact event inside a line that is not.
            sound.extend(frame::encode(entry.number, &entry.event)?);
        } else {
            sound.extend(line(entry.line).strip_suffix(b"\n").unwrap_or(line(entry.line)));
            sound.push(b'\n');
        }
        done.kept += 1;
        expected = entry.number.saturating_add(1);
    }
    replace(path, &sound).map_err(io)?;
    Ok(done)
}
