//! libxsmm: a kernel generated for small shapes, its tiled product above that.
//!
//! What it has no kernel for (remainders of the tiled product, some transpositions) it hands to a
//! BLAS library. The one linked here only counts such calls, and this contender says so.
//!
//! It is column-major, so the row-major product `C = A·B` is asked for as `Cᵀ = Bᵀ·Aᵀ`.

use std::ffi::{c_char, c_int, c_void};

use super::library::{Library, text};
use super::{Absent, Contender, Entry, LibraryFile, Problem, Role, Setup, Unsupported};

pub(super) const ENTRY: Entry = Entry {
    name: "libxsmm",
    about: "libxsmm, generated kernel (small) or tiled product",
    role: Role::Peer,
    library: Some(&LibraryFile { folder: "libxsmm", prefixes: &["libxsmm.so"], system: true }),
    open,
};

/// Products up to the cube of this are one generated kernel, as libxsmm itself would decide.
const SMALL: usize = 64;

type Kernel = unsafe extern "C" fn(*const f32, *const f32, *mut f32);
type Dispatch = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    *const c_int,
    *const c_int,
    *const c_int,
    *const f32,
    *const f32,
    *const c_int,
    *const c_int,
) -> Option<Kernel>;
type Tiled = unsafe extern "C" fn(
    c_int,
    c_int,
    *const c_char,
    *const c_char,
    *const c_int,
    *const c_int,
    *const c_int,
    *const c_void,
    *const c_void,
    *const c_int,
    *const c_void,
    *const c_int,
    *const c_void,
    *mut c_void,
    *const c_int,
);

struct Libxsmm {
    dispatch: Dispatch,
    tiled: Tiled,
    target: String,
    /// How often a BLAS library would have been called.
    blas_calls: *const c_int,
    kernel: Option<Kernel>,
    problem: Option<Problem>,
}

fn open(setup: &Setup) -> Result<Box<dyn Contender>, Absent> {
    let library = Library::open(setup.library.as_deref())?;
    // SAFETY: the types are those of libxsmm's header; it is initialised before it is asked.
    unsafe {
        let init: unsafe extern "C" fn() = library.function(&["libxsmm_init"])?;
        let target: unsafe extern "C" fn() -> *const c_char =
            library.function(&["libxsmm_get_target_arch"])?;
        init();
        Ok(Box::new(Libxsmm {
            dispatch: library.function(&["libxsmm_smmdispatch"])?,
            tiled: library.function(&["libxsmm_xgemm_omp"])?,
            target: text(target()),
            blas_calls: library.function(&["peers_blas_calls"])?,
            kernel: None,
            problem: None,
        }))
    }
}

impl Contender for Libxsmm {
    fn describe_kernel(&self) -> String {
        let way = if self.kernel.is_some() { "one generated kernel" } else { "tiled" };
        format!("libxsmm, target {}, {way}", self.target)
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        let shape = problem.shape();
        self.problem = Some(problem);
        self.kernel = None;
        if shape.m * shape.n * shape.k <= SMALL.pow(3) {
            let (m, n, k) = (shape.m as c_int, shape.n as c_int, shape.k as c_int);
            let (lda, ldb) = (shape.lda() as c_int, shape.ldb() as c_int);
            // Flag bits: 1 transposes the first operand, which is our B, 2 the second.
            let flags =
                c_int::from(shape.layout.b_transposed()) | c_int::from(shape.layout.a_transposed()) << 1;
            let no_prefetch = std::ptr::null();
            // SAFETY: all pointers are to live values of the documented types.
            self.kernel = unsafe {
                (self.dispatch)(
                    n,
                    m,
                    k,
                    &raw const ldb,
                    &raw const lda,
                    &raw const n,
                    &1.0,
                    &0.0,
                    &raw const flags,
                    no_prefetch,
                )
            };
        }
        self.refuse_what_is_left_to_blas()
    }

    fn run(&mut self) {
        const F32: c_int = 1;
        let Some(problem) = self.problem else { return };
        if let Some(kernel) = self.kernel {
            // SAFETY: the kernel was generated for exactly this product.
            unsafe { kernel(problem.b(), problem.a(), problem.c()) };
            return;
        }
        let shape = problem.shape();
        let (m, n, k) = (shape.m as c_int, shape.n as c_int, shape.k as c_int);
        let (lda, ldb) = (shape.lda() as c_int, shape.ldb() as c_int);
        let letter = |transposed: bool| if transposed { b'T' as c_char } else { b'N' as c_char };
        let (ta, tb) = (letter(shape.layout.a_transposed()), letter(shape.layout.b_transposed()));
        let (one, zero) = (1.0_f32, 0.0_f32);
        let (a, b, c) = (problem.a().cast(), problem.b().cast(), problem.c().cast());
        let (alpha, beta) = ((&raw const one).cast(), (&raw const zero).cast());
        // SAFETY: the documented types; `Problem` guarantees the operands.
        unsafe {
            (self.tiled)(
                F32,
                F32,
                &raw const tb,
                &raw const ta,
                &raw const n,
                &raw const m,
                &raw const k,
                alpha,
                b,
                &raw const ldb,
                a,
                &raw const lda,
                beta,
                c,
                &raw const n,
            );
        }
    }
}

impl Libxsmm {
    /// Multiplies once and sees whether a BLAS library was called.
    fn refuse_what_is_left_to_blas(&mut self) -> Result<(), Unsupported> {
        // SAFETY: a counter of the loaded library, which only the calls made here change.
        let calls = |counter: *const c_int| unsafe { counter.read_volatile() };
        let before = calls(self.blas_calls);
        self.run();
        if calls(self.blas_calls) == before {
            return Ok(());
        }
        Err(Unsupported("leaves some shapes, or parts of them, to a BLAS library".to_owned()))
    }
}
