use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::repair::{open_locked, repair_locked};
use crate::{Event, JournalError, Repair, finite, frame};

/// Appends events to a journal, which it holds for itself.
///
/// Each event is one write of one whole line, so that a killed process leaves at most one line cut off. When a
/// write fails, the journal is cut back to its last whole line, and may be written on once there is room.
#[derive(Debug)]
pub struct JournalWriter<M: Medium = File> {
    path: PathBuf,
    medium: M,
    /// Number of the next line.
    number: u64,
    /// Bytes of whole lines.
    length: u64,
    /// Whether a failed write may have left bytes behind `length`.
    dirty: bool,
}

/// What a journal is written to.
pub trait Medium {
    /// Writes all bytes at the end.
    ///
    /// # Errors
    /// When not all could be written; some may have been.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts everything behind the first `length` bytes off.
    ///
    /// # Errors
    /// When the system refuses.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Returns once everything written would survive a loss of power.
    ///
    /// # Errors
    /// When the system refuses.
    fn sync(&mut self) -> io::Result<()>;
}

impl Medium for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(|_| ())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl JournalWriter {
    /// Begins a journal.
    ///
    /// # Errors
    /// When there is one already, or the file cannot be created.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|error| JournalError::io(path, error))?;
        tilewright_storage::try_lock(&file).map_err(|error| JournalError::lock(path, error))?;
        tilewright_storage::sync_folder(path).map_err(|error| JournalError::io(path, error))?;
        Ok(Self::on(path, file))
    }

    /// Goes on with a journal, after repairing it.
    ///
    /// # Errors
    /// When there is none, another process writes it, or a later version wrote it.
    pub fn resume(path: &Path) -> Result<(Self, Repair), JournalError> {
        let mut file = open_locked(path)?;
        let (repair, number, length) = repair_locked(path, &file)?;
        file.seek(SeekFrom::Start(length)).map_err(|error| JournalError::io(path, error))?;
        Ok((Self { path: path.to_owned(), medium: file, number, length, dirty: false }, repair))
    }
}

impl<M: Medium> JournalWriter<M> {
    /// Begins a journal on an empty medium; `path` is its name in errors.
    pub fn on(path: &Path, medium: M) -> Self {
        Self { path: path.to_owned(), medium, number: 1, length: 0, dirty: false }
    }

    /// Appends one event and returns the number of its line. It is with the operating system then.
    ///
    /// # Errors
    /// When the event has a number that JSON cannot hold, or the medium refuses; a full one is told apart.
    pub fn append(&mut self, event: &Event) -> Result<u64, JournalError> {
        finite::check(event)?;
        let line = frame::encode(self.number, event)?;
        self.clean()?;
        if let Err(error) = self.medium.append(&line) {
            self.dirty = true;
            // The first error is the one to report; should cutting fail too, the next append tries again.
            self.clean().ok();
            return Err(JournalError::io(&self.path, error));
        }
        self.length += line.len() as u64;
        self.number += 1;
        Ok(self.number - 1)
    }

    /// Returns once everything appended would survive a loss of power; called at checkpoints.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.medium.sync().map_err(|error| JournalError::io(&self.path, error))
    }

    /// The journal's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn clean(&mut self) -> Result<(), JournalError> {
        if self.dirty {
            self.medium.cut(self.length).map_err(|error| JournalError::io(&self.path, error))?;
            self.dirty = false;
        }
        Ok(())
    }
}
