//! Everything that can multiply two matrices here, one file each.
//!
//! A new contender is one file with an `open` function and one line in [`CONTENDERS`].

mod aocl;
mod blis;
mod cblas;
mod ceiling;
mod faer;
mod gemm;
mod library;
mod libxsmm;
mod matrixmultiply;
mod mkl;
mod onednn;
mod onednn_sgemm;
mod openblas;
mod problem;
mod tilewright;

use std::path::PathBuf;

pub use library::{LibraryFile, Search};
pub use problem::Problem;

/// Something that multiplies: a library, or one of its ways to be called.
pub trait Contender {
    /// The kernel or instruction set that the library chose, as it says itself; asked after
    /// [`prepare`](Contender::prepare), since some choose by shape.
    fn describe_kernel(&self) -> String;

    /// Gets ready for a problem outside the timed part: makes plans, packs what the way of calling
    /// packs once.
    ///
    /// # Errors
    /// [`Unsupported`] when there is no such product in the library.
    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported>;

    /// Multiplies the prepared problem once.
    fn run(&mut self);

    /// Operations of one launch where they are not those of the shape; then C is not written.
    fn own_flops(&self) -> Option<f64> {
        None
    }
}

/// Why a contender does not exist here, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {remedy}")]
pub struct Absent {
    /// What is missing.
    pub why: String,
    /// How to get it.
    pub remedy: String,
}

/// The library has no kernel for this problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// What a contender may need to open itself.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Threads to use.
    pub threads: usize,
    /// The shared library found for it, where it is one.
    pub library: Option<PathBuf>,
    /// Tilewright's registry.
    pub registry: Option<PathBuf>,
}

/// How a contender is found and made.
pub struct Entry {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Whose kernels are timed.
    pub role: Role,
    /// The shared library that it needs.
    pub library: Option<&'static LibraryFile>,
    /// Loads it, in the process that will run it.
    pub open: fn(&Setup) -> Result<Box<dyn Contender>, Absent>,
}

/// What a contender is compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What the machine can do at most.
    Ceiling,
    /// The kernels of this project.
    Subject,
    /// Someone else's.
    Peer,
    /// Someone else's, with the right operand packed before the timing: faster than a plain call can
    /// be, so shown but never the best peer of plain calls.
    PackedPeer,
}

/// Every contender, in the order of the table's columns.
pub const CONTENDERS: &[Entry] = &[
    ceiling::ENTRY,
    tilewright::ENTRY,
    openblas::ENTRY,
    blis::ENTRY,
    aocl::ENTRY,
    aocl::PACKED,
    onednn::ENTRY,
    onednn::PACKED,
    onednn_sgemm::ENTRY,
    mkl::ENTRY,
    mkl::PACKED,
    mkl::JIT,
    libxsmm::ENTRY,
    gemm::ENTRY,
    faer::ENTRY,
    matrixmultiply::ENTRY,
];

/// The contender of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CONTENDERS.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_there_is_one_ceiling_and_one_subject() {
        for entry in CONTENDERS {
            assert_eq!(CONTENDERS.iter().filter(|other| other.name == entry.name).count(), 1);
            assert!(find(entry.name).is_some());
        }
        for role in [Role::Ceiling, Role::Subject] {
            assert_eq!(CONTENDERS.iter().filter(|entry| entry.role == role).count(), 1);
        }
    }
}
