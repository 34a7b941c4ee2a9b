//! `dnnl_sgemm` of oneDNN's newest build.
//!
//! That build schedules primitives over SYCL and finds no CPU device without an `OpenCL` run time;
//! this plain call needs none. Its pool takes as many threads as the process's affinity allows.

use std::ffi::{c_char, c_int};

use super::library::Library;
use super::onednn::introduce;
use super::{Absent, Contender, Entry, LibraryFile, Problem, Role, Setup, Unsupported};

pub(super) const ENTRY: Entry = Entry {
    name: "onednn-sgemm",
    about: "oneDNN's newest build, dnnl_sgemm",
    role: Role::Peer,
    library: Some(&LibraryFile { folder: "onednn-latest", prefixes: &["libdnnl.so.3"], system: false }),
    open,
};

type SgemmCall = unsafe extern "C" fn(
    c_char,
    c_char,
    i64,
    i64,
    i64,
    f32,
    *const f32,
    i64,
    *const f32,
    i64,
    f32,
    *mut f32,
    i64,
) -> c_int;

struct Sgemm {
    call: SgemmCall,
    introduction: String,
    problem: Option<Problem>,
}

fn open(setup: &Setup) -> Result<Box<dyn Contender>, Absent> {
    let library = Library::open(setup.library.as_deref())?;
    let introduction = introduce(&library)?;
    // SAFETY: the type is that of oneDNN's header.
    let call = unsafe { library.function(&["dnnl_sgemm"]) }?;
    Ok(Box::new(Sgemm { call, introduction, problem: None }))
}

impl Contender for Sgemm {
    fn describe_kernel(&self) -> String {
        format!("{}, dnnl_sgemm", self.introduction)
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        self.problem = Some(problem);
        Ok(())
    }

    fn run(&mut self) {
        let Some(problem) = self.problem else { return };
        let shape = problem.shape();
        let letter = |transposed: bool| if transposed { b'T' as c_char } else { b'N' as c_char };
        let (ta, tb) = (letter(shape.layout.a_transposed()), letter(shape.layout.b_transposed()));
        let (m, n, k) = (shape.m as i64, shape.n as i64, shape.k as i64);
        let (lda, ldb) = (shape.lda() as i64, shape.ldb() as i64);
        // SAFETY: row-major operands that `Problem` guarantees.
        unsafe { (self.call)(ta, tb, m, n, k, 1.0, problem.a(), lda, problem.b(), ldb, 0.0, problem.c(), n) };
    }
}
