//! Memory between two pages that fault, so that a kernel that strays is caught at the first stray access.

use crate::mapping::{Access, HUGE_PAGE, HugePages, Mapping, page_size};
use crate::{RuntimeError, resident_huge_bytes};

/// Which guard page the data touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// The data ends where the trailing guard page starts: an overrun faults. When the size is no multiple
    /// of the alignment, fewer than `alignment` bytes lie between; those are watched as margin.
    AgainstEnd,
    /// The data starts where the leading guard page ends: an underrun faults, and the data starts on a page.
    AgainstStart,
}

/// What a guarded buffer should be like.
#[derive(Debug, Clone, Copy)]
pub struct BufferSpec {
    /// Bytes of data.
    pub bytes: usize,
    /// Where the data lies between the guards.
    pub placement: Placement,
    /// Least alignment of the data, bytes: a power of two up to the page size.
    pub alignment: usize,
    /// Whether to ask for transparent huge pages where the data is large enough.
    pub huge_pages: bool,
    /// The byte that fills data and margins at first.
    pub poison: u8,
}

impl BufferSpec {
    /// Of this size and placement, aligned to 64 bytes, without huge pages, filled with `0xA5`.
    pub fn new(bytes: usize, placement: Placement) -> Self {
        Self { bytes, placement, alignment: 64, huge_pages: false, poison: 0xA5 }
    }

    /// The same with this alignment.
    #[must_use]
    pub fn aligned(self, alignment: usize) -> Self {
        Self { alignment, ..self }
    }

    /// The same with huge pages asked for.
    #[must_use]
    pub fn huge(self) -> Self {
        Self { huge_pages: true, ..self }
    }
}

/// A reserved range: guard page, open pages with the data in them, guard page.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) mapping: Mapping,
    /// Offset of the open pages in the mapping, bytes.
    pub(crate) open: usize,
    /// Length of the open pages, bytes.
    pub(crate) open_bytes: usize,
    /// Offset of the data in the open pages, bytes.
    data: usize,
    bytes: usize,
    poison: u8,
    wants_huge: bool,
}

impl Guarded {
    /// Reserves the range and decides where the data lies; the caller opens the pages.
    pub(crate) fn reserve(spec: &BufferSpec) -> Result<Self, RuntimeError> {
        let page = page_size();
        if !spec.alignment.is_power_of_two() || spec.alignment > page {
            return Err(RuntimeError::Alignment(spec.alignment));
        }
        let too_large = RuntimeError::Size(spec.bytes);
        if spec.bytes > isize::MAX as usize / 2 {
            return Err(too_large);
        }
        let open_bytes = spec.bytes.max(1).next_multiple_of(page);
        let wants_huge = spec.huge_pages && open_bytes >= HUGE_PAGE;
        let slide = if wants_huge { HUGE_PAGE } else { 0 };
        let mapping = Mapping::reserve(open_bytes + slide + 2 * page)?;
        // With huge pages, the edge that the data touches is moved to a huge page's boundary.
        let edge = mapping.base() as usize
            + page
            + if spec.placement == Placement::AgainstEnd { open_bytes } else { 0 };
        let shift = if wants_huge { edge.next_multiple_of(HUGE_PAGE) - edge } else { 0 };
        let data = match spec.placement {
            Placement::AgainstStart => 0,
            Placement::AgainstEnd => (open_bytes - spec.bytes) & !(spec.alignment - 1),
        };
        Ok(Self {
            mapping,
            open: page + shift,
            open_bytes,
            data,
            bytes: spec.bytes,
            poison: spec.poison,
            wants_huge,
        })
    }

    /// Asks for huge pages when the specification did.
    pub(crate) fn advise(&self, spec: &BufferSpec) -> HugePages {
        match (spec.huge_pages, self.wants_huge) {
            (false, _) => HugePages::NotAsked,
            (true, false) => HugePages::TooSmall,
            (true, true) => self.mapping.advise_huge(self.open, self.open_bytes),
        }
    }

    pub(crate) fn data(&self) -> *mut u8 {
        self.mapping.base().wrapping_add(self.open + self.data)
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Start and end of the open pages.
    pub(crate) fn pages(&self) -> [u64; 2] {
        let start = self.mapping.base() as u64 + self.open as u64;
        [start, start + self.open_bytes as u64]
    }

    /// Fills data and margins with the poison byte.
    ///
    /// # Safety
    /// The pages are open for writing and nothing refers to them.
    pub(crate) unsafe fn fill_poison(&self) {
        let open = self.mapping.base().wrapping_add(self.open);
        // SAFETY: the open pages are writable and unshared by the caller's word.
        unsafe { open.write_bytes(self.poison, self.open_bytes) };
    }

    /// Whether the open bytes around the data still hold the poison.
    ///
    /// # Safety
    /// The pages are open and nobody writes to the margins meanwhile.
    pub(crate) unsafe fn margins_intact(&self) -> bool {
        let open = self.mapping.base().wrapping_add(self.open);
        // SAFETY: the open pages are readable by the caller's word.
        let all = unsafe { std::slice::from_raw_parts(open, self.open_bytes) };
        let after = self.data + self.bytes;
        all[..self.data].iter().chain(&all[after..]).all(|&byte| byte == self.poison)
    }
}

/// Memory of this process between two guard pages, filled with a poison byte at first.
#[derive(Debug)]
pub struct GuardedBuffer {
    guarded: Guarded,
    access: Access,
    huge_pages: HugePages,
}

impl GuardedBuffer {
    /// Maps the buffer and fills it with the poison byte, so all its pages are resident.
    ///
    /// # Errors
    /// When the alignment is not a power of two up to the page size, or the system refuses the memory.
    pub fn new(spec: &BufferSpec) -> Result<Self, RuntimeError> {
        let mut guarded = Guarded::reserve(spec)?;
        guarded.mapping.open(guarded.open, guarded.open_bytes, Access::ReadWrite)?;
        let huge_pages = guarded.advise(spec);
        // SAFETY: just opened, and not handed out yet.
        unsafe { guarded.fill_poison() };
        Ok(Self { guarded, access: Access::ReadWrite, huge_pages })
    }

    /// Address of the data; valid for [`GuardedBuffer::len`] bytes while `self` lives.
    pub fn as_ptr(&self) -> *mut u8 {
        self.guarded.data()
    }

    /// Start and end of the pages that the data lies on.
    pub fn pages(&self) -> [u64; 2] {
        self.guarded.pages()
    }

    /// Bytes of data.
    pub fn len(&self) -> usize {
        self.guarded.len()
    }

    /// Whether there is no data at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The data.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the data is mapped and readable; kernels that write to it are launched by unsafe calls,
        // whose callers vouch that no such reference is alive.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len()) }
    }

    /// The data for writing, `None` while it is read-only.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        // SAFETY: as in `bytes`, and writable; `&mut self` makes it the only reference.
        (self.access == Access::ReadWrite)
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.len()) })
    }

    /// Makes the data read-only (a store by a kernel faults) or writable again.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_access(&mut self, access: Access) -> Result<(), RuntimeError> {
        let (offset, bytes) = (self.guarded.open, self.guarded.open_bytes);
        self.guarded.mapping.open(offset, bytes, access)?;
        self.access = access;
        Ok(())
    }

    /// Whether the bytes between data and guard pages still hold the poison: a stray store too near to
    /// fault shows here.
    pub fn margins_intact(&self) -> bool {
        // SAFETY: the pages are open; kernels run in unsafe calls only.
        unsafe { self.guarded.margins_intact() }
    }

    /// What became of the wish for huge pages.
    pub fn huge_pages(&self) -> HugePages {
        self.huge_pages
    }

    /// Bytes of the buffer that huge pages back now, where the system tells.
    pub fn resident_huge_bytes(&self) -> Option<u64> {
        resident_huge_bytes(self.as_ptr())
    }
}

#[cfg(test)]
#[path = "guarded_tests.rs"]
mod tests;
