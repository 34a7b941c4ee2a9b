//! Whether a file can be a kernel's library at all, looked at before anything runs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Bytes of an ELF header that say for what the file is.
const HEADER: usize = 20;
const ELF: &[u8] = b"\x7fELF";
const CLASS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;
const SHARED: u16 = 3;
const X86_64: u16 = 62;

/// Names of machines that libraries are likely to be for instead.
const MACHINES: [(u16, &str); 7] = [
    (3, "x86 with 32 bits"),
    (40, "Arm"),
    (183, "AArch64"),
    (243, "RISC-V"),
    (21, "POWER"),
    (22, "s390"),
    (8, "MIPS"),
];

/// The absolute path of a shared library for x86-64.
pub(crate) fn checked(path: &Path) -> Result<PathBuf> {
    let place = path.display();
    let absolute = std::fs::canonicalize(path).with_context(|| format!("no library {place}"))?;
    let mut header = [0; HEADER];
    let read = File::open(&absolute).and_then(|mut file| file.read_exact(&mut header));
    if let Err(error) = read {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => bail!("{place} is no shared library: it is too short"),
            _ => return Err(error).with_context(|| format!("cannot read {place}")),
        }
    }
    if !header.starts_with(ELF) {
        bail!(
            "{place} is no shared library: it does not begin like an ELF file (cc -shared -fPIC makes one)"
        );
    }
    let word = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let machine = word(18);
    if header[4] != CLASS_64 || header[5] != LITTLE_ENDIAN || machine != X86_64 {
        let name = MACHINES
            .iter()
            .find(|(number, _)| *number == machine)
            .map_or("another machine", |(_, name)| name);
        bail!("{place} is for {name}; kernels are for x86-64");
    }
    if word(16) != SHARED {
        bail!("{place} is no shared library but an object file or a program (cc -shared -fPIC makes one)");
    }
    Ok(absolute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my.so");
        let told = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            checked(&path).map_or_else(|error| format!("{error:#}"), |_| "fine".to_owned())
        };
        let header = |class: u8, kind: u16, machine: u16| {
            let mut header = b"\x7fELF".to_vec();
            header.extend([class, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            header.extend(kind.to_le_bytes());
            header.extend(machine.to_le_bytes());
            header
        };
        assert!(told(b"short").contains("too short"));
        assert!(told(&[b'x'; 100]).contains("does not begin like an ELF file"));
        assert!(told(&header(2, 3, 183)).contains("is for AArch64"));
        assert!(told(&header(1, 3, 3)).contains("32 bits"));
        assert!(told(&header(2, 1, 62)).contains("object file"));
        assert_eq!(told(&header(2, 3, 62)), "fine");
        assert!(checked(&folder.path().join("none.so")).unwrap_err().to_string().contains("no library"));
    }
}
