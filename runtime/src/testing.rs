//! What the tests of this crate share: tiny artifacts, and faults that happen in a process of their own.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::ptr;

use rustix::process::Signal;
use tilewright_codegen::{Artifact, EntryPoint, KernelArguments};

/// Tells a re-run of the test binary that it is the child.
const CHILD: &str = "TILEWRIGHT_RUNTIME_TEST_CHILD";

/// An artifact of these bytes, entered at its start by the name `run`.
pub(crate) fn artifact(code: Vec<u8>, workers: u32, workspace_bytes: u64) -> Artifact {
    let entries = vec![EntryPoint { name: "run".into(), offset: 0 }];
    Artifact { isa: "test".into(), code, entries, workers, workspace_bytes }
}

/// Arguments of a launch that needs none.
pub(crate) fn no_arguments() -> KernelArguments {
    KernelArguments {
        operands: ptr::null(),
        extents: ptr::null(),
        workspace: ptr::null_mut(),
        worker: 0,
        workers: 1,
        barrier: ptr::null_mut(),
    }
}

/// How a child process ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The body ran to its end.
    Completed,
    /// A signal ended it.
    By(Signal),
    /// Anything else, such as a failed assertion, or a child that never got to the body.
    Otherwise(ExitStatus),
}

/// Exit status of a child whose body ran to its end; no status that the test harness would give.
const COMPLETED: i32 = 77;

/// Runs `body` in a re-run of this test in a child process, confined so that a crash leaves no core.
///
/// The test named must be the caller. `argument` reaches the child's `body`.
pub(crate) fn child(test: &str, argument: &str, body: impl FnOnce(&str)) -> Ended {
    if let Ok(argument) = std::env::var(CHILD) {
        crate::sandbox::confine(&crate::sandbox::Limits { file_bytes: None, ..Default::default() });
        body(&argument);
        std::process::exit(COMPLETED);
    }
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--test-threads=1", "--nocapture"])
        .env(CHILD, argument)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    match (ended.code(), ended.signal().and_then(Signal::from_named_raw)) {
        (Some(COMPLETED), _) => Ended::Completed,
        (_, Some(signal)) => Ended::By(signal),
        _ => Ended::Otherwise(ended),
    }
}
