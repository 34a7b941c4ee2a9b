//! Files: unpacked, told apart by what they hold.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use tilewright_journal::JOURNAL_FILE;

use crate::builder::Builder;
use crate::document::Document;
use crate::error::RecordedError;
use crate::problem::Problem;
use crate::salvage::closed;
use crate::space::RecordedSpace;
use crate::{cache, campaign, t4};

/// Most bytes of an unpacked file.
const MOST_BYTES: u64 = 1 << 30;
/// First two bytes of a gzip file (RFC 1952).
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// What a file turned out to be.
#[derive(Debug, Clone)]
pub enum Content {
    /// Configurations with their times.
    Space(RecordedSpace),
    /// Parameters and conditions.
    Problem(Problem),
}

/// Reads a Kernel Tuner cache, T4 results or a T1 problem, each as it is or gzipped, or a campaign of
/// Tilewright's own (its folder, or the journal in it).
///
/// # Errors
/// When the file cannot be read, is of no known kind, or is damaged beyond being cut off.
pub fn read(path: &Path) -> Result<Content, RecordedError> {
    let file = path.display().to_string();
    let io = |error| RecordedError::Io { file: file.clone(), error };
    if path.is_dir() {
        return campaign::read(&path.join(JOURNAL_FILE)).map(Content::Space);
    }
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        return campaign::read(path).map(Content::Space);
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|open| open.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(io)?;
    parse(&bytes, &file)
}

/// Reads what a file of JSON holds; `name` stands for it in messages.
///
/// # Errors
/// When it is of no known kind, or damaged beyond being cut off.
pub fn parse(bytes: &[u8], name: &str) -> Result<Content, RecordedError> {
    let (unpacked, ended) = if bytes.starts_with(&GZIP) { unpack(bytes, name)? } else { (Vec::new(), true) };
    let text = if bytes.starts_with(&GZIP) { &unpacked[..] } else { bytes };
    if text.len() as u64 > MOST_BYTES {
        return Err(RecordedError::TooLarge { file: name.to_owned(), most_bytes: MOST_BYTES });
    }
    let mut cut_off = !ended;
    let document: Document = match serde_json::from_slice(text) {
        Ok(document) => document,
        Err(error) if error.is_eof() => {
            cut_off = true;
            let whole = closed(text).ok_or_else(|| syntax(name, &error))?;
            serde_json::from_slice(&whole).map_err(|error| syntax(name, &error))?
        }
        Err(error) => return Err(syntax(name, &error)),
    };
    let builder = Builder {
        file: name.to_owned(),
        kernel: "unnamed".to_owned(),
        device: "unnamed".to_owned(),
        digest: blake3::hash(text).to_hex().to_string(),
        cut_off,
        names: Vec::new(),
        rows: Vec::new(),
    };
    if document.cache.is_some() {
        cache::space(builder, document).map(Content::Space)
    } else if document.results.is_some() {
        t4::space(builder, document).map(Content::Space)
    } else if document.space.is_some() {
        Problem::new(name, document).map(Content::Problem)
    } else {
        Err(RecordedError::Unknown { file: name.to_owned() })
    }
}

/// Unpacked bytes, and whether the packed ones were whole.
fn unpack(bytes: &[u8], name: &str) -> Result<(Vec<u8>, bool), RecordedError> {
    let mut unpacked = Vec::new();
    match MultiGzDecoder::new(bytes).take(MOST_BYTES + 1).read_to_end(&mut unpacked) {
        Ok(_) => Ok((unpacked, true)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok((unpacked, false)),
        Err(error) => Err(RecordedError::Compression { file: name.to_owned(), error }),
    }
}

fn syntax(name: &str, error: &serde_json::Error) -> RecordedError {
    let text = error.to_string();
    // The parser repeats the place at the end of its message.
    let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
    RecordedError::Syntax { file: name.to_owned(), line: error.line(), column: error.column(), problem }
}
