//! Operands in memory that every contender's process maps: all work on the same pages.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr::NonNull;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::Shape;
use crate::peers::Problem;

/// Each operand begins on a page, so that no contender depends on its neighbour's end.
const PAGE: usize = 4096;
const SPOILT: f32 = 1e30;

/// A, B and C of one shape at a time, in a mapping shared between processes.
pub struct SharedBuffers {
    file: OwnedFd,
    base: NonNull<f32>,
    bytes: usize,
}

impl SharedBuffers {
    /// Creates room for the largest of `shapes`; child processes inherit the descriptor.
    ///
    /// # Errors
    /// Whatever the system says when it refuses the memory.
    pub fn create(shapes: &[Shape]) -> io::Result<Self> {
        let bytes = shapes.iter().map(|shape| offsets(shape)[3]).max().unwrap_or(PAGE);
        // Not close-on-exec: the children find the descriptor under the same number.
        let file = memfd_create("tilewright-peers", MemfdFlags::empty())?;
        ftruncate(&file, bytes as u64)?;
        Self::map(file, bytes)
    }

    /// Maps the buffers of the parent process from the descriptor inherited as `number`.
    ///
    /// # Errors
    /// When the descriptor is none, or too small.
    pub fn inherit(number: RawFd) -> io::Result<Self> {
        // SAFETY: the parent left this descriptor open for us and nothing else in this process,
        // which has only just started, uses the number; duplicating leaves the original alone.
        let file = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()?;
        let bytes = rustix::fs::fstat(&file)?.st_size as usize;
        Self::map(file, bytes)
    }

    /// The number under which children inherit the descriptor.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// The operands of `shape` as a problem to hand to a contender.
    ///
    /// # Errors
    /// When the buffers were not created for so large a shape.
    pub fn problem(&self, shape: Shape) -> io::Result<Problem> {
        let [a, b, c, end] = offsets(&shape);
        if end > self.bytes {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "shape larger than the buffers"));
        }
        let at = |offset: usize| self.base.as_ptr().wrapping_byte_add(offset);
        // SAFETY: the three ranges lie inside the mapping, do not overlap and are page-aligned; the
        // mapping outlives the process's use of it, as contenders run only while `self` is alive.
        Ok(unsafe { Problem::new(shape, at(a), at(b), at(c)) })
    }

    /// Fills A and B with seeded values in [-1, 1) and spoils C.
    ///
    /// # Errors
    /// When the buffers were not created for so large a shape.
    pub fn fill(&mut self, shape: Shape, seed: u64) -> io::Result<()> {
        let problem = self.problem(shape)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = || (rng.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
        for (pointer, count) in [(problem.a(), shape.m * shape.k), (problem.b(), shape.k * shape.n)] {
            // SAFETY: `problem` checked the range; no contender runs while the parent fills.
            let operand = unsafe { std::slice::from_raw_parts_mut(pointer.cast_mut(), count) };
            operand.fill_with(&mut draw);
        }
        self.spoil_result(shape)
    }

    /// Fills C with a value far above any result. It is finite, since some peers multiply what they
    /// find by zero.
    ///
    /// # Errors
    /// When the buffers were not created for so large a shape.
    pub fn spoil_result(&mut self, shape: Shape) -> io::Result<()> {
        let problem = self.problem(shape)?;
        // SAFETY: as in `fill`.
        unsafe { std::slice::from_raw_parts_mut(problem.c(), shape.m * shape.n) }.fill(SPOILT);
        Ok(())
    }

    fn map(file: OwnedFd, bytes: usize) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let base =
            unsafe { mmap(std::ptr::null_mut(), bytes, protection, MapFlags::SHARED, file.as_fd(), 0) }?;
        let base = NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mapped at address zero"))?;
        Ok(Self { file, base, bytes })
    }
}

impl Drop for SharedBuffers {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` and is not used after.
        // A failure would only leave the mapping until the process ends.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// Byte offsets of A, B, C and of the end.
fn offsets(shape: &Shape) -> [usize; 4] {
    let pages = |elements: usize| (elements * size_of::<f32>()).next_multiple_of(PAGE);
    let b = pages(shape.m * shape.k);
    let c = b + pages(shape.k * shape.n);
    [0, b, c, c + pages(shape.m * shape.n)]
}
