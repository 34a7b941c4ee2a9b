//! A reserved range of address space, unmapped on drop: the base of code memory and guarded buffers.

use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr;

use rustix::mm::{self, Advice, MapFlags, MprotectFlags, ProtFlags};
use serde::{Deserialize, Serialize};

use crate::RuntimeError;

/// Bytes of a transparent huge page on x86-64.
pub const HUGE_PAGE: usize = 2 << 20;

/// What a range of memory may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Loads only: a store faults.
    ReadOnly,
    /// Loads and stores.
    ReadWrite,
}

impl Access {
    fn protection(self) -> MprotectFlags {
        match self {
            Self::ReadOnly => MprotectFlags::READ,
            Self::ReadWrite => MprotectFlags::READ | MprotectFlags::WRITE,
        }
    }
}

/// What became of the wish for huge pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HugePages {
    /// Nobody asked.
    NotAsked,
    /// The buffer is smaller than one huge page.
    TooSmall,
    /// The system took the advice; whether it follows it shows in [`resident_huge_bytes`].
    Advised,
    /// The system refused the advice.
    Refused,
}

/// Address space of whole pages, inaccessible at first.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: a mapping is plain memory of the process, tied to no thread.
unsafe impl Send for Mapping {}
// SAFETY: shared use gives out the address only; all access through it is unsafe or borrow-checked by owners.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves `bytes` (whole pages) that fault on every access.
    pub(crate) fn reserve(bytes: usize) -> Result<Self, RuntimeError> {
        if bytes == 0 || !bytes.is_multiple_of(page_size()) || isize::try_from(bytes).is_err() {
            return Err(RuntimeError::Size(bytes));
        }
        // SAFETY: a null hint lets the system choose an unused range; nothing else refers to it.
        let base = unsafe {
            mm::mmap_anonymous(
                ptr::null_mut(),
                bytes,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }
        .map_err(RuntimeError::system("mmap"))?;
        Ok(Self { base: base.cast(), bytes })
    }

    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    fn range(&self, offset: usize, bytes: usize) -> Result<*mut c_void, RuntimeError> {
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        if !inside || !offset.is_multiple_of(page_size()) || !bytes.is_multiple_of(page_size()) {
            return Err(RuntimeError::Size(bytes));
        }
        Ok(self.base.wrapping_add(offset).cast())
    }

    /// Opens whole pages of the range for data.
    pub(crate) fn open(&mut self, offset: usize, bytes: usize, access: Access) -> Result<(), RuntimeError> {
        let start = self.range(offset, bytes)?;
        // SAFETY: the range lies in this mapping, and `&mut self` excludes references into it.
        unsafe { mm::mprotect(start, bytes, access.protection()) }.map_err(RuntimeError::system("mprotect"))
    }

    /// Turns the first pages into code: from here on they can be run and read, not written.
    pub(crate) fn seal_code(&mut self, bytes: usize) -> Result<(), RuntimeError> {
        let start = self.range(0, bytes)?;
        // SAFETY: as in `open`.
        unsafe { mm::mprotect(start, bytes, MprotectFlags::READ | MprotectFlags::EXEC) }
            .map_err(RuntimeError::system("mprotect"))
    }

    /// Replaces whole pages of the range by the first `bytes` of a file, shared with all who map it.
    pub(crate) fn share(
        &mut self,
        offset: usize,
        bytes: usize,
        file: BorrowedFd<'_>,
        access: Access,
    ) -> Result<(), RuntimeError> {
        let start = self.range(offset, bytes)?;
        let protection = match access {
            Access::ReadOnly => ProtFlags::READ,
            Access::ReadWrite => ProtFlags::READ | ProtFlags::WRITE,
        };
        // SAFETY: the range lies in this mapping, and `&mut self` excludes references into it.
        unsafe { mm::mmap(start, bytes, protection, MapFlags::SHARED | MapFlags::FIXED, file, 0) }
            .map(|_| ())
            .map_err(RuntimeError::system("mmap"))
    }

    /// Advises the system to back whole pages of the range by huge pages.
    pub(crate) fn advise_huge(&self, offset: usize, bytes: usize) -> HugePages {
        let Ok(start) = self.range(offset, bytes) else { return HugePages::Refused };
        // SAFETY: this advice changes no content.
        match unsafe { mm::madvise(start, bytes, Advice::LinuxHugepage) } {
            Ok(()) => HugePages::Advised,
            Err(_) => HugePages::Refused,
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping's own, and its owner is going away with all that borrows from it.
        let unmapped = unsafe { mm::munmap(self.base.cast(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// Bytes of a page.
pub(crate) fn page_size() -> usize {
    rustix::param::page_size()
}

/// Bytes of huge pages that back the mapping around an address now, as the system reports them in
/// `/proc/self/smaps`; `None` where that cannot be read.
pub fn resident_huge_bytes(address: *const u8) -> Option<u64> {
    huge_bytes_in(&std::fs::read_to_string("/proc/self/smaps").ok()?, address as usize as u64)
}

fn huge_bytes_in(smaps: &str, address: u64) -> Option<u64> {
    let (mut inside, mut found) = (false, None);
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        let first = words.next()?;
        if let Some((start, end)) = first.split_once('-') {
            let bounds = u64::from_str_radix(start, 16).ok().zip(u64::from_str_radix(end, 16).ok());
            inside = bounds.is_some_and(|(start, end)| (start..end).contains(&address));
        } else if inside && matches!(first, "AnonHugePages:" | "ShmemPmdMapped:") {
            let kib: u64 = words.next()?.parse().ok()?;
            found = Some(found.unwrap_or(0) + (kib << 10));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_huge_pages_of_one_mapping() {
        let smaps = "7f00-8f00 rw-p 0 0:0 0\nSize: 4 kB\nAnonHugePages: 0 kB\n\
                     9f00-af00 rw-p 0 0:0 0\nSize: 4 kB\nAnonHugePages: 4096 kB\nShmemPmdMapped: 2048 kB\n";
        assert_eq!(huge_bytes_in(smaps, 0x7f10), Some(0));
        assert_eq!(huge_bytes_in(smaps, 0x9f00), Some(6144 << 10));
        assert_eq!(huge_bytes_in(smaps, 0xaf00), None);
    }

    #[test]
    fn refuses_what_is_not_whole_pages() {
        assert!(matches!(Mapping::reserve(0), Err(RuntimeError::Size(0))));
        assert!(matches!(Mapping::reserve(100), Err(RuntimeError::Size(100))));
        let mut mapping = Mapping::reserve(2 * page_size()).unwrap();
        assert!(mapping.open(page_size(), 2 * page_size(), Access::ReadWrite).is_err());
        assert!(mapping.open(1, page_size(), Access::ReadWrite).is_err());
        assert!(mapping.open(page_size(), page_size(), Access::ReadWrite).is_ok());
    }
}
