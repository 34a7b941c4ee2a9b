//! The parent's side of a contender's process.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use super::protocol::{Answer, Request};
use crate::peers::{Absent, Entry, Search};

/// Long enough for the slowest product, short enough to notice one that hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running contender.
pub(super) struct Session {
    process: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

/// What every contender's process is started with.
pub(super) struct Start<'a> {
    /// The program that serves, which is this one.
    pub(super) executable: &'a Path,
    /// Where libraries are.
    pub(super) search: &'a Search,
    /// Tilewright's registry.
    pub(super) registry: Option<&'a Path>,
    /// Descriptor of the shared buffers.
    pub(super) buffers: i32,
    /// Threads a contender.
    pub(super) threads: usize,
}

/// Variables that change what a peer does begin with one of these; none reaches a contender.
const CLEARED: &[&str] = &[
    "OPENBLAS", "GOTO_", "BLIS_", "AOCL_", "MKL_", "OMP_", "KMP_", "GOMP_", "DNNL_", "ONEDNN_", "LIBXSMM_",
    "TBB_", "TCM_", "RAYON_", "MATMUL_", "NVPL_",
];

impl Session {
    /// Starts a contender's process and waits until its library is loaded.
    pub(super) fn start(entry: &Entry, start: &Start) -> Result<Self, Absent> {
        let failed = |why: String| Absent { why, remedy: "see the message on standard error".to_owned() };
        let library = entry.library.map(|file| start.search.find(file)).transpose()?;
        let mut command = Command::new(start.executable);
        command.arg("serve").arg("--contender").arg(entry.name);
        command
            .arg("--threads")
            .arg(start.threads.to_string())
            .arg("--buffers")
            .arg(start.buffers.to_string());
        if let Some(library) = &library {
            command.arg("--library").arg(library);
            // Before the process starts: the loader reads it once. Libraries find their companions.
            command.env("LD_LIBRARY_PATH", library.parent().unwrap_or(Path::new(".")));
        }
        if let Some(registry) = start.registry {
            command.arg("--registry").arg(registry);
        }
        set_environment(&mut command, start.threads);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("its process did not start: {error}")))?;
        let (Some(requests), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(failed("its process has no pipes".to_owned()));
        };
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut session = Self { process, requests, answers };
        match session.receive().map_err(failed)? {
            Answer::Ready => Ok(session),
            Answer::Absent { why, remedy } => Err(Absent { why, remedy }),
            other => Err(failed(format!("it began with {other:?}"))),
        }
    }

    /// Asks and waits for the answer.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Answer, String> {
        let line = serde_json::to_string(request).map_err(|error| error.to_string())?;
        let sent = writeln!(self.requests, "{line}").and_then(|()| self.requests.flush());
        match sent {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.to_string()),
            // A process that has ended is reported by what it ended with.
            _ => self.receive(),
        }
    }

    fn receive(&mut self) -> Result<Answer, String> {
        match self.answers.recv_timeout(PATIENCE) {
            Ok(line) => serde_json::from_str(&line).map_err(|error| format!("{error}: {line}")),
            Err(RecvTimeoutError::Timeout) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
            Err(RecvTimeoutError::Disconnected) => Err(match self.process.wait() {
                Ok(status) => format!("its process ended: {status}"),
                Err(error) => error.to_string(),
            }),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nothing is lost with it, and it may hang: end it. Failing means that it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Threads for every peer, and pools that spin while a batch runs but sleep within about a
/// millisecond after it, so that they cost the next contender nothing.
fn set_environment(command: &mut Command, threads: usize) {
    for (name, _) in std::env::vars_os() {
        if CLEARED.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    let threads = threads.to_string();
    for name in [
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "RAYON_NUM_THREADS",
        "MATMUL_NUM_THREADS",
    ] {
        command.env(name, &threads);
    }
    command.env("OMP_PROC_BIND", "close").env("OMP_PLACES", "cores").env("OMP_DYNAMIC", "false");
    command.env("MKL_DYNAMIC", "FALSE");
    // Milliseconds; turns of a loop of some 40 cycles; a power of two of cycles.
    command.env("KMP_BLOCKTIME", "1").env("GOMP_SPINCOUNT", "50000").env("OPENBLAS_THREAD_TIMEOUT", "21");
    command.env("ONEDNN_VERBOSE", "none");
}
