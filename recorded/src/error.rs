use std::io;

use tilewright_journal::JournalError;

use crate::expression::ExpressionError;

/// Why a recording or a problem description cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// The file cannot be read.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        error: io::Error,
    },
    /// The file holds more than a recording can.
    #[error("{file}: more than {most_bytes} bytes when unpacked; split the recording")]
    TooLarge {
        /// The file.
        file: String,
        /// Most bytes.
        most_bytes: u64,
    },
    /// The compressed data are damaged.
    #[error("{file}: damaged compressed data ({error}); fetch the file again")]
    Compression {
        /// The file.
        file: String,
        /// What the decompressor said.
        error: io::Error,
    },
    /// The text is not JSON, or a field has another type than it should.
    #[error("{file}, line {line}, column {column}: {problem}; correct the file, or record it again")]
    Syntax {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// A field is missing, or its value makes no sense.
    #[error("{file}, {place}, `{field}`: {problem}; {remedy}")]
    Field {
        /// The file.
        file: String,
        /// Which configuration or part, for people.
        place: String,
        /// Name of the field.
        field: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        remedy: &'static str,
    },
    /// An expression of a problem description is wrong.
    #[error("{file}, `{expression}`: {error}")]
    Expression {
        /// The file.
        file: String,
        /// Its text.
        expression: String,
        /// What is wrong.
        error: ExpressionError,
    },
    /// The file is of no known kind.
    #[error(
        "{file}: neither a Kernel Tuner cache (`cache`), T4 results (`results`), a T1 problem \
             (`ConfigurationSpace`), nor a journal; give one of these"
    )]
    Unknown {
        /// The file.
        file: String,
    },
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl RecordedError {
    pub(crate) fn field(
        file: &str,
        place: impl Into<String>,
        field: &str,
        problem: impl Into<String>,
        remedy: &'static str,
    ) -> Self {
        Self::Field {
            file: file.to_owned(),
            place: place.into(),
            field: field.to_owned(),
            problem: problem.into(),
            remedy,
        }
    }
}
