use std::fmt;

/// A stretch of a journal that holds no readable event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Line in the file, from 1.
    pub line: u64,
    /// Where the line begins, bytes from the start of the file.
    pub offset: u64,
    /// Bytes of the line, its end included.
    pub bytes: u64,
    /// What is wrong.
    pub cause: DamageCause,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DamageCause {
    /// The file ends within the line: the process was stopped while writing it.
    Torn,
    /// The line has not the form of an event.
    Form,
    /// The line was changed since it was written.
    Checksum,
    /// The line is intact, but its event means nothing to this version.
    Event(String),
    /// The line is intact and was written by a later version.
    Newer(u32),
    /// Lines before this one are missing: its own number says how many.
    Missing(u64),
    /// The line bears a number that an earlier one bore; the earlier one counts.
    Repeated(u64),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (byte {}, {} bytes): {}", self.line, self.offset, self.bytes, self.cause)
    }
}

impl fmt::Display for DamageCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Torn => f.write_str("cut off while it was written"),
            Self::Form => f.write_str("not an event"),
            Self::Checksum => f.write_str("changed since it was written"),
            Self::Event(problem) => write!(f, "not understood: {problem}"),
            Self::Newer(version) => write!(f, "written by a later version ({version})"),
            Self::Missing(lines) => write!(f, "{lines} line(s) before it are missing"),
            Self::Repeated(number) => write!(f, "line number {number} stood before"),
        }
    }
}
