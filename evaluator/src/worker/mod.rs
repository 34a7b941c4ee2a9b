//! The worker process: runs kernels that may be wrong, and times them.
//!
//! It is the coordinator's own binary, started with a first argument that no user types. It confines itself,
//! maps the memory it was given, and then carries out requests until the socket closes.

mod arguments;
mod fault;
mod operands;
mod session;

use std::io::BufReader;
use std::os::unix::net::UnixStream;

use tilewright_runtime::sandbox::{self, Limits};

pub(crate) use arguments::{BufferArgument, WORKER_ARGUMENT, WorkerArguments};

use crate::protocol::{Refusal, receive_request, send_answers};
use session::Session;

/// Takes over when this process was started as a worker, and then never returns; returns at once otherwise.
///
/// To be called first in `main` of every binary that evaluates on a device.
pub fn run_if_worker() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(WORKER_ARGUMENT) {
        return;
    }
    let status = arguments.next().and_then(|text| WorkerArguments::parse(&text)).map_or(2, |arguments| {
        // SAFETY: the coordinator started this process for this, with these descriptors.
        unsafe { work(&arguments) }
    });
    std::process::exit(status);
}

/// Serves until the coordinator hangs up; returns the exit status.
///
/// # Safety
/// The descriptors were inherited for this process's sole use, as the arguments describe them.
unsafe fn work(arguments: &WorkerArguments) -> i32 {
    // Descriptors first: a file limit of 0 does not concern mappings, but nothing should be half done.
    let limits = Limits { address_space: Some(arguments.address_space), ..Limits::default() };
    sandbox::confine(&limits);
    if sandbox::parent_id() != Some(arguments.parent) {
        return 3;
    }
    // SAFETY: descriptor 0 is the socket, by the caller's word, and nothing in this process reads it.
    let mut stream: UnixStream = unsafe { std::os::fd::FromRawFd::from_raw_fd(0) };
    // SAFETY: passed on to the caller.
    let Ok(mut session) = (unsafe { Session::start(arguments) }) else { return 4 };
    // Buffered, so that requests that come together cost one system call.
    let Ok(mut requests) = stream.try_clone().map(BufReader::new) else { return 4 };
    let mut answers = Vec::new();
    loop {
        let Ok((request, last)) = receive_request(&mut requests) else { return 0 };
        let failed: Option<Refusal> = answers.last().and_then(|answer: &Result<_, _>| answer.err());
        answers.push(match failed {
            Some(refusal) => Err(refusal),
            None => session.carry_out(&request),
        });
        if last {
            if send_answers(&mut stream, &answers).is_err() {
                return 0;
            }
            answers.clear();
        }
    }
}
