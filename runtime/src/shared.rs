//! Guarded memory that a coordinator and its worker process both map.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::FdFlags;

use crate::RuntimeError;
use crate::guarded::{BufferSpec, Guarded};
use crate::mapping::{Access, HugePages};

/// Memory behind a descriptor, with guard pages around it in every process that maps it.
///
/// The parent creates it, starts the child while the descriptor is inheritable, and tells it the
/// descriptor's number and the [`BufferSpec`]; the child calls [`SharedBuffer::inherit`]. The size is sealed,
/// so that no holder can shrink it under another's feet. Since other processes may write at any time,
/// references to the data are given out by unsafe functions only.
#[derive(Debug)]
pub struct SharedBuffer {
    guarded: Guarded,
    file: OwnedFd,
    huge_pages: HugePages,
}

impl SharedBuffer {
    /// Creates the memory, filled with the poison byte. Its descriptor is inherited by child processes until
    /// [`SharedBuffer::set_inheritable`] says otherwise.
    ///
    /// # Errors
    /// When the alignment is not a power of two up to the page size, or the system refuses the memory.
    pub fn create(spec: &BufferSpec) -> Result<Self, RuntimeError> {
        let guarded = Guarded::reserve(spec)?;
        let file = rustix::fs::memfd_create("tilewright-shared", MemfdFlags::ALLOW_SEALING)
            .map_err(RuntimeError::system("memfd_create"))?;
        rustix::fs::ftruncate(&file, guarded.open_bytes as u64).map_err(RuntimeError::system("ftruncate"))?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)
            .map_err(RuntimeError::system("fcntl F_ADD_SEALS"))?;
        let buffer = Self::map(guarded, file, spec, Access::ReadWrite)?;
        // SAFETY: just opened for writing, and nobody else has it yet.
        unsafe { buffer.guarded.fill_poison() };
        Ok(buffer)
    }

    /// Maps the memory that a parent process created with the same specification, and takes over the
    /// descriptor, which later children of this process do not inherit. The content is left as it is.
    ///
    /// # Errors
    /// When the descriptor is not open or not of the size that the specification asks for.
    ///
    /// # Safety
    /// `descriptor` was inherited for this purpose, and nothing else in this process owns it.
    pub unsafe fn inherit(
        descriptor: RawFd,
        spec: &BufferSpec,
        access: Access,
    ) -> Result<Self, RuntimeError> {
        // SAFETY: borrowed only to ask whether it is open; an unused number is answered by an error.
        let candidate = unsafe { BorrowedFd::borrow_raw(descriptor) };
        rustix::io::fcntl_setfd(candidate, FdFlags::CLOEXEC)
            .map_err(RuntimeError::system("fcntl F_SETFD"))?;
        // SAFETY: it is open, and ours by the caller's word.
        let file = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let guarded = Guarded::reserve(spec)?;
        let found = rustix::fs::fstat(&file).map_err(RuntimeError::system("fstat"))?.st_size;
        if found != guarded.open_bytes as i64 {
            return Err(RuntimeError::Size(found as usize));
        }
        Self::map(guarded, file, spec, access)
    }

    fn map(
        mut guarded: Guarded,
        file: OwnedFd,
        spec: &BufferSpec,
        access: Access,
    ) -> Result<Self, RuntimeError> {
        let (offset, bytes) = (guarded.open, guarded.open_bytes);
        guarded.mapping.share(offset, bytes, file.as_fd(), access)?;
        let huge_pages = guarded.advise(spec);
        Ok(Self { guarded, file, huge_pages })
    }

    /// Whether processes started from now on inherit the descriptor.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_inheritable(&self, inheritable: bool) -> Result<(), RuntimeError> {
        let flags = if inheritable { FdFlags::empty() } else { FdFlags::CLOEXEC };
        rustix::io::fcntl_setfd(&self.file, flags).map_err(RuntimeError::system("fcntl F_SETFD"))
    }

    /// Number of the descriptor, to be told to the child.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Address of the data in this process; valid for [`SharedBuffer::len`] bytes while `self` lives.
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
    ///
    /// # Safety
    /// No process writes to it while the reference lives.
    pub unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: mapped and readable; stable by the caller's word.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len()) }
    }

    /// The data for writing.
    ///
    /// # Safety
    /// It was mapped [`Access::ReadWrite`], and no other process touches it while the reference lives.
    pub unsafe fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped, writable and unshared by the caller's word.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.len()) }
    }

    /// Whether the bytes between data and guard pages still hold the poison of the specification.
    ///
    /// # Safety
    /// No process writes to them meanwhile.
    pub unsafe fn margins_intact(&self) -> bool {
        // SAFETY: the pages are open; stable by the caller's word.
        unsafe { self.guarded.margins_intact() }
    }

    /// What became of the wish for huge pages.
    pub fn huge_pages(&self) -> HugePages {
        self.huge_pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarded::Placement;
    use crate::testing::{Ended, child};

    fn spec() -> BufferSpec {
        BufferSpec::new(5000, Placement::AgainstEnd).aligned(4)
    }

    /// In the child: maps what the parent created.
    fn inherited(argument: &str, access: Access) -> SharedBuffer {
        // SAFETY: the parent passed the number of a descriptor it left open for this.
        unsafe { SharedBuffer::inherit(argument.parse().unwrap(), &spec(), access) }.unwrap()
    }

    #[test]
    fn child_and_parent_see_each_other_write() {
        let mut buffer = SharedBuffer::create(&spec()).unwrap();
        // SAFETY: no child runs yet.
        unsafe { buffer.bytes_mut()[4999] = 42 };
        let descriptor = buffer.descriptor().to_string();
        let ended = child("shared::tests::child_and_parent_see_each_other_write", &descriptor, |argument| {
            let mut buffer = inherited(argument, Access::ReadWrite);
            // SAFETY: the parent waits for this process to end.
            let bytes = unsafe { buffer.bytes_mut() };
            assert_eq!((bytes[0], bytes[4999]), (0xA5, 42));
            bytes[0] = 43;
        });
        assert_eq!(ended, Ended::Completed);
        // SAFETY: the child has ended.
        unsafe {
            assert_eq!(buffer.bytes()[0], 43);
            assert!(buffer.margins_intact());
        }
    }

    #[test]
    fn overrun_in_the_child_faults() {
        let buffer = SharedBuffer::create(&spec()).unwrap();
        let descriptor = buffer.descriptor().to_string();
        let ended = child("shared::tests::overrun_in_the_child_faults", &descriptor, |argument| {
            let buffer = inherited(argument, Access::ReadWrite);
            // SAFETY: none: this is the fault under test, in a process of its own.
            unsafe { buffer.as_ptr().wrapping_add(5000).write_volatile(1) };
        });
        assert_eq!(ended, Ended::By(rustix::process::Signal::SEGV));
    }

    #[test]
    fn a_read_only_map_faults_on_a_store() {
        let buffer = SharedBuffer::create(&spec()).unwrap();
        let descriptor = buffer.descriptor().to_string();
        let ended = child("shared::tests::a_read_only_map_faults_on_a_store", &descriptor, |argument| {
            let buffer = inherited(argument, Access::ReadOnly);
            // SAFETY: none: this is the fault under test, in a process of its own.
            unsafe { buffer.as_ptr().write_volatile(1) };
        });
        assert_eq!(ended, Ended::By(rustix::process::Signal::SEGV));
    }

    #[test]
    fn nobody_can_shrink_it() {
        let buffer = SharedBuffer::create(&spec()).unwrap();
        assert!(rustix::fs::ftruncate(&buffer.file, 0).is_err());
    }

    #[test]
    fn a_closed_descriptor_is_an_error() {
        // SAFETY: nobody owns a descriptor of this number.
        let refused = unsafe { SharedBuffer::inherit(987_654, &spec(), Access::ReadWrite) };
        assert!(matches!(refused, Err(RuntimeError::System { call: "fcntl F_SETFD", .. })));
    }
}
