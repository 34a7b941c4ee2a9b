//! oneMKL with its OpenMP threading: plain products, products with a packed B, and kernels generated
//! for one shape.
//!
//! MKL chooses its kernels by the processor's maker as well as by its features; what it loaded is
//! read from the process's mappings and shown.

use std::ffi::{c_char, c_int, c_void};

use super::cblas::{PackedB, Plain};
use super::library::Library;
use super::{Absent, Contender, Entry, LibraryFile, Problem, Role, Setup, Unsupported};

const LIBRARY: &LibraryFile = &LibraryFile { folder: "mkl", prefixes: &["libmkl_rt."], system: true };

pub(super) const ENTRY: Entry = Entry {
    name: "mkl",
    about: "oneMKL, cblas_sgemm",
    role: Role::Peer,
    library: Some(LIBRARY),
    open: |setup| open(setup, |library| Ok(Call::Plain(Plain::load(library, &[""])?))),
};

pub(super) const PACKED: Entry = Entry {
    name: "mkl-packed",
    about: "oneMKL, B packed beforehand, cblas_sgemm_compute",
    role: Role::PackedPeer,
    library: Some(LIBRARY),
    open: |setup| open(setup, |library| Ok(Call::Packed(PackedB::load(library)?))),
};

pub(super) const JIT: Entry = Entry {
    name: "mkl-jit",
    about: "oneMKL, a kernel generated for the shape (one thread)",
    role: Role::Peer,
    library: Some(LIBRARY),
    open: |setup| {
        open(setup, |library| {
            // SAFETY: the types are those of MKL's header, with 32-bit integers.
            let (create, pointer) = unsafe {
                (
                    library.function(&["mkl_cblas_jit_create_sgemm"])?,
                    library.function(&["mkl_jit_get_sgemm_ptr"])?,
                )
            };
            Ok(Call::Jit(Jit { create, pointer, kernel: None }))
        })
    },
};

type Create = unsafe extern "C" fn(
    *mut *mut c_void,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    f32,
    c_int,
    c_int,
    f32,
    c_int,
) -> c_int;
type Kernel = unsafe extern "C" fn(*mut c_void, *const f32, *const f32, *mut f32);

struct Jit {
    create: Create,
    pointer: unsafe extern "C" fn(*const c_void) -> Option<Kernel>,
    kernel: Option<(Kernel, *mut c_void, Problem)>,
}

enum Call {
    Plain(Plain),
    Packed(PackedB),
    Jit(Jit),
}

struct Mkl {
    call: Call,
    version: String,
}

fn open(
    setup: &Setup,
    load: impl FnOnce(&Library) -> Result<Call, Absent>,
) -> Result<Box<dyn Contender>, Absent> {
    const LP64: c_int = 0;
    const INTEL_THREADING: c_int = 0;
    let library = Library::open(setup.library.as_deref())?;
    let mut version = vec![0_u8; 256];
    // SAFETY: the types are those of MKL's header; the layers are set before any other call.
    unsafe {
        let interface: unsafe extern "C" fn(c_int) -> c_int =
            library.function(&["MKL_Set_Interface_Layer"])?;
        let threading: unsafe extern "C" fn(c_int) -> c_int =
            library.function(&["MKL_Set_Threading_Layer"])?;
        let threads: unsafe extern "C" fn(c_int) = library.function(&["MKL_Set_Num_Threads"])?;
        let describe: unsafe extern "C" fn(*mut c_char, c_int) =
            library.function(&["MKL_Get_Version_String"])?;
        interface(LP64);
        threading(INTEL_THREADING);
        threads(setup.threads as c_int);
        describe(version.as_mut_ptr().cast(), version.len() as c_int);
    }
    let version = String::from_utf8_lossy(&version);
    let version = version.split("Product").next().unwrap_or_default();
    let version =
        version.trim_matches(['\0', ' ', '-']).replace("Intel(R) oneAPI Math Kernel Library", "oneMKL");
    Ok(Box::new(Mkl { call: load(&library)?, version }))
}

impl Contender for Mkl {
    fn describe_kernel(&self) -> String {
        let call = match &self.call {
            Call::Plain(plain) => plain.call(),
            Call::Packed(_) => "sgemm_compute",
            Call::Jit(_) => "generated kernel",
        };
        format!("{}, {} kernels, {call}", self.version, loaded_kernels())
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        match &mut self.call {
            Call::Plain(plain) => plain.prepare(problem),
            Call::Packed(packed) => packed.prepare(problem)?,
            Call::Jit(jit) => jit.prepare(problem)?,
        }
        Ok(())
    }

    fn run(&mut self) {
        match &self.call {
            Call::Plain(plain) => plain.run(),
            Call::Packed(packed) => packed.run(),
            Call::Jit(jit) => jit.run(),
        }
    }
}

impl Jit {
    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        const GENERATED: c_int = 0;
        const ROW_MAJOR: c_int = 101;
        let shape = problem.shape();
        let transposition = |transposed: bool| if transposed { 112 } else { 111 };
        let (ta, tb) =
            (transposition(shape.layout.a_transposed()), transposition(shape.layout.b_transposed()));
        let (m, n, k) = (shape.m as c_int, shape.n as c_int, shape.k as c_int);
        let (lda, ldb) = (shape.lda() as c_int, shape.ldb() as c_int);
        let mut jitter = std::ptr::null_mut();
        self.kernel = None;
        // SAFETY: a call of the documented type; the few jitters of a run are never destroyed.
        let status =
            unsafe { (self.create)(&raw mut jitter, ROW_MAJOR, ta, tb, m, n, k, 1.0, lda, ldb, 0.0, n) };
        if status != GENERATED {
            return Err(Unsupported("generates no kernel for this shape or processor".to_owned()));
        }
        // SAFETY: the jitter was created just now.
        let kernel = unsafe { (self.pointer)(jitter) };
        let kernel = kernel.ok_or_else(|| Unsupported("returned no kernel".to_owned()))?;
        self.kernel = Some((kernel, jitter, problem));
        Ok(())
    }

    fn run(&self) {
        if let Some((kernel, jitter, problem)) = self.kernel {
            // SAFETY: the kernel was generated for exactly this product.
            unsafe { kernel(jitter, problem.a(), problem.b(), problem.c()) };
        }
    }
}

/// The kernel libraries that MKL has loaded, by their names: avx512, avx2, def …
fn loaded_kernels() -> String {
    const OTHERS: &[&str] = &["rt", "core", "intel_lp64", "intel_thread", "sequential"];
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut names: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.rsplit_once("/libmkl_")?.1.split('.').next())
        .filter(|name| !OTHERS.contains(name))
        .collect();
    names.dedup();
    if names.is_empty() { "unknown".to_owned() } else { names.join("+") }
}
