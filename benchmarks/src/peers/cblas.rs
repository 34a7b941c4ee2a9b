//! The C interface of BLAS, that several peers offer: plain products, and products with a packed B.

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use super::library::Library;
use super::{Absent, Problem, Unsupported};

type Sgemm = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    f32,
    *const f32,
    c_int,
    *const f32,
    c_int,
    f32,
    *mut f32,
    c_int,
);
type Sgemv = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    f32,
    *const f32,
    c_int,
    *const f32,
    c_int,
    f32,
    *mut f32,
    c_int,
);
type PackSize = unsafe extern "C" fn(c_int, c_int, c_int, c_int) -> usize;
type Pack =
    unsafe extern "C" fn(c_int, c_int, c_int, c_int, c_int, c_int, f32, *const f32, c_int, *mut c_void);
type Compute = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const f32,
    c_int,
    *const c_void,
    c_int,
    f32,
    *mut f32,
    c_int,
);

const ROW_MAJOR: c_int = 101;
const AS_STORED: c_int = 111;
const TRANSPOSED: c_int = 112;
const PACKED: c_int = 151;
const OPERAND_B: c_int = 162;

fn transposition(transposed: bool) -> c_int {
    if transposed { TRANSPOSED } else { AS_STORED }
}

/// `cblas_sgemm`; for one row or column `cblas_sgemv` where that is faster.
pub(super) struct Plain {
    sgemm: Sgemm,
    sgemv: Sgemv,
    problem: Option<Problem>,
    as_vector: bool,
}

impl Plain {
    /// Takes the two functions, whose names begin with one of `prefixes`.
    pub(super) fn load(library: &Library, prefixes: &[&str]) -> Result<Self, Absent> {
        let names = |name: &str| -> Vec<String> {
            prefixes.iter().map(|prefix| format!("{prefix}cblas_{name}")).collect()
        };
        // SAFETY: the types are those of the C interface with 32-bit integers.
        unsafe {
            Ok(Self {
                sgemm: library.function(&names("sgemm"))?,
                sgemv: library.function(&names("sgemv"))?,
                problem: None,
                as_vector: false,
            })
        }
    }

    /// Prepares; one row or column is tried both ways.
    pub(super) fn prepare(&mut self, problem: Problem) {
        self.problem = Some(problem);
        let shape = problem.shape();
        self.as_vector = false;
        if shape.m == 1 || shape.n == 1 {
            let [product, vector] = [false, true].map(|as_vector| {
                self.as_vector = as_vector;
                self.shortest()
            });
            self.as_vector = vector < product;
        }
    }

    /// The call that was chosen.
    pub(super) fn call(&self) -> &'static str {
        if self.as_vector { "sgemv" } else { "sgemm" }
    }

    /// Multiplies once.
    pub(super) fn run(&self) {
        let Some(problem) = self.problem else { return };
        let shape = problem.shape();
        let (m, n, k) = (shape.m as c_int, shape.n as c_int, shape.k as c_int);
        let (ta, tb) = (shape.layout.a_transposed(), shape.layout.b_transposed());
        let (a, b, c) = (problem.a(), problem.b(), problem.c());
        let (lda, ldb) = (shape.lda() as c_int, shape.ldb() as c_int);
        // SAFETY: `Problem` guarantees operands of these extents; the functions have these types.
        unsafe {
            if !self.as_vector {
                let (ta, tb) = (transposition(ta), transposition(tb));
                (self.sgemm)(ROW_MAJOR, ta, tb, m, n, k, 1.0, a, lda, b, ldb, 0.0, c, n);
            } else if m == 1 {
                let (rows, columns) = if tb { (n, k) } else { (k, n) };
                (self.sgemv)(ROW_MAJOR, transposition(!tb), rows, columns, 1.0, b, ldb, a, 1, 0.0, c, 1);
            } else {
                let (rows, columns) = if ta { (k, m) } else { (m, k) };
                (self.sgemv)(ROW_MAJOR, transposition(ta), rows, columns, 1.0, a, lda, b, 1, 0.0, c, 1);
            }
        }
    }

    fn shortest(&self) -> Duration {
        let once = || {
            let start = Instant::now();
            self.run();
            start.elapsed()
        };
        (0..20).map(|_| once()).min().unwrap_or_default()
    }
}

/// `cblas_sgemm_pack` before the timing, `cblas_sgemm_compute` in it.
pub(super) struct PackedB {
    size: PackSize,
    pack: Pack,
    compute: Compute,
    problem: Option<Problem>,
    /// 64-byte aligned within.
    packed: Vec<u8>,
    start: usize,
}

impl PackedB {
    /// Takes the three functions.
    pub(super) fn load(library: &Library) -> Result<Self, Absent> {
        // SAFETY: the types are those that the vendors' headers declare, with 32-bit integers.
        unsafe {
            Ok(Self {
                size: library.function(&["cblas_sgemm_pack_get_size"])?,
                pack: library.function(&["cblas_sgemm_pack"])?,
                compute: library.function(&["cblas_sgemm_compute"])?,
                problem: None,
                packed: Vec::new(),
                start: 0,
            })
        }
    }

    /// Packs B.
    pub(super) fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        const ALIGNMENT: usize = 64;
        let shape = problem.shape();
        let (m, n, k) = (shape.m as c_int, shape.n as c_int, shape.k as c_int);
        // SAFETY: a pure query.
        let size = unsafe { (self.size)(OPERAND_B, m, n, k) };
        if size == 0 {
            return Err(Unsupported("packs nothing for this shape".to_owned()));
        }
        self.packed = vec![0; size + ALIGNMENT];
        self.start = self.packed.as_ptr().align_offset(ALIGNMENT);
        let target = self.packed[self.start..].as_mut_ptr().cast();
        let (tb, ldb) = (transposition(shape.layout.b_transposed()), shape.ldb() as c_int);
        // SAFETY: the target has the size that the library asked for; B is valid for its shape.
        unsafe { (self.pack)(ROW_MAJOR, OPERAND_B, tb, m, n, k, 1.0, problem.b(), ldb, target) };
        self.problem = Some(problem);
        Ok(())
    }

    /// Multiplies once.
    pub(super) fn run(&self) {
        let Some(problem) = self.problem else { return };
        let shape = problem.shape();
        let (m, n, k) = (shape.m as c_int, shape.n as c_int, shape.k as c_int);
        let (ta, lda, ldb) =
            (transposition(shape.layout.a_transposed()), shape.lda() as c_int, shape.ldb() as c_int);
        let packed = self.packed[self.start..].as_ptr().cast();
        // SAFETY: B was packed for exactly this product; A and C are valid for it.
        unsafe {
            (self.compute)(
                ROW_MAJOR,
                ta,
                PACKED,
                m,
                n,
                k,
                problem.a(),
                lda,
                packed,
                ldb,
                0.0,
                problem.c(),
                n,
            );
        }
    }
}
