//! oneDNN (3.x): its matmul primitive, with B as it is stored or reordered once to the layout that
//! the primitive likes best.
//!
//! This needs a build with an OpenMP pool: the vendor's newest schedules primitives over SYCL (see
//! the contender `onednn-sgemm`).

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use super::library::{Library, text};
use super::{Absent, Contender, Entry, LibraryFile, Problem, Role, Setup, Unsupported};

const LIBRARY: &LibraryFile = &LibraryFile { folder: "onednn", prefixes: &["libdnnl.so.3"], system: true };

pub(super) const ENTRY: Entry = Entry {
    name: "onednn",
    about: "oneDNN, matmul primitive",
    role: Role::Peer,
    library: Some(LIBRARY),
    open: |setup| open_primitive(setup, false),
};

pub(super) const PACKED: Entry = Entry {
    name: "onednn-packed",
    about: "oneDNN, matmul primitive, B reordered beforehand",
    role: Role::PackedPeer,
    library: Some(LIBRARY),
    open: |setup| open_primitive(setup, true),
};

/// A handle of the library: engine, stream, memory, descriptor or primitive.
type Handle = *mut c_void;
type Status = c_int;

#[repr(C)]
struct Version {
    major: c_int,
    minor: c_int,
    patch: c_int,
    hash: *const c_char,
    cpu_runtime: c_uint,
    gpu_runtime: c_uint,
}

#[repr(C)]
struct Argument {
    index: c_int,
    memory: Handle,
}

const F32: c_int = 3;
const ANY_LAYOUT: c_int = 1;
const SOURCE: c_int = 1;
const DESTINATION: c_int = 17;
const WEIGHTS: c_int = 33;
const QUERY_NAME: c_int = 8;
const QUERY_WEIGHTS: c_int = 131;
/// Asks the library to allocate the memory of an object itself.
const ALLOCATE: Handle = usize::MAX as Handle;

/// Version and instruction set.
pub(super) fn introduce(library: &Library) -> Result<String, Absent> {
    // SAFETY: the types are those of oneDNN's header.
    unsafe {
        let version: unsafe extern "C" fn() -> *const Version = library.function(&["dnnl_version"])?;
        let isa: unsafe extern "C" fn() -> c_int = library.function(&["dnnl_get_effective_cpu_isa"])?;
        let Version { major, minor, patch, .. } = *version();
        let isa = match isa() {
            0x1 => "sse41".to_owned(),
            0x3 => "avx".to_owned(),
            0x7 => "avx2".to_owned(),
            0xf => "avx2_vnni".to_owned(),
            0x27 => "avx512_core".to_owned(),
            0x67 => "avx512_core_vnni".to_owned(),
            0xe7 => "avx512_core_bf16".to_owned(),
            0x1ef => "avx512_core_fp16".to_owned(),
            other => format!("isa {other:#x}"),
        };
        Ok(format!("oneDNN {major}.{minor}.{patch}, {isa}"))
    }
}

/// The functions of the primitive interface.
struct Api {
    strided: unsafe extern "C" fn(*mut Handle, c_int, *const i64, c_int, *const i64) -> Status,
    tagged: unsafe extern "C" fn(*mut Handle, c_int, *const i64, c_int, c_int) -> Status,
    matmul: unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle, Handle, Handle, Handle) -> Status,
    reorder: unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle, Handle, Handle) -> Status,
    query: unsafe extern "C" fn(Handle, c_int, c_int, *mut c_void) -> Status,
    query_layout: unsafe extern "C" fn(Handle, c_int, c_int) -> Handle,
    primitive: unsafe extern "C" fn(*mut Handle, Handle) -> Status,
    memory: unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle) -> Status,
    execute: unsafe extern "C" fn(Handle, Handle, c_int, *const Argument) -> Status,
    wait: unsafe extern "C" fn(Handle) -> Status,
}

struct Primitive {
    api: Api,
    engine: Handle,
    stream: Handle,
    pack: bool,
    introduction: String,
    implementation: String,
    /// The primitive and its three arguments.
    prepared: Option<(Handle, [Argument; 3])>,
}

fn open_primitive(setup: &Setup, pack: bool) -> Result<Box<dyn Contender>, Absent> {
    let library = Library::open(setup.library.as_deref())?;
    let introduction = introduce(&library)?;
    // SAFETY: the types are those of oneDNN 3's header.
    let (api, engine, stream) = unsafe {
        let api = Api {
            strided: library.function(&["dnnl_memory_desc_create_with_strides"])?,
            tagged: library.function(&["dnnl_memory_desc_create_with_tag"])?,
            matmul: library.function(&["dnnl_matmul_primitive_desc_create"])?,
            reorder: library.function(&["dnnl_reorder_primitive_desc_create"])?,
            query: library.function(&["dnnl_primitive_desc_query"])?,
            query_layout: library.function(&["dnnl_primitive_desc_query_md"])?,
            primitive: library.function(&["dnnl_primitive_create"])?,
            memory: library.function(&["dnnl_memory_create"])?,
            execute: library.function(&["dnnl_primitive_execute"])?,
            wait: library.function(&["dnnl_stream_wait"])?,
        };
        let engine: unsafe extern "C" fn(*mut Handle, c_int, usize) -> Status =
            library.function(&["dnnl_engine_create"])?;
        let stream: unsafe extern "C" fn(*mut Handle, Handle, c_uint) -> Status =
            library.function(&["dnnl_stream_create"])?;
        (api, engine, stream)
    };
    let absent = |error: Unsupported| Absent { why: error.0, remedy: "install another build".to_owned() };
    const CPU: c_int = 1;
    const IN_ORDER: c_uint = 1;
    // SAFETY: calls of the documented types with a place for the result.
    let engine = created("engine", |out| unsafe { engine(out, CPU, 0) }).map_err(absent)?;
    // SAFETY: the engine was created just now.
    let stream = created("stream", |out| unsafe { stream(out, engine, IN_ORDER) }).map_err(absent)?;
    Ok(Box::new(Primitive {
        api,
        engine,
        stream,
        pack,
        introduction,
        implementation: String::new(),
        prepared: None,
    }))
}

/// Runs a creating call and takes what it created.
fn created(what: &str, create: impl FnOnce(*mut Handle) -> Status) -> Result<Handle, Unsupported> {
    let mut handle = null_mut();
    match create(&raw mut handle) {
        0 => Ok(handle),
        status => Err(Unsupported(format!("oneDNN made no {what} (status {status})"))),
    }
}

impl Primitive {
    fn layout(&self, extents: [usize; 2], strides: (isize, isize)) -> Result<Handle, Unsupported> {
        let (extents, strides) = (extents.map(|extent| extent as i64), [strides.0 as i64, strides.1 as i64]);
        // SAFETY: two extents and two strides, copied by the call.
        created("layout", |out| unsafe {
            (self.api.strided)(out, 2, extents.as_ptr(), F32, strides.as_ptr())
        })
    }

    fn memory(&self, layout: Handle, data: Handle) -> Result<Handle, Unsupported> {
        // SAFETY: the layout is alive, and `data` is a buffer of that layout or asks for one.
        created("memory", |out| unsafe { (self.api.memory)(out, layout, self.engine, data) })
    }

    fn execute(&self, primitive: Handle, arguments: &[Argument]) {
        // SAFETY: objects made for each other in `prepare`. The status can only report what creating
        // them would have; a missing result shows in the check.
        unsafe {
            (self.api.execute)(primitive, self.stream, arguments.len() as c_int, arguments.as_ptr());
            (self.api.wait)(self.stream);
        }
    }

    /// Copies B into the layout that the primitive asked for.
    fn reordered(&self, stored: Handle, b: Handle, wanted: Handle) -> Result<Handle, Unsupported> {
        let (api, engine) = (&self.api, self.engine);
        let target = self.memory(wanted, ALLOCATE)?;
        // SAFETY: live layouts on one engine, and the description made from them.
        let primitive = unsafe {
            let description =
                created("reorder", |out| (api.reorder)(out, stored, engine, wanted, engine, null_mut()))?;
            created("reorder", |out| (api.primitive)(out, description))?
        };
        self.execute(
            primitive,
            &[Argument { index: SOURCE, memory: b }, Argument { index: DESTINATION, memory: target }],
        );
        Ok(target)
    }
}

impl Contender for Primitive {
    fn describe_kernel(&self) -> String {
        format!("{}, {}", self.introduction, self.implementation)
    }

    // The few objects of a run are not destroyed: the process ends with them.
    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        let shape = problem.shape();
        let a = self.layout([shape.m, shape.k], shape.a_strides())?;
        let b = self.layout([shape.k, shape.n], shape.b_strides())?;
        let c = self.layout([shape.m, shape.n], (shape.n as isize, 1))?;
        let weights = if self.pack {
            let extents = [shape.k as i64, shape.n as i64];
            // SAFETY: two extents, copied by the call.
            created("layout", |out| unsafe { (self.api.tagged)(out, 2, extents.as_ptr(), F32, ANY_LAYOUT) })?
        } else {
            b
        };
        // SAFETY: live layouts on this engine; no bias, no attributes.
        let description = created("matmul", |out| unsafe {
            (self.api.matmul)(out, self.engine, a, weights, null_mut(), c, null_mut())
        })?;
        // SAFETY: the description is alive.
        let primitive = created("matmul", |out| unsafe { (self.api.primitive)(out, description) })?;
        let mut name: *const c_char = null();
        // SAFETY: this query writes a pointer to a text that the description owns.
        self.implementation = unsafe {
            (self.api.query)(description, QUERY_NAME, 0, (&raw mut name).cast());
            text(name)
        };
        let stored = self.memory(b, problem.b().cast_mut().cast())?;
        let weights = if self.pack {
            // SAFETY: the description is alive and owns the layout.
            let wanted = unsafe { (self.api.query_layout)(description, QUERY_WEIGHTS, 0) };
            self.reordered(b, stored, wanted)?
        } else {
            stored
        };
        let arguments = [
            (SOURCE, self.memory(a, problem.a().cast_mut().cast())?),
            (WEIGHTS, weights),
            (DESTINATION, self.memory(c, problem.c().cast())?),
        ];
        self.prepared = Some((primitive, arguments.map(|(index, memory)| Argument { index, memory })));
        Ok(())
    }

    fn run(&mut self) {
        if let Some((primitive, arguments)) = &self.prepared {
            self.execute(*primitive, arguments);
        }
    }
}
