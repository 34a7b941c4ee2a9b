//! Records on their way from one registry to another: one file, a header line and one line a record.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::{decode_hex, encode_hex};
use crate::registry::check;
use crate::standing::{self, Standing};
use crate::{Action, Digest, Record, Registry, RegistryError};

const VERSION: u32 = 1;

/// First line of an archive.
#[derive(Serialize, Deserialize)]
struct Header {
    tilewright_registry_archive: u32,
}

/// A record and its code. The record is text, not JSON in JSON, because its bytes are its name.
#[derive(Serialize, Deserialize)]
struct Line {
    id: Digest,
    record: String,
    code: String,
}

/// What was put into an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// The archive's content.
    pub archive: Vec<u8>,
    /// Records put in.
    pub records: u64,
    /// Records left out because they, or their code, are damaged: digest and reason.
    pub damaged: Vec<(Digest, String)>,
}

/// What was taken from an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    /// Records taken, in the archive's order.
    pub records: Vec<Digest>,
    /// Records that the registry had already.
    pub known: u64,
}

impl Registry {
    /// All records that are not retracted, with their code, as an archive.
    ///
    /// # Errors
    /// When the registry cannot be read.
    pub fn export(&self) -> Result<Exported, RegistryError> {
        let archive = to_line(&Header { tilewright_registry_archive: VERSION });
        let mut exported = Exported { archive, ..Exported::default() };
        let mut done = Vec::new();
        for listed in self.list()?.iter().filter(|listed| listed.standing != Standing::Retracted) {
            if done.contains(&listed.record) {
                continue;
            }
            done.push(listed.record);
            match self.archived(listed.record) {
                Ok(line) => {
                    exported.archive.extend(to_line(&line));
                    exported.records += 1;
                }
                Err(error) => exported.damaged.push((listed.record, error.to_string())),
            }
        }
        Ok(exported)
    }

    /// Takes the records of an archive in; `at` is the civil time of doing so, RFC 3339.
    ///
    /// Every line is checked before the first is taken: digests, verdicts judged anew, code and kernel in
    /// accord. Records keep the fingerprint they were measured on, so those of another machine are never
    /// served on this one, and none replaces a record that is in force here.
    ///
    /// The code of an archive is as trustworthy as whoever made it; nothing of it is run here.
    ///
    /// # Errors
    /// When the archive cannot be read, is damaged or from a later version, or the folder cannot be written.
    /// Nothing has been taken then.
    pub fn import(&self, path: &Path, at: &str) -> Result<Imported, RegistryError> {
        let arrivals = read(path)?;
        let from = path.display().to_string();
        self.locked(
            |log, fresh| {
                let listed = standing::list(log);
                let mut imported = Imported::default();
                let mut actions = Vec::new();
                for (record, text, code) in arrivals {
                    let id = record.id;
                    if listed.iter().any(|listed| listed.record == id) || imported.records.contains(&id) {
                        imported.known += 1;
                    } else {
                        let key = record.kernel.subject().key.to_string();
                        let kind = record.kernel.kind();
                        imported.records.push(id);
                        actions.push(Action::Imported { record: id, key, kind, from: from.clone() });
                    }
                    // A known one too: its files may be damaged here.
                    self.artifacts.write(&code, fresh)?;
                    self.records.write(text.as_bytes(), fresh)?;
                }
                Ok((imported, actions))
            },
            at,
        )
    }

    fn archived(&self, id: Digest) -> Result<Line, RegistryError> {
        let record = self.show(id)?;
        let code = encode_hex(&self.code(&record)?);
        let text = self.records.read(id)?;
        let path = self.records.path(id);
        let record =
            String::from_utf8(text).map_err(|error| RegistryError::damaged(&path, error.to_string()))?;
        Ok(Line { id, record, code })
    }
}

fn read(path: &Path) -> Result<Vec<(Record, String, Vec<u8>)>, RegistryError> {
    let file = File::open(path).map_err(RegistryError::io(path))?;
    parse(path, BufReader::new(file))
}

/// Reads the content of an archive; `path` is its name in errors.
pub(crate) fn parse(
    path: &Path,
    content: impl BufRead,
) -> Result<Vec<(Record, String, Vec<u8>)>, RegistryError> {
    let mut arrivals = Vec::new();
    let mut lines = content.lines().zip(1_u64..);
    let wrong = |line, problem: String| RegistryError::Archive { path: path.to_owned(), line, problem };
    let not_one = || wrong(1, "not an archive of a registry".to_owned());
    let (header, _) = lines.next().ok_or_else(not_one)?;
    let header: Header = serde_json::from_str(&header.map_err(|_| not_one())?).map_err(|_| not_one())?;
    if header.tilewright_registry_archive > VERSION {
        let found = header.tilewright_registry_archive;
        return Err(wrong(
            1,
            format!("form {found}, this version reads up to {VERSION}; use a newer tilewright"),
        ));
    }
    for (text, number) in lines {
        let wrong = |problem: String| wrong(number, problem);
        let line: Line = text
            .map_err(|error| wrong(error.to_string()))
            .and_then(|text| serde_json::from_str(&text).map_err(|error| wrong(error.to_string())))?;
        let record = Record::decode(path, line.id, line.record.as_bytes())
            .map_err(|error| wrong(error.to_string()))?;
        let code = decode_hex(&line.code).ok_or_else(|| wrong("the code is not hexadecimal".to_owned()))?;
        check(record.kernel.subject(), &code).map_err(|refusal| wrong(refusal.to_string()))?;
        arrivals.push((record, line.record, code));
    }
    Ok(arrivals)
}

fn to_line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("invariant: strings and integers always serialise");
    line.push(b'\n');
    line
}
