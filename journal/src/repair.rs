use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tilewright_storage::keep_aside;

use crate::reader::JournalReader;
use crate::{Damage, DamageCause, JournalError};

/// What had to be done to a journal before it can be written on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Repair {
    /// Events that can be read.
    pub events: u64,
    /// Lines that cannot; they stay where they are.
    pub damage: Vec<Damage>,
    /// Where the remains of a line that was cut off have been put, if there were any.
    pub torn_aside: Option<PathBuf>,
}

/// Makes a journal writable again: moves the remains of a cut-off last line into a file beside it.
///
/// Lines damaged otherwise stay, since a later tool may make more of them. Needs the journal for itself.
///
/// # Errors
/// When another process writes the journal, the system refuses, or a later version wrote it.
pub fn repair(path: &Path) -> Result<Repair, JournalError> {
    let file = open_locked(path)?;
    Ok(repair_locked(path, &file)?.0)
}

/// Opens an existing journal for this process alone.
pub(crate) fn open_locked(path: &Path) -> Result<File, JournalError> {
    tilewright_storage::open_locked(path, OpenOptions::new().read(true).write(true))
        .map_err(|error| JournalError::lock(path, error))
}

/// The repair, the number of the next line, and the length of the file after it.
pub(crate) fn repair_locked(path: &Path, mut file: &File) -> Result<(Repair, u64, u64), JournalError> {
    let io = |error| JournalError::io(path, error);
    let mut repair = Repair::default();
    let mut reader = JournalReader::open(path)?;
    let mut torn_is_intact = false;
    while let Some(found) = reader.read_next().map_err(io)? {
        torn_is_intact = found.is_ok();
        match found {
            Ok(_) => repair.events += 1,
            Err(Damage { line, cause: DamageCause::Newer(found), .. }) => {
                return Err(JournalError::Newer { path: path.to_owned(), line, found });
            }
            Err(damage) => repair.damage.push(damage),
        }
    }
    let mut number = reader.next_number();
    let mut length = file.seek(SeekFrom::End(0)).map_err(io)?;
    if let Some(start) = reader.torn_from() {
        if torn_is_intact {
            // Only the line end is missing.
            file.write_all(b"\n").map_err(io)?;
            length += 1;
        } else {
            let aside = move_aside(path, file, start)?;
            repair.torn_aside = Some(aside);
            length = start;
            number -= 1;
        }
        file.sync_all().map_err(io)?;
    }
    Ok((repair, number, length))
}

fn move_aside(path: &Path, mut file: &File, start: u64) -> Result<PathBuf, JournalError> {
    let mut torn = Vec::new();
    file.seek(SeekFrom::Start(start)).map_err(|error| JournalError::io(path, error))?;
    file.read_to_end(&mut torn).map_err(|error| JournalError::io(path, error))?;
    let aside = keep_aside(path, &torn).map_err(|error| JournalError::io(path, error))?;
    file.set_len(start).map_err(|error| JournalError::io(path, error))?;
    Ok(aside)
}
