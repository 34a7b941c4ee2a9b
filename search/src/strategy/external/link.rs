//! The dialogue with an external program, live or as recorded.

use std::collections::VecDeque;
use std::fmt;
use std::io::{BufRead, Read, Write};

use serde::{Deserialize, Serialize};
use tilewright_journal::ProposerAnswered;

use crate::digest;

/// Longest line that a program may answer, bytes.
const LONGEST_LINE: u64 = 16 << 20;

/// A line said to the program, and its answer where one was expected; both without the end of the line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Exchange {
    pub(super) said: String,
    pub(super) answer: Option<String>,
}

/// Why an external proposer proposes nothing more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExternalError {
    /// A stream to or from the program failed.
    #[error("no line could be exchanged with the external strategy: {0}")]
    Stream(String),
    /// The program has ended.
    #[error("the external strategy ended without an answer")]
    Ended,
    /// An answer was longer than 16 MiB.
    #[error("the external strategy answered a line of more than {LONGEST_LINE} bytes")]
    TooLong,
    /// An answer is not what the protocol asks for.
    #[error("the external strategy answered `{line}`: {reason}")]
    Malformed {
        /// Beginning of the line.
        line: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something else was said before this question than when its answer was recorded.
    #[error("the recorded answers are another search's: what was said up to `{now}` differs")]
    Diverged {
        /// Beginning of the question.
        now: String,
    },
    /// The record is at its end, and there is no program to go on with.
    #[error("the recorded dialogue is at its end")]
    RecordEnded,
}

/// The two streams of a program.
pub(super) struct Streams {
    pub(super) output: Box<dyn Write + Send>,
    pub(super) input: Box<dyn BufRead + Send>,
}

/// A dialogue that goes on with a program, after what is recorded of it.
pub(super) struct Link {
    streams: Option<Streams>,
    /// Answers to the next questions.
    recorded: VecDeque<ProposerAnswered>,
    /// All that was said so far.
    dialogue: Vec<Exchange>,
    /// Digest of that, answers left out.
    said: u64,
    /// Answers that nobody has recorded yet.
    fresh: Vec<ProposerAnswered>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("exchanges", &self.dialogue.len()).finish_non_exhaustive()
    }
}

/// What people need to see of a line.
pub(super) fn beginning(line: &str) -> String {
    line.chars().take(120).collect()
}

impl Streams {
    fn say(&mut self, line: &str) -> Result<(), ExternalError> {
        let failed = |error: std::io::Error| ExternalError::Stream(error.to_string());
        writeln!(self.output, "{line}").map_err(failed)?;
        self.output.flush().map_err(failed)
    }

    fn hear(&mut self) -> Result<String, ExternalError> {
        let mut line = String::new();
        let mut limited = (&mut self.input).take(LONGEST_LINE + 1);
        let length =
            limited.read_line(&mut line).map_err(|error| ExternalError::Stream(error.to_string()))? as u64;
        if length > LONGEST_LINE {
            return Err(ExternalError::TooLong);
        }
        if !line.ends_with('\n') {
            return Err(ExternalError::Ended);
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

impl Link {
    pub(super) fn new(recorded: Vec<ProposerAnswered>, streams: Option<Streams>) -> Self {
        let recorded = recorded.into();
        Self { streams, recorded, dialogue: Vec::new(), said: digest::EMPTY, fresh: Vec::new() }
    }

    pub(super) fn dialogue(&self) -> &[Exchange] {
        &self.dialogue
    }

    pub(super) fn take_fresh(&mut self) -> Vec<ProposerAnswered> {
        std::mem::take(&mut self.fresh)
    }

    /// Says a line and, where `answered`, waits for the answer. A question whose answer is recorded is put to a
    /// program all the same, so that it can go on where the record ends, but the recorded answer counts.
    pub(super) fn exchange(&mut self, said: String, answered: bool) -> Result<Option<String>, ExternalError> {
        self.said = digest::extend(digest::extend(self.said, said.as_bytes()), b"\n");
        let digest = format!("{:016x}", self.said);
        let recorded = if answered { self.recorded.pop_front() } else { None };
        if recorded.as_ref().is_some_and(|recorded| recorded.said != digest) {
            return Err(ExternalError::Diverged { now: beginning(&said) });
        }
        let live = match &mut self.streams {
            Some(streams) => {
                streams.say(&said)?;
                if answered { Some(streams.hear()?) } else { None }
            }
            None if recorded.is_none() && answered => return Err(ExternalError::RecordEnded),
            None => None,
        };
        let answer = match recorded {
            Some(recorded) => Some(recorded.answer),
            None => live.inspect(|answer| {
                let record =
                    ProposerAnswered { said: digest, question: said.clone(), answer: answer.clone() };
                self.fresh.push(record);
            }),
        };
        self.dialogue.push(Exchange { said, answer: answer.clone() });
        Ok(answer)
    }

    /// Says all that a saved dialogue holds again; what the program answers now does not count.
    pub(super) fn catch_up(&mut self, dialogue: Vec<Exchange>) -> Result<(), ExternalError> {
        for Exchange { said, answer } in dialogue {
            let now = self.exchange(said, answer.is_some());
            if let Some(last) = self.dialogue.last_mut() {
                last.answer = answer;
            }
            now?;
        }
        self.fresh.clear();
        Ok(())
    }
}
