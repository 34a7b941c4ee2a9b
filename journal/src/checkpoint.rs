//! A search's state as one file: magic, version, length and checksum before a bincode payload.
//!
//! The file is replaced as a whole: written beside the old one, forced to disk, renamed over it. A reader
//! sees the old state or the new one. This module is the only one that knows bincode.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Version of the framing. What the payload means is its owner's affair, and part of the payload.
pub const CHECKPOINT_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"TWCHKPT\n";
/// Magic, version, length of the payload, BLAKE3 of version, length and payload.
const HEADER: usize = 8 + 4 + 8 + 32;

/// Why a checkpoint cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The system refused.
    #[error("{path}: {error}")]
    Io {
        /// The checkpoint.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file does not begin like a checkpoint.
    #[error("{path} is not a checkpoint; remove it to rebuild the search from the journal")]
    Form {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a later version.
    #[error(
        "{path}: checkpoint of form {found}, this version reads {CHECKPOINT_VERSION}; use a newer tilewright"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version found.
        found: u32,
    },
    /// The file is cut off or was changed.
    #[error("{path}: damaged checkpoint; remove it to rebuild the search from the journal")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The payload is intact but not what the reader expects.
    #[error("{path}: checkpoint of something else: {problem}")]
    Payload {
        /// The file.
        path: PathBuf,
        /// What bincode said.
        problem: String,
    },
}

/// Replaces the checkpoint at `path` by `state`, which is on disk when this returns.
///
/// # Errors
/// When `state` cannot be serialised or the file cannot be written; the old checkpoint is untouched then.
pub fn write<T: Serialize>(path: &Path, state: &T) -> Result<(), CheckpointError> {
    let payload = bincode::serde::encode_to_vec(state, bincode::config::standard())
        .map_err(|error| CheckpointError::Payload { path: path.to_owned(), problem: error.to_string() })?;
    let mut file = Vec::with_capacity(HEADER + payload.len());
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&CHECKPOINT_VERSION.to_le_bytes());
    file.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    let sum = checksum(&file[MAGIC.len()..], &payload);
    file.extend_from_slice(&sum);
    file.extend_from_slice(&payload);
    tilewright_storage::replace(path, &file)
        .map_err(|error| CheckpointError::Io { path: path.to_owned(), error })
}

/// Reads the checkpoint at `path`.
///
/// # Errors
/// When the file is missing, damaged, from a later version, or holds something else than a `T`.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, CheckpointError> {
    let file = std::fs::read(path).map_err(|error| CheckpointError::Io { path: path.to_owned(), error })?;
    parse(path, &file)
}

/// Whether the file at `path` is whole and of this version, whatever it holds.
///
/// # Errors
/// When the file is missing, damaged or from a later version.
pub fn check(path: &Path) -> Result<(), CheckpointError> {
    let file = std::fs::read(path).map_err(|error| CheckpointError::Io { path: path.to_owned(), error })?;
    payload(path, &file).map(|_| ())
}

/// Reads the bytes of a checkpoint; `path` is where they lie, for errors.
///
/// # Errors
/// When they are damaged, from a later version, or hold something else than a `T`.
pub fn parse<T: DeserializeOwned>(path: &Path, file: &[u8]) -> Result<T, CheckpointError> {
    let payload = payload(path, file)?;
    let payload_error = |problem: String| CheckpointError::Payload { path: path.to_owned(), problem };
    let (state, used) = bincode::serde::decode_from_slice(payload, bincode::config::standard())
        .map_err(|error| payload_error(error.to_string()))?;
    if used == payload.len() {
        Ok(state)
    } else {
        Err(payload_error(format!("{} bytes left over", payload.len() - used)))
    }
}

fn payload<'a>(path: &Path, file: &'a [u8]) -> Result<&'a [u8], CheckpointError> {
    let damaged = || CheckpointError::Damaged { path: path.to_owned() };
    let rest = file.strip_prefix(&MAGIC).ok_or_else(|| CheckpointError::Form { path: path.to_owned() })?;
    let (version, rest) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
    let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
    let (sum, payload) = rest.split_first_chunk::<32>().ok_or_else(damaged)?;
    if u64::from_le_bytes(*length) != payload.len() as u64
        || *sum != checksum(&[&version[..], &length[..]].concat(), payload)
    {
        return Err(damaged());
    }
    let found = u32::from_le_bytes(*version);
    if found != CHECKPOINT_VERSION {
        return Err(CheckpointError::Newer { path: path.to_owned(), found });
    }
    Ok(payload)
}

fn checksum(header: &[u8], payload: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new().update(header).update(payload).finalize().as_bytes()
}

/// Makes length and checksum right where there is room for them.
#[cfg(test)]
#[expect(clippy::ptr_arg, reason = "the form of a change that may also lengthen")]
pub(crate) fn mend(file: &mut Vec<u8>) {
    if file.len() >= HEADER {
        let (header, payload) = file.split_at_mut(HEADER);
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&CHECKPOINT_VERSION.to_le_bytes());
        header[12..20].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        let sum = checksum(&header[8..20], payload);
        header[20..].copy_from_slice(&sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state() -> Vec<(String, Option<f64>, u64)> {
        vec![("evolution".to_owned(), Some(f64::NAN), 1), (String::new(), None, u64::MAX)]
    }

    #[test]
    fn a_state_is_read_back_and_a_second_replaces_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        write(&path, &state()).unwrap();
        let again: Vec<(String, Option<f64>, u64)> = read(&path).unwrap();
        assert!(again[0].1.unwrap().is_nan() && again[1] == state()[1]);
        write(&path, &7_u64).unwrap();
        assert_eq!(read::<u64>(&path).unwrap(), 7);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_the_old_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        write(&path, &1_u64).unwrap();
        std::fs::create_dir(folder.path().join("checkpoint.bin.new")).unwrap();
        assert!(matches!(write(&path, &2_u64), Err(CheckpointError::Io { .. })));
        assert_eq!(read::<u64>(&path).unwrap(), 1);
    }

    #[test]
    fn another_payload_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        write(&path, &state()).unwrap();
        assert!(matches!(read::<u8>(&path), Err(CheckpointError::Payload { .. })));
        std::fs::write(&path, b"PNG").unwrap();
        assert!(matches!(read::<u8>(&path), Err(CheckpointError::Form { .. })));
    }

    proptest! {
        // U071
        #[test]
        fn no_damage_goes_unnoticed(cut in 0_usize..200, bit in 0_usize..1600) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("checkpoint.bin");
            write(&path, &state()).unwrap();
            let whole = std::fs::read(&path).unwrap();
            std::fs::write(&path, &whole[..cut % whole.len()]).unwrap();
            prop_assert!(read::<Vec<(String, Option<f64>, u64)>>(&path).is_err());
            let mut flipped = whole.clone();
            flipped[(bit / 8) % whole.len()] ^= 1 << (bit % 8);
            std::fs::write(&path, &flipped).unwrap();
            prop_assert!(read::<Vec<(String, Option<f64>, u64)>>(&path).is_err());
        }
    }
}
