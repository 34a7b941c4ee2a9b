//! Memory that nobody in this process can make writable, unmap or replace any more: `mseal`, since Linux 6.10.

use std::fs::File;
use std::io::{Read, Seek};

use super::{Confinement, Measure};

/// Number of the call on x86-64; too new for the bindings.
pub(super) const MSEAL: i64 = 462;

/// What is mapped in this process. It is opened while files can be opened, and read whenever asked.
#[derive(Debug)]
pub struct Maps(Option<File>);

impl Maps {
    /// Opens the system's list; where it cannot be opened, nothing is known to be mapped.
    pub fn open() -> Self {
        Self(File::open("/proc/self/maps").ok())
    }

    /// Mapped objects (the binary, libraries, the system's clock page): start, end, in order.
    pub(super) fn objects(&self) -> Vec<[u64; 2]> {
        let mut text = String::new();
        if let Some(mut file) = self.0.as_ref() {
            let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
            if read.is_err() {
                return Vec::new();
            }
        }
        objects_in(&text)
    }
}

/// Ranges of neighbouring mappings of the same file, and of the vDSO with its data.
fn objects_in(maps: &str) -> Vec<[u64; 2]> {
    let mut found: Vec<([u64; 2], &str)> = Vec::new();
    for line in maps.lines() {
        let mut fields = line.split_whitespace();
        let Some((start, end)) = fields.next().and_then(|range| range.split_once('-')) else { continue };
        let (Ok(start), Ok(end)) = (u64::from_str_radix(start, 16), u64::from_str_radix(end, 16)) else {
            continue;
        };
        let name = fields.nth(4).unwrap_or_default();
        let clock = name == "[vdso]" || name.starts_with("[vvar");
        // Shared memory for operands has names of its own.
        if !clock && (!name.starts_with('/') || name.starts_with("/memfd:")) {
            continue;
        }
        match found.last_mut() {
            Some((range, last))
                if range[1] == start && (*last == name || clock && last.starts_with("[v")) =>
            {
                range[1] = end;
            }
            _ => found.push(([start, end], name)),
        }
    }
    found.into_iter().map(|(range, _)| range).collect()
}

/// Seals the mapped objects, and whatever else the caller names.
pub(super) fn seal(ranges: &[[u64; 2]], confinement: &mut Confinement) {
    let mut refused = None;
    for [start, end] in ranges {
        // SAFETY: sealing changes no content and no protection.
        let answer = unsafe { libc::syscall(MSEAL, *start, end - start, 0) };
        if answer != 0 {
            let error = std::io::Error::last_os_error();
            let text = match error.raw_os_error() {
                Some(libc::ENOSYS) => "this kernel has no mseal".to_owned(),
                _ => format!("{error} at {start:#x}"),
            };
            refused.get_or_insert(text);
        }
    }
    match refused {
        None => confinement.applied.push(Measure::SealedMemory),
        Some(text) => confinement.refused.push((Measure::SealedMemory, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_whole() {
        let maps = "\
00400000-00401000 r--p 00000000 00:01 5 /bin/x\n\
00401000-00402000 r-xp 00001000 00:01 5 /bin/x\n\
00500000-00502000 rw-p 00000000 00:00 0 [heap]\n\
00502000-00503000 rw-s 00000000 00:01 7 /memfd:tilewright-shared (deleted)\n\
00600000-00601000 r-xp 00000000 00:01 6 /lib/y.so\n\
00700000-00704000 r--p 00000000 00:00 0 [vvar]\n\
00704000-00706000 r--p 00000000 00:00 0 [vvar_vclock]\n\
00706000-00708000 r-xp 00000000 00:00 0 [vdso]\n\
00708000-00709000 rw-p 00000000 00:00 0 [stack]\n";
        assert_eq!(
            objects_in(maps),
            [[0x40_0000, 0x40_2000], [0x60_0000, 0x60_1000], [0x70_0000, 0x70_8000]]
        );
        let own = Maps::open().objects();
        let here = objects_are_found_whole as fn() as usize as u64;
        assert!(own.iter().any(|[start, end]| (*start..*end).contains(&here)), "{own:x?}");
    }
}
