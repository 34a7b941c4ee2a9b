//! Kernels kept in a registry, ready to load.

use tilewright_codegen::{Artifact, EntryPoint, Isa, isa};
use tilewright_ir::WorkloadKey;
use tilewright_registry::{Conditions, Digest, Record, Registry, RegistryError};

/// Why a kept kernel cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    /// The registry cannot be read, or the record is damaged.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The kernel needs instructions that this processor, or this version, does not have.
    #[error("record {record} needs instruction set `{isa}`, which this processor or this version lacks")]
    InstructionSet {
        /// The record.
        record: String,
        /// What it needs.
        isa: String,
    },
}

/// What is kept for a key.
#[derive(Debug)]
pub enum Dispatched {
    /// Nothing.
    Nothing,
    /// A kernel that must be verified again before it is served (`tilewright registry verify`).
    Unverified {
        /// The record.
        record: Digest,
        /// What has changed since it was verified, one phrase each.
        reasons: Vec<String>,
    },
    /// A kernel to serve.
    Kernel(Box<Record>, Artifact),
}

/// The kernel to serve for this key: the current record, measured on this device and verified under the conditions of
/// `now` ([`crate::HostFacts::conditions`]).
///
/// # Errors
/// When the record or its code is damaged, or needs instructions that are not there.
pub fn dispatch(
    registry: &Registry,
    key: &WorkloadKey,
    now: &Conditions,
) -> Result<Dispatched, DispatchError> {
    let Some(record) = registry.lookup(key)? else { return Ok(Dispatched::Nothing) };
    let reasons = registry.unverified(&record, now)?;
    if !reasons.is_empty() {
        return Ok(Dispatched::Unverified { record: record.id, reasons });
    }
    let artifact = artifact_of(registry, &record)?;
    Ok(Dispatched::Kernel(Box::new(record), artifact))
}

/// The machine code of a record, its digest checked.
///
/// # Errors
/// As [`dispatch`].
pub fn artifact_of(registry: &Registry, record: &Record) -> Result<Artifact, DispatchError> {
    let facts = &record.kernel.subject().artifact;
    if !isa(&facts.isa).is_some_and(Isa::available) {
        return Err(DispatchError::InstructionSet { record: record.id.to_string(), isa: facts.isa.clone() });
    }
    let entries = facts.entries.iter();
    let entries = entries.map(|entry| EntryPoint { name: entry.name.clone(), offset: entry.offset });
    Ok(Artifact {
        isa: facts.isa.clone(),
        code: registry.code(record)?,
        entries: entries.collect(),
        workers: facts.workers,
        workspace_bytes: facts.workspace_bytes,
    })
}
