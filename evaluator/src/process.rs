//! A worker process as its coordinator sees it.

use std::io::{BufReader, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tilewright_runtime::Clock;

use crate::process_state::ProcessState;
use crate::protocol::{Answer, Request, receive_answer, send_requests};
use crate::worker::WORKER_ARGUMENT;

/// How an exchange with the worker ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It took longer than allowed; the process was killed.
    Timeout {
        /// Bytes of address space that it had by then.
        memory_bytes: u64,
    },
    /// A signal of this number ended the process.
    Signal(i32),
    /// The process exited by itself.
    Exit(Option<i32>),
    /// The process answered what no worker answers, or to what it was not asked, and was killed.
    Nonsense,
}

/// The library of a user that a worker is to load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LibrarySource {
    pub(crate) path: PathBuf,
    pub(crate) symbol: String,
}

/// A process that had the processor for less than the time allowed, since others had it, may take this many times
/// as long by the clock.
const BUSY_MACHINE: u32 = 4;

/// A running worker; killed with all its threads and children when dropped.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    child: Child,
    stream: UnixStream,
    /// Buffered, so that answers that come together cost one system call.
    answers: BufReader<UnixStream>,
    /// The limit that the socket is set to.
    limit: Duration,
    /// Number of the last exchange.
    exchange: u64,
    clock: Clock,
    /// Waited for: its number may be another process's by now.
    gone: bool,
}

/// Answers, and how long they took by this side's clock.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) answers: Vec<Answer>,
    pub(crate) bracket_ns: u64,
    /// Processor time of all the worker's threads meanwhile, as the system counts it.
    pub(crate) processor_ns: u64,
}

impl WorkerProcess {
    /// Starts the binary as a worker. Descriptors that the arguments name must be inheritable.
    pub(crate) fn spawn(
        executable: &Path,
        arguments: &str,
        library: Option<&LibrarySource>,
    ) -> std::io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        let mut command = Command::new(executable);
        command.arg(WORKER_ARGUMENT).arg(arguments).env_clear();
        if let Some(LibrarySource { path, symbol }) = library {
            command.arg(path).arg(symbol);
        }
        // A kernel is called by as many threads as it may have; libraries start none of their own.
        command.envs(THREADS_OF_LIBRARIES.map(|name| (name, "1")));
        command.envs(std::env::vars_os().filter(|(name, _)| name == "LD_LIBRARY_PATH"));
        let child = command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let answers = BufReader::new(stream.try_clone()?);
        let clock = Clock::start();
        Ok(Self { child, stream, answers, limit: Duration::ZERO, exchange: 0, clock, gone: false })
    }

    /// Its process number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends requests and sleeps until all are answered.
    ///
    /// # Errors
    /// When no answer comes in time, or the process ends; it is gone in either case.
    pub(crate) fn exchange(&mut self, requests: &[Request], limit: Duration) -> Result<Exchange, Ended> {
        let processor = processor_ns(self.child.id());
        let start = self.clock.nanoseconds();
        let limit = coarse(limit);
        let mut sent = Ok(());
        if limit != self.limit {
            sent = self.stream.set_read_timeout(Some(limit));
            self.limit = limit;
        }
        self.exchange += 1;
        let sent = sent.and_then(|()| send_requests(&mut self.stream, requests, self.exchange));
        let received = sent.and_then(|()| self.receive(requests.len(), start, processor, limit));
        let bracket_ns = self.clock.nanoseconds() - start;
        match received {
            Ok(answers) => {
                let processor_ns = processor_ns(self.child.id()).saturating_sub(processor);
                Ok(Exchange { answers, bracket_ns, processor_ns })
            }
            Err(error) if is_late(&error) => {
                let memory_bytes = self.memory_bytes();
                self.kill();
                Err(Ended::Timeout { memory_bytes })
            }
            // Nobody else writes to the socket than the worker, or what runs in it.
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                self.kill();
                Err(Ended::Nonsense)
            }
            // A hang-up: the process is ending, and its status says why. One that only closed its socket is
            // helped along.
            Err(_) => Err(self.status()),
        }
    }

    /// All answers, and no more than these.
    fn receive(
        &mut self,
        count: usize,
        start: u64,
        processor: u64,
        limit: Duration,
    ) -> std::io::Result<Vec<Answer>> {
        let limit_ns = limit.as_nanos() as u64;
        let mut answers = Vec::with_capacity(count);
        while answers.len() < count {
            let patient = Patient { process: &mut *self, start, processor, limit_ns };
            let exchange = patient.process.exchange;
            answers.push(receive_answer(&mut { patient }, exchange)?);
        }
        if self.answers.buffer().is_empty() { Ok(answers) } else { Err(ErrorKind::InvalidData.into()) }
    }

    /// Bytes of address space of the process, 0 where the system does not tell.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap_or_default();
        let pages: u64 = text.split_whitespace().next().and_then(|pages| pages.parse().ok()).unwrap_or(0);
        pages * rustix::param::page_size() as u64
    }

    /// What the system tells of the process that a kernel has no business to change.
    pub(crate) fn state(&self) -> ProcessState {
        ProcessState::of(self.child.id())
    }

    fn status(&mut self) -> Ended {
        let status = self.wait_briefly().or_else(|| {
            self.kill();
            None
        });
        match status.and_then(|status| status.signal()) {
            Some(signal) => Ended::Signal(signal),
            None => Ended::Exit(status.and_then(|status| status.code())),
        }
    }

    fn wait_briefly(&mut self) -> Option<ExitStatus> {
        for _ in 0..200 {
            if let Ok(Some(status)) = self.child.try_wait() {
                self.gone = true;
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    fn kill(&mut self) {
        if self.gone {
            return;
        }
        // The group first: the kernel might have started processes. Whoever is gone already needs no killing.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.gone = true;
    }
}

/// Reads what the worker sends until it had the processor, or the coordinator waited, for too long.
struct Patient<'process> {
    process: &'process mut WorkerProcess,
    start: u64,
    processor: u64,
    limit_ns: u64,
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let read = self.process.answers.read(bytes);
            let late = read.as_ref().err().is_some_and(is_late);
            // Without a look at the clock when everything came at once, which is nearly always.
            if read.as_ref().is_ok_and(|&count| count == bytes.len()) {
                return read;
            }
            let waited = self.process.clock.nanoseconds() - self.start;
            let used = processor_ns(self.process.child.id()).saturating_sub(self.processor);
            // A worker that trickles answers is not waited for longer than a busy machine explains, and one that
            // sleeps no longer than the limit.
            let asleep = late && waited >= self.limit_ns && !is_running(self.process.child.id());
            if asleep || used >= self.limit_ns || waited >= self.limit_ns * u64::from(BUSY_MACHINE) {
                return Err(ErrorKind::TimedOut.into());
            }
            if !late {
                return read;
            }
        }
    }
}

/// Whether a process runs or waits for a processor or a page, as opposed to sleeping.
fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with(['R', 'D']))
}

fn is_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Variables by which libraries are told how many threads to start.
const THREADS_OF_LIBRARIES: [&str; 4] =
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"];

/// The limit rounded up to a power of two of milliseconds: never zero, which would mean none, and seldom
/// another than before, which would cost a system call.
fn coarse(limit: Duration) -> Duration {
    let milliseconds = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).clamp(1, 1 << 40);
    Duration::from_millis(milliseconds.next_power_of_two())
}

/// Processor time of a process so far, ns; 0 where the system does not tell.
fn processor_ns(process: u32) -> u64 {
    let mut clock = libc::CLOCK_REALTIME;
    // SAFETY: the call writes to one integer.
    if unsafe { libc::clock_getcpuclockid(process as libc::pid_t, &raw mut clock) } != 0 {
        return 0;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to one structure.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return 0;
    }
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
