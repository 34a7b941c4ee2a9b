use std::io;
use std::path::{Path, PathBuf};

use tilewright_stats::{Decision, RereadError};
use tilewright_storage::{Holder, LockError};

use crate::{Digest, RECORD_VERSION};

/// Why a registry cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The system refused.
    #[error("{path}: {error}")]
    Io {
        /// File or folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A file's content is not what its name, or its line's hash, says.
    #[error("{path}: {problem}; `registry verify` lists all damage, the other records are usable")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A record was written by a later version.
    #[error(
        "{path}: record of form {found}, this version reads up to {RECORD_VERSION}; use a newer tilewright"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version found.
        found: u32,
    },
    /// The audit log has a line of a later version, on which nothing of this one can follow.
    #[error(
        "{path}, line {line}: written by a later version; the kernels that this version understands can be read, to \
         write use a newer tilewright"
    )]
    NewerLog {
        /// The log.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
    },
    /// Another process writes the registry, and does not end.
    #[error("{path} is being written by {holder}; wait for it to end, or stop it")]
    Locked {
        /// The log.
        path: PathBuf,
        /// The process.
        holder: Holder,
    },
    /// A record's verdict cannot be made again.
    #[error("{path}: {error}")]
    Reread {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: RereadError,
    },
    /// No record has that name, or several begin like it.
    #[error("`{text}` names {matches} records; give more of a digest that `registry list` shows")]
    Name {
        /// What was given.
        text: String,
        /// Records that begin like it.
        matches: usize,
    },
    /// The kernel must not be published.
    #[error("not published: {0}")]
    Refused(#[from] Refusal),
    /// An archive cannot be read.
    #[error("{path}, line {line}: {problem}")]
    Archive {
        /// The archive.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// What is wrong.
        problem: String,
    },
}

/// Why a kernel must not be published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The verdict does not support it.
    #[error("judged {0:?} against its incumbent")]
    Verdict(Decision),
    /// It was not measured beside the record that it would replace.
    #[error("record {current} stands for this workload, and the kernel was not measured beside it")]
    NotCompared {
        /// The record in force.
        current: Digest,
    },
    /// It was judged by a gate for racing, which is often wrong; a claim needs an effect margin.
    #[error("gate `{0}` has no effect margin, so its verdict is no claim")]
    NoMargin(String),
    /// It was judged faster on one set of pairs; a claim is confirmed on another, in a fresh process.
    #[error("gate `{0}` found a gain that was not confirmed in a fresh process")]
    NotConfirmed(String),
    /// The kernel contradicts itself.
    #[error("{0}")]
    Inconsistent(String),
}

impl RegistryError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| Self::Io { path: path.to_owned(), error }
    }

    pub(crate) fn lock(path: &Path) -> impl FnOnce(LockError) -> Self + '_ {
        move |error| match error {
            LockError::Held(holder) => Self::Locked { path: path.to_owned(), holder },
            LockError::Io(error) => Self::Io { path: path.to_owned(), error },
        }
    }

    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }
}
