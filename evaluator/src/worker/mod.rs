//! The worker process: runs kernels that may be wrong, and times them.
//!
//! It is the coordinator's own binary, started with a first argument that no user types. It confines itself,
//! maps the memory it was given, and then carries out requests until the socket closes.

mod arguments;
mod fault;
mod library;
mod operands;
mod session;

use std::ffi::OsString;
use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use tilewright_runtime::sandbox::{self, Limits, Maps};

pub(crate) use arguments::{BufferArgument, WORKER_ARGUMENT, WorkerArguments};

use crate::protocol::{Refusal, receive_request, send_answers};
use library::LibraryFunction;
use session::Session;

/// Takes over when this process was started as a worker, and then never returns; returns at once otherwise.
///
/// To be called first in `main` of every binary that evaluates on a device.
pub fn run_if_worker() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(WORKER_ARGUMENT.as_ref()) {
        return;
    }
    let text = arguments.next().and_then(|text| text.into_string().ok());
    let status = text.and_then(|text| WorkerArguments::parse(&text)).map_or(2, |told| {
        let library: Vec<OsString> = arguments.collect();
        // SAFETY: the coordinator started this process for this, with these descriptors.
        unsafe { work(&told, library) }
    });
    std::process::exit(status);
}

/// Where a library may find what it needs.
const SYSTEM_LIBRARIES: [&str; 7] =
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/nix/store"];

/// Serves until the coordinator hangs up; returns the exit status.
///
/// # Safety
/// The descriptors were inherited for this process's sole use, as the arguments describe them.
unsafe fn work(arguments: &WorkerArguments, library: Vec<OsString>) -> i32 {
    sandbox::offer_to_be_killed();
    sandbox::close_descriptors_but(&arguments.descriptors());
    let limits = Limits { address_space: Some(arguments.address_space), ..Limits::default() };
    let mut confinement = sandbox::confine(&limits);
    if sandbox::parent_id() != Some(arguments.parent) {
        return 3;
    }
    let mut readable = Vec::new();
    if let Some(path) = library.first() {
        readable.extend(SYSTEM_LIBRARIES.iter().map(PathBuf::from));
        readable.extend(PathBuf::from(path).parent().map(PathBuf::from));
        readable.retain(|path| path.exists());
    }
    let function = match <[OsString; 2]>::try_from(library) {
        Ok([path, symbol]) => LibraryFunction::new(path, symbol),
        Err(_) => None,
    };
    // Read once, while files can be opened.
    let _ = tilewright_runtime::usable_processors();
    let maps = Maps::open();
    sandbox::confine_files(&readable, &mut confinement);
    // SAFETY: descriptor 0 is the socket, by the caller's word, and nothing in this process reads it.
    let mut stream: UnixStream = unsafe { std::os::fd::FromRawFd::from_raw_fd(0) };
    // Not a copy of the descriptor: the filter lets through the first one only.
    // SAFETY: as above; both are closed by the end of the process alone.
    let requests: UnixStream = unsafe { std::os::fd::FromRawFd::from_raw_fd(0) };
    // Buffered, so that requests that come together cost one system call.
    let mut requests = std::mem::ManuallyDrop::new(BufReader::new(requests));
    // SAFETY: passed on to the caller.
    let started = unsafe { Session::start(arguments, function, (maps, confinement)) };
    let Ok(mut session) = started else { return 4 };
    let mut answers = Vec::new();
    loop {
        let Ok((request, last, exchange)) = receive_request(&mut *requests) else { return 0 };
        let failed: Option<Refusal> = answers.last().and_then(|answer: &Result<_, _>| answer.err());
        answers.push(match failed {
            Some(refusal) => Err(refusal),
            None => session.carry_out(&request),
        });
        if last {
            if send_answers(&mut stream, &answers, exchange).is_err() {
                return 0;
            }
            answers.clear();
        }
    }
}
