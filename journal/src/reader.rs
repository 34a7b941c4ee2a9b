use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::frame::{self, START};
use crate::{Damage, DamageCause, Event, JournalError};

/// An event with its place in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Line in the file, from 1.
    pub line: u64,
    /// Number that the writer gave the line, from 1; equals `line` in a whole journal.
    pub number: u64,
    /// What happened.
    pub event: Event,
}

/// A journal as a whole: what can be read, and what cannot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Journal {
    /// Events in order of writing.
    pub entries: Vec<Entry>,
    /// Lines that hold no readable event, in order.
    pub damage: Vec<Damage>,
}

/// Goes through a journal line by line; a damaged line is named and the next one read.
#[derive(Debug)]
pub struct JournalReader<R> {
    source: R,
    /// Lines and bytes taken from the source.
    lines: u64,
    offset: u64,
    /// Number that the next line should have, were none damaged.
    expected: u64,
    /// Damaged lines since the last intact one.
    damaged: u64,
    /// Found in the last line and not yet handed out, last first.
    pending: Vec<Result<Entry, Damage>>,
    /// Where the last line begins, if it does not end in a line end.
    torn_from: Option<u64>,
}

impl Journal {
    /// Reads the whole file.
    ///
    /// # Errors
    /// When the file cannot be read, or an intact line was written by a later version. Damage is no error:
    /// it is reported in [`Journal::damage`].
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let mut reader = JournalReader::open(path)?;
        let mut journal = Self::default();
        while let Some(found) = reader.read_next().map_err(|error| JournalError::io(path, error))? {
            match found {
                Ok(entry) => journal.entries.push(entry),
                Err(Damage { line, cause: DamageCause::Newer(found), .. }) => {
                    return Err(JournalError::Newer { path: path.to_owned(), line, found });
                }
                Err(damage) => journal.damage.push(damage),
            }
        }
        Ok(journal)
    }

    /// The events without their places.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().map(|entry| &entry.event)
    }
}

impl JournalReader<BufReader<File>> {
    /// Opens a journal; it may be written meanwhile.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let file = File::open(path).map_err(|error| JournalError::io(path, error))?;
        Ok(Self::new(BufReader::new(file)))
    }
}

impl<R: BufRead> JournalReader<R> {
    /// Reads from the first byte of a journal on.
    pub fn new(source: R) -> Self {
        Self { source, lines: 0, offset: 0, expected: 1, damaged: 0, pending: Vec::new(), torn_from: None }
    }

    /// The next event or the next damage; `None` at the end.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn read_next(&mut self) -> std::io::Result<Option<Result<Entry, Damage>>> {
        loop {
            if let Some(found) = self.pending.pop() {
                return Ok(Some(found));
            }
            let mut line = Vec::new();
            if self.source.read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            self.lines += 1;
            self.take(&line);
            self.pending.reverse();
            self.offset += line.len() as u64;
        }
    }

    /// Number that a line appended to what was read so far has to bear.
    pub(crate) fn next_number(&self) -> u64 {
        self.expected + self.damaged
    }

    /// Where the last line read begins, if it does not end in a line end.
    pub(crate) fn torn_from(&self) -> Option<u64> {
        self.torn_from
    }

    fn take(&mut self, line: &[u8]) {
        let whole = line.strip_suffix(b"\n");
        self.torn_from = whole.is_none().then_some(self.offset);
        match frame::decode(whole.unwrap_or(line)) {
            Ok(found) => self.accept(found, line.len()),
            Err(cause) => {
                let cause = if whole.is_none() { DamageCause::Torn } else { cause };
                self.pending.push(Err(self.damage(line.len(), cause)));
                self.damaged += 1;
                // A lost line end runs two lines into one; what is intact in them still counts.
                for found in salvage(line) {
                    self.accept(found, line.len());
                }
            }
        }
    }

    fn accept(&mut self, found: frame::Frame, bytes: usize) {
        let frame::Frame { number, event } = found;
        if number < self.expected {
            self.pending.push(Err(self.damage(bytes, DamageCause::Repeated(number))));
            return;
        }
        // A damaged line stands for one that is missed here; only further ones are gone without trace.
        let missing = (number - self.expected).saturating_sub(self.damaged);
        // A place holder says so itself.
        if missing > 0 && !matches!(event, Ok(Event::LinesLost(_))) {
            self.pending.push(Err(self.damage(bytes, DamageCause::Missing(missing))));
        }
        self.expected = number.saturating_add(1);
        self.damaged = 0;
        self.pending.push(match event {
            Ok(event) => Ok(Entry { line: self.lines, number, event }),
            Err(cause) => Err(self.damage(bytes, cause)),
        });
    }

    fn damage(&self, bytes: usize, cause: DamageCause) -> Damage {
        Damage { line: self.lines, offset: self.offset, bytes: bytes as u64, cause }
    }
}

/// Intact lines inside a damaged one.
fn salvage(line: &[u8]) -> Vec<frame::Frame> {
    let starts: Vec<usize> = line
        .windows(START.len())
        .enumerate()
        .filter(|(_, window)| *window == START)
        .map(|(at, _)| at)
        .collect();
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|(&start, end)| {
            let part = &line[start..end];
            let length = part.iter().rposition(|&byte| byte == b'}')? + 1;
            frame::decode(&part[..length]).ok()
        })
        .collect()
}
