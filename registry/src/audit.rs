//! The audit log. One line: `{"hash":"<sha256 of the entry's bytes>","entry":{…}}`; the entry holds the hash
//! of the line before, so that no line can be changed, removed or inserted without the next one showing it.

use serde::{Deserialize, Serialize};
use tilewright_stats::EvidenceKind;

use crate::{ClaimTest, Conditions, Digest};

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Number of the line, from 1.
    pub sequence: u64,
    /// Hash of the line before; [`Digest::NONE`] for the first.
    pub previous: Digest,
    /// When, civil date and time with offset, RFC 3339, as the caller gave it.
    pub at: String,
    /// What was done.
    pub action: Action,
}

/// What was done to a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A kernel found here was accepted, and replaces the record in force for its key.
    Published {
        /// Its record.
        record: Digest,
        /// Its key as text.
        key: String,
        /// Where its times come from.
        kind: EvidenceKind,
    },
    /// A record came from an archive; it is in force only while there is no other for its key.
    Imported {
        /// The record.
        record: Digest,
        /// Its key as text.
        key: String,
        /// Where its times come from.
        kind: EvidenceKind,
        /// The archive.
        from: String,
    },
    /// A record was verified and measured again here, and may be served under these conditions.
    Verified {
        /// The record.
        record: Digest,
        /// With what it was.
        conditions: Conditions,
        /// Median time of a launch then, ns.
        median_ns: u64,
    },
    /// A heuristic was kept; it replaces the one kept before for its subject.
    Learned {
        /// Its file.
        heuristic: Digest,
        /// Its subject as text.
        subject: String,
    },
    /// A claim was tested, whatever came of it.
    Tested(ClaimTest),
    /// What was damaged has been taken out, and kept elsewhere in the folder.
    Repaired {
        /// Files inside the registry's folder that keep what was damaged.
        aside: Vec<String>,
        /// Records and heuristics that are gone; an archive can bring records back.
        gone: Vec<Digest>,
    },
    /// A record is no longer to be used.
    Retracted {
        /// The record.
        record: Digest,
        /// Why.
        reason: String,
    },
}

/// What was found in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Line in the file, from 1.
    pub(crate) number: u64,
    /// The entry and its hash, or what is wrong with the line.
    pub(crate) content: Result<(AuditEntry, Digest), LineProblem>,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineProblem {
    /// It is not what was written.
    Damaged(&'static str),
    /// It is intact, but says what this version does not know: a later one wrote it.
    Newer(String),
}

impl std::fmt::Display for LineProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Damaged(problem) => f.write_str(problem),
            Self::Newer(problem) => {
                write!(f, "intact, and written by a later version ({problem}): use a newer tilewright")
            }
        }
    }
}

/// A log as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Log {
    /// Whole lines.
    pub(crate) lines: Vec<Line>,
    /// Bytes of whole lines.
    pub(crate) whole_bytes: u64,
    /// Bytes behind the last whole line: of an entry being written, or never finished.
    pub(crate) unfinished_bytes: u64,
}

const HASH: &[u8] = b"{\"hash\":\"";
const ENTRY: &[u8] = b"\",\"entry\":";

impl AuditEntry {
    /// The line of this entry, its end included.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let body = serde_json::to_string(self).expect("invariant: strings and integers always serialise");
        format!("{{\"hash\":\"{}\",\"entry\":{body}}}\n", Digest::of(body.as_bytes())).into_bytes()
    }

    fn decode(line: &[u8]) -> Result<(Self, Digest), LineProblem> {
        let form = || LineProblem::Damaged("not an audit entry");
        let rest = line.strip_prefix(HASH).ok_or_else(form)?;
        let (hash, rest) = rest.split_at_checked(64).ok_or_else(form)?;
        let body = rest.strip_prefix(ENTRY).and_then(|rest| rest.strip_suffix(b"}")).ok_or_else(form)?;
        let hash: Digest =
            std::str::from_utf8(hash).ok().and_then(|hash| hash.parse().ok()).ok_or_else(form)?;
        if Digest::of(body) != hash {
            return Err(LineProblem::Damaged("changed since it was written"));
        }
        let entry = serde_json::from_slice(body).map_err(|error| LineProblem::Newer(error.to_string()))?;
        Ok((entry, hash))
    }
}

impl Log {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut log = Self::default();
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else {
                log.unfinished_bytes = line.len() as u64;
                break;
            };
            log.whole_bytes += line.len() as u64 + 1;
            let number = log.lines.len() as u64 + 1;
            log.lines.push(Line { number, content: AuditEntry::decode(line) });
        }
        log
    }

    /// Takes in a line that was just made.
    pub(crate) fn push(&mut self, line: &[u8]) {
        let number = self.lines.len() as u64 + 1;
        self.lines.extend(Self::parse(line).lines.into_iter().map(|line| Line { number, ..line }));
        self.whole_bytes += line.len() as u64;
    }

    /// Entries that are intact by themselves, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &AuditEntry> {
        self.lines.iter().filter_map(|line| line.content.as_ref().ok()).map(|(entry, _)| entry)
    }

    /// The first line that a later version wrote.
    pub(crate) fn newer(&self) -> Option<u64> {
        let newer = |line: &&Line| matches!(line.content, Err(LineProblem::Newer(_)));
        self.lines.iter().find(newer).map(|line| line.number)
    }

    /// Hash of the last line that has a readable one.
    pub(crate) fn head(&self) -> Digest {
        let last = self.lines.iter().rev().find_map(|line| line.content.as_ref().ok());
        last.map_or(Digest::NONE, |(_, hash)| *hash)
    }

    /// The line to append for an action.
    pub(crate) fn next(&self, at: &str, action: Action) -> AuditEntry {
        let sequence = self.lines.len() as u64 + 1;
        AuditEntry { sequence, previous: self.head(), at: at.to_owned(), action }
    }

    /// Every line that is damaged, or does not follow on the one before: line number and problem.
    pub(crate) fn problems(&self) -> Vec<(u64, String)> {
        let mut problems = Vec::new();
        let mut before = Digest::NONE;
        let mut damaged_before = false;
        for Line { number, content } in &self.lines {
            match content {
                Err(problem) => {
                    problems.push((*number, problem.to_string()));
                    damaged_before = true;
                }
                Ok((entry, hash)) => {
                    if entry.previous != before && !damaged_before {
                        let problem = "does not follow on the line before it: one of the two was changed, \
                                       removed or inserted";
                        problems.push((*number, problem.to_owned()));
                    }
                    if entry.sequence != *number {
                        problems.push((*number, format!("bears the number {}", entry.sequence)));
                    }
                    before = *hash;
                    damaged_before = false;
                }
            }
        }
        problems
    }
}
