//! Code memory that is never writable and executable at once.

use std::collections::BTreeMap;

use tilewright_codegen::{Artifact, KernelArguments};

use crate::RuntimeError;
use crate::mapping::{Access, Mapping, page_size};

/// How a kernel is entered; see [`KernelArguments`] for the contract.
pub type KernelEntry = unsafe extern "sysv64" fn(*const KernelArguments);

/// `int3`: what runs off the end of the code traps.
const TRAP: u8 = 0xCC;

/// The machine code of one artifact, mapped to run; unmapped on drop.
///
/// The code starts on a page, so it is aligned to 64 bytes. The mapping is writable only while the bytes
/// are copied and executable only after that. The rest of the last page traps.
#[derive(Debug)]
pub struct ExecutableCode {
    mapping: Mapping,
    entries: BTreeMap<String, u64>,
    code_bytes: usize,
}

impl ExecutableCode {
    /// Maps the artifact's code.
    ///
    /// # Errors
    /// When the artifact has no code, an entry lies outside it, or the system refuses the memory.
    pub fn load(artifact: &Artifact) -> Result<Self, RuntimeError> {
        let code = &artifact.code;
        if code.is_empty() {
            return Err(RuntimeError::EmptyCode);
        }
        if let Some(entry) = artifact.entries.iter().find(|entry| entry.offset >= code.len() as u64) {
            let name = entry.name.clone();
            return Err(RuntimeError::EntryOutside { name, offset: entry.offset, bytes: code.len() });
        }
        let bytes = code.len().next_multiple_of(page_size());
        let mut mapping = Mapping::reserve(bytes)?;
        mapping.open(0, bytes, Access::ReadWrite)?;
        // SAFETY: the mapping is `bytes` long, writable, and nobody else knows it yet.
        let target = unsafe { std::slice::from_raw_parts_mut(mapping.base(), bytes) };
        target[..code.len()].copy_from_slice(code);
        target[code.len()..].fill(TRAP);
        mapping.seal_code(bytes)?;
        let entries = artifact.entries.iter().map(|entry| (entry.name.clone(), entry.offset)).collect();
        Ok(Self { mapping, entries, code_bytes: code.len() })
    }

    /// The function of this entry point. It must not be called after `self` is dropped.
    ///
    /// # Errors
    /// When there is no entry of this name.
    pub fn entry(&self, name: &str) -> Result<KernelEntry, RuntimeError> {
        let offset = *self.entries.get(name).ok_or_else(|| RuntimeError::NoEntry(name.to_owned()))?;
        let address: *const u8 = self.mapping.base().wrapping_add(offset as usize);
        // SAFETY: the address lies inside mapped code, and a function pointer is as wide as a data pointer.
        // Calling it stays unsafe: only the caller can vouch for the code and its arguments.
        Ok(unsafe { std::mem::transmute::<*const u8, KernelEntry>(address) })
    }

    /// Where the code starts.
    pub fn address(&self) -> *const u8 {
        self.mapping.base()
    }

    /// Length of the code, bytes.
    pub fn code_bytes(&self) -> usize {
        self.code_bytes
    }
}

#[cfg(test)]
mod tests {
    use tilewright_codegen::EntryPoint;

    use super::*;
    use crate::testing::{Ended, artifact, child};

    #[test]
    fn runs_the_entry_that_was_asked_for() {
        // store: mov qword [rdi+24], 7; ret. stay: ret
        let code = vec![0x48, 0xC7, 0x47, 0x18, 7, 0, 0, 0, 0xC3, 0xC3];
        let mut artifact = artifact(code, 1, 0);
        artifact.entries = vec![
            EntryPoint { name: "store".into(), offset: 0 },
            EntryPoint { name: "stay".into(), offset: 9 },
        ];
        let code = ExecutableCode::load(&artifact).unwrap();
        assert_eq!(code.address() as usize % 64, 0);
        assert_eq!(code.code_bytes(), 10);
        let mut arguments = crate::testing::no_arguments();
        for (name, expected) in [("stay", 0), ("store", 7)] {
            let entry = code.entry(name).unwrap();
            // SAFETY: the code above touches `worker` only.
            unsafe { entry(&raw mut arguments) };
            assert_eq!(arguments.worker, expected);
        }
        assert!(matches!(code.entry("other"), Err(RuntimeError::NoEntry(name)) if name == "other"));
    }

    #[test]
    fn refuses_entries_outside_the_code() {
        let mut bad = artifact(vec![0xC3], 1, 0);
        bad.entries[0].offset = 1;
        assert!(matches!(ExecutableCode::load(&bad), Err(RuntimeError::EntryOutside { offset: 1, .. })));
        assert!(matches!(ExecutableCode::load(&artifact(vec![], 1, 0)), Err(RuntimeError::EmptyCode)));
    }

    #[test]
    fn code_cannot_be_overwritten() {
        let ended = child("executable::tests::code_cannot_be_overwritten", "-", |_| {
            let code = ExecutableCode::load(&artifact(vec![0xC3], 1, 0)).unwrap();
            // SAFETY: none: this is the fault under test, in a process of its own.
            unsafe { code.address().cast_mut().write_volatile(0x90) };
        });
        assert_eq!(ended, Ended::By(rustix::process::Signal::SEGV));
    }

    #[test]
    fn running_off_the_end_traps() {
        let ended = child("executable::tests::running_off_the_end_traps", "-", |_| {
            let code = ExecutableCode::load(&artifact(vec![0x90], 1, 0)).unwrap();
            // SAFETY: none: this is the trap under test, in a process of its own.
            unsafe { code.entry("run").unwrap()(&crate::testing::no_arguments()) };
        });
        assert_eq!(ended, Ended::By(rustix::process::Signal::TRAP));
    }
}
