use std::path::PathBuf;

use super::MATRIX_VERSION;

/// Why a matrix's file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MatrixError {
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The file is far larger than any that a person wrote.
    #[error("{path}: {bytes} bytes; a campaign file has at most {most}: is it the right file?")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// Largest that is read.
        most: u64,
    },
    /// The file is no text.
    #[error("{path}: not UTF-8 from byte {at} on; save it as UTF-8")]
    Encoding {
        /// The file.
        path: PathBuf,
        /// First byte that is wrong.
        at: usize,
    },
    /// Something in the file is wrong.
    #[error("{path}, line {line}, `{key}`: {problem}; {remedy}")]
    Key {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Key that is wrong, with the tables it is in.
        key: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// The file was written by a later version.
    #[error("{path}, `version`: {found}, this version reads up to {MATRIX_VERSION}; use a newer tilewright")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version found.
        found: u64,
    },
}
