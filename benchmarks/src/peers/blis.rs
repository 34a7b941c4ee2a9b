//! BLIS as released upstream, through its own typed interface, which takes any strides.

use std::ffi::{c_char, c_int};

use super::library::{Library, text};
use super::{Absent, Contender, Entry, LibraryFile, Problem, Role, Setup, Unsupported};

pub(super) const ENTRY: Entry = Entry {
    name: "blis",
    about: "BLIS (upstream), bli_sgemm",
    role: Role::Peer,
    library: Some(&LibraryFile { folder: "blis", prefixes: &["libblis.so"], system: true }),
    open,
};

type Sgemm = unsafe extern "C" fn(
    c_int,
    c_int,
    i64,
    i64,
    i64,
    *const f32,
    *const f32,
    i64,
    i64,
    *const f32,
    i64,
    i64,
    *const f32,
    *mut f32,
    i64,
    i64,
);

struct Blis {
    sgemm: Sgemm,
    kernel: String,
    problem: Option<Problem>,
}

/// What a build of BLIS says of itself: version and configuration; sets its threads.
pub(super) fn introduce(library: &Library, threads: usize) -> Result<String, Absent> {
    // SAFETY: the types are those of BLIS's header, whose integers have 64 bits by default.
    unsafe {
        let set_threads: unsafe extern "C" fn(i64) = library.function(&["bli_thread_set_num_threads"])?;
        let version: unsafe extern "C" fn() -> *const c_char =
            library.function(&["bli_info_get_version_str"])?;
        let query: unsafe extern "C" fn() -> c_int = library.function(&["bli_arch_query_id"])?;
        let name: unsafe extern "C" fn(c_int) -> *const c_char = library.function(&["bli_arch_string"])?;
        set_threads(threads as i64);
        Ok(format!("{}, {} kernels", text(version()), text(name(query()))))
    }
}

fn open(setup: &Setup) -> Result<Box<dyn Contender>, Absent> {
    let library = Library::open(setup.library.as_deref())?;
    let kernel = format!("BLIS {}", introduce(&library, setup.threads)?);
    // SAFETY: the type is that of BLIS's header.
    let sgemm = unsafe { library.function(&["bli_sgemm"]) }?;
    Ok(Box::new(Blis { sgemm, kernel, problem: None }))
}

impl Contender for Blis {
    fn describe_kernel(&self) -> String {
        self.kernel.clone()
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        self.problem = Some(problem);
        Ok(())
    }

    fn run(&mut self) {
        const NO_TRANSPOSE: c_int = 0;
        let Some(problem) = self.problem else { return };
        let shape = problem.shape();
        let (m, n, k) = (shape.m as i64, shape.n as i64, shape.k as i64);
        let ((ar, ac), (br, bc)) = (shape.a_strides(), shape.b_strides());
        let (ar, ac, br, bc) = (ar as i64, ac as i64, br as i64, bc as i64);
        let (a, b, c) = (problem.a(), problem.b(), problem.c());
        let plain = NO_TRANSPOSE;
        // SAFETY: `Problem` guarantees operands of these extents and strides.
        unsafe { (self.sgemm)(plain, plain, m, n, k, &1.0, a, ar, ac, b, br, bc, &0.0, c, n, 1) };
    }
}
