//! A worker process as its coordinator sees it.

use std::io::{BufReader, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tilewright_runtime::Clock;

use crate::protocol::{Answer, Request, receive_answer, send_requests};
use crate::worker::WORKER_ARGUMENT;

/// How an exchange with the worker ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It took longer than allowed; the process was killed.
    Timeout,
    /// A signal of this number ended the process.
    Signal(i32),
    /// The process exited by itself, or answered nonsense and was killed.
    Exit(Option<i32>),
}

/// A running worker; killed with all its threads and children when dropped.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    child: Child,
    stream: UnixStream,
    /// Buffered, so that answers that come together cost one system call.
    answers: BufReader<UnixStream>,
    /// The limit that the socket is set to.
    limit: Duration,
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
    pub(crate) fn spawn(executable: &Path, arguments: &str) -> std::io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        let child = Command::new(executable)
            .arg(WORKER_ARGUMENT)
            .arg(arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let answers = BufReader::new(stream.try_clone()?);
        let clock = Clock::start();
        Ok(Self { child, stream, answers, limit: Duration::ZERO, clock, gone: false })
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
        let sent = sent.and_then(|()| send_requests(&mut self.stream, requests));
        let mut answers = Vec::with_capacity(requests.len());
        let received = sent.and_then(|()| {
            for _ in requests {
                answers.push(receive_answer(&mut self.answers)?);
            }
            Ok(())
        });
        let bracket_ns = self.clock.nanoseconds() - start;
        match received {
            Ok(()) => {
                let processor_ns = processor_ns(self.child.id()).saturating_sub(processor);
                Ok(Exchange { answers, bracket_ns, processor_ns })
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                self.kill();
                Err(Ended::Timeout)
            }
            // A hang-up: the process is ending, and its status says why. One that only closed its socket is
            // helped along.
            Err(error) => Err(self.status_after(error.kind() != ErrorKind::InvalidData)),
        }
    }

    fn status_after(&mut self, ending: bool) -> Ended {
        let status = if ending { self.wait_briefly() } else { None };
        let status = status.or_else(|| {
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
