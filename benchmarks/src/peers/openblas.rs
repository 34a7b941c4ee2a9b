//! `OpenBLAS`, through its C interface.
//!
//! Its environment (`OPENBLAS_CORETYPE` and others) can force an old kernel; contenders are started
//! without any such variable.

use std::ffi::{c_char, c_int};

use super::cblas::Plain;
use super::library::{Library, text};
use super::{Absent, Contender, Entry, LibraryFile, Problem, Role, Setup, Unsupported};

pub(super) const ENTRY: Entry = Entry {
    name: "openblas",
    about: "OpenBLAS, cblas_sgemm",
    role: Role::Peer,
    library: Some(&LibraryFile {
        folder: "openblas",
        prefixes: &["libscipy_openblas.", "libopenblas.so.0", "libopenblas.so", "libopenblasp"],
        system: true,
    }),
    open,
};

struct OpenBlas {
    plain: Plain,
    config: String,
    core: String,
}

fn open(setup: &Setup) -> Result<Box<dyn Contender>, Absent> {
    const PREFIXES: &[&str] = &["scipy_", ""];
    let library = Library::open(setup.library.as_deref())?;
    // SAFETY: the types are those of OpenBLAS's header.
    let (config, core, set_threads) = unsafe {
        (
            library.function::<unsafe extern "C" fn() -> *const c_char>(&[
                "scipy_openblas_get_config",
                "openblas_get_config",
            ])?,
            library.function::<unsafe extern "C" fn() -> *const c_char>(&[
                "scipy_openblas_get_corename",
                "openblas_get_corename",
            ])?,
            library.function::<unsafe extern "C" fn(c_int)>(&[
                "scipy_openblas_set_num_threads",
                "openblas_set_num_threads",
            ])?,
        )
    };
    // SAFETY: calls without preconditions; the texts are static.
    let (config, core) = unsafe {
        set_threads(setup.threads as c_int);
        (text(config()), text(core()))
    };
    Ok(Box::new(OpenBlas { plain: Plain::load(&library, PREFIXES)?, config, core }))
}

impl Contender for OpenBlas {
    fn describe_kernel(&self) -> String {
        let version = self.config.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        format!("{version}, {} kernels, {}", self.core, self.plain.call())
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        self.plain.prepare(problem);
        Ok(())
    }

    fn run(&mut self) {
        self.plain.run();
    }
}
