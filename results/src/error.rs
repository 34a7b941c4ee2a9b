use std::io;
use std::path::PathBuf;

use tilewright_journal::JournalError;

/// Why nothing can be reported.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal has no first event, so nobody knows what its numbers are about.
    #[error("{path}: the first event is missing ({damaged} damaged lines); nothing can be reported")]
    NoStart {
        /// The journal.
        path: PathBuf,
        /// Damaged lines.
        damaged: usize,
    },
    /// A file cannot be written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A table cannot be written as Parquet.
    #[error("table cannot be written: {0}")]
    Parquet(String),
    /// A chart cannot be drawn.
    #[error("chart cannot be drawn: {0}")]
    Chart(String),
}
