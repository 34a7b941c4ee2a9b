use std::path::Path;

use serde::{Deserialize, Serialize};
use tilewright_stats::{Judged, Stored, Verdict};

use crate::{Digest, Kernel, Refusal, RegistryError};

/// Version of a record's form, raised when an older tool would misread one.
pub const RECORD_VERSION: u32 = 1;

/// A kernel that was accepted, judged anew when it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Digest of the record's bytes, which is its name.
    pub id: Digest,
    /// The kernel, with evidence and verdict.
    pub kernel: Judged<Kernel>,
    /// The verdict as stored; differs from the new one only if a gate has changed since.
    pub stored_verdict: Verdict,
}

#[derive(Serialize)]
struct Writing<'a> {
    version: u32,
    record: &'a Judged<Kernel>,
}

#[derive(Deserialize)]
struct Reading {
    record: Stored<Kernel>,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl Record {
    /// The bytes of a record.
    pub(crate) fn encode(kernel: &Judged<Kernel>) -> Result<Vec<u8>, Refusal> {
        let inconsistent = |problem: String| Refusal::Inconsistent(problem);
        let writing = Writing { version: RECORD_VERSION, record: kernel };
        let bytes = serde_json::to_vec(&writing).map_err(|error| inconsistent(error.to_string()))?;
        // JSON loses numbers that are not finite; such a record would not be what was judged.
        let again: Option<Reading> = serde_json::from_slice(&bytes).ok();
        let equal = again.is_some_and(|again| {
            again.record.subject == *kernel.subject() && again.record.evidence == *kernel.evidence()
        });
        if equal { Ok(bytes) } else { Err(inconsistent("it holds a number that is not finite".to_owned())) }
    }

    /// Reads the bytes of a record; `path` is where they lie, for errors.
    pub(crate) fn decode(path: &Path, id: Digest, bytes: &[u8]) -> Result<Self, RegistryError> {
        let found = Digest::of(bytes);
        if found != id {
            return Err(RegistryError::damaged(path, format!("its bytes have the digest {found}")));
        }
        let damaged = |error: serde_json::Error| RegistryError::damaged(path, error.to_string());
        let Version { version } = serde_json::from_slice(bytes).map_err(damaged)?;
        if version > RECORD_VERSION {
            return Err(RegistryError::Newer { path: path.to_owned(), found: version });
        }
        let Reading { record } = serde_json::from_slice(bytes).map_err(damaged)?;
        let stored_verdict = record.verdict.clone();
        let kernel =
            Judged::reread(record).map_err(|error| RegistryError::Reread { path: path.to_owned(), error })?;
        Ok(Self { id, kernel, stored_verdict })
    }
}
