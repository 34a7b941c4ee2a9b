//! AOCL-BLAS, the processor vendor's BLIS, through the C interface of BLAS: its special paths for
//! tiny and thin products begin there and not in the typed interface.

use super::blis::introduce;
use super::cblas::{PackedB, Plain};
use super::library::Library;
use super::{Absent, Contender, Entry, LibraryFile, Problem, Role, Setup, Unsupported};

const LIBRARY: &LibraryFile = &LibraryFile { folder: "aocl", prefixes: &["libblis-mt"], system: true };

pub(super) const ENTRY: Entry = Entry {
    name: "aocl",
    about: "AOCL-BLAS (AMD's BLIS), cblas_sgemm",
    role: Role::Peer,
    library: Some(LIBRARY),
    open,
};

pub(super) const PACKED: Entry = Entry {
    name: "aocl-packed",
    about: "AOCL-BLAS, B packed beforehand, cblas_sgemm_compute",
    role: Role::PackedPeer,
    library: Some(LIBRARY),
    open: open_packed,
};

struct Aocl {
    plain: Plain,
    kernel: String,
}

struct AoclPacked {
    packed: PackedB,
    kernel: String,
}

fn open(setup: &Setup) -> Result<Box<dyn Contender>, Absent> {
    let library = Library::open(setup.library.as_deref())?;
    let kernel = introduce(&library, setup.threads)?;
    Ok(Box::new(Aocl { plain: Plain::load(&library, &[""])?, kernel }))
}

fn open_packed(setup: &Setup) -> Result<Box<dyn Contender>, Absent> {
    let library = Library::open(setup.library.as_deref())?;
    let kernel = introduce(&library, setup.threads)?;
    Ok(Box::new(AoclPacked { packed: PackedB::load(&library)?, kernel }))
}

impl Contender for Aocl {
    fn describe_kernel(&self) -> String {
        format!("{}, {}", self.kernel, self.plain.call())
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        self.plain.prepare(problem);
        Ok(())
    }

    fn run(&mut self) {
        self.plain.run();
    }
}

impl Contender for AoclPacked {
    fn describe_kernel(&self) -> String {
        self.kernel.clone()
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        self.packed.prepare(problem)
    }

    fn run(&mut self) {
        self.packed.run();
    }
}
