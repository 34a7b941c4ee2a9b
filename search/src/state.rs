//! State of strategies and bandits as bytes, for checkpoints.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why a state cannot be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// A value has no binary form.
    #[error("state cannot be written: {0}")]
    Unwritable(String),
    /// The bytes are no state of this kind.
    #[error("state cannot be read: {0}")]
    Unreadable(String),
}

pub(crate) fn write<T: Serialize>(state: &T) -> Result<Vec<u8>, StateError> {
    bincode::serde::encode_to_vec(state, bincode::config::standard())
        .map_err(|error| StateError::Unwritable(error.to_string()))
}

pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StateError> {
    match bincode::serde::decode_from_slice(bytes, bincode::config::standard()) {
        Ok((state, used)) if used == bytes.len() => Ok(state),
        Ok((_, used)) => Err(StateError::Unreadable(format!("{} bytes left over", bytes.len() - used))),
        Err(error) => Err(StateError::Unreadable(error.to_string())),
    }
}
