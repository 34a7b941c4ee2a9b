use std::io;
use std::path::{Path, PathBuf};

use tilewright_storage::{Holder, LockError};

use crate::JOURNAL_VERSION;

/// Why a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A new journal was to be begun where one is.
    #[error("{path} exists already; resume it, or choose another folder")]
    Exists {
        /// The journal.
        path: PathBuf,
    },
    /// Another process writes it.
    #[error("{path} is being written by {holder}; wait for it to end, or stop it")]
    Locked {
        /// The journal.
        path: PathBuf,
        /// The process.
        holder: Holder,
    },
    /// There is no room left. The journal was cut back to its last whole line.
    #[error("no space left to write {path}; everything up to its last line is kept")]
    Full {
        /// The journal.
        path: PathBuf,
    },
    /// The system refused for another reason.
    #[error("{path}: {error}")]
    Io {
        /// The journal.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A line was written by a later version of this tool.
    #[error(
        "{path}, line {line}: written in form {found}, this version reads up to {JOURNAL_VERSION}; use a newer tilewright"
    )]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// Version found.
        found: u32,
    },
    /// An event has no form in a journal, such as a time that is not a number.
    #[error("event cannot be written: {problem}")]
    Unwritable {
        /// What is wrong with it.
        problem: String,
    },
}

impl JournalError {
    pub(crate) fn lock(path: &Path, error: LockError) -> Self {
        match error {
            LockError::Held(holder) => Self::Locked { path: path.to_owned(), holder },
            LockError::Io(error) => Self::io(path, error),
        }
    }

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::Full { path }
            }
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            _ => Self::Io { path, error },
        }
    }
}
