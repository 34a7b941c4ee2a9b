//! A program outside that proposes candidates: starts it, hands its streams to the search, ends it.
//!
//! Two threads move the bytes, so that a program that neither reads nor answers cannot hold the search up for
//! longer than it may take, and Ctrl-C is heard while an answer is awaited. The program runs in a process group
//! of its own: the terminal's Ctrl-C is for the search, which ends the program afterwards.

use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};
use tilewright_journal::ProposerAnswered;
use tilewright_runtime::Clock;
use tilewright_search::External;

use crate::UsageError;
use crate::arguments::ProposerArguments;

/// How often the wait for an answer looks up.
const GLANCE: Duration = Duration::from_millis(50);
/// How long a program may take to end once its input has ended.
const FAREWELL: Duration = Duration::from_millis(500);
/// Pieces of answers that wait to be read.
const WAITING: usize = 16;

/// How to start a program that proposes candidates.
#[derive(Debug, Clone)]
pub(crate) struct Proposer {
    words: Vec<String>,
    limit: Duration,
    stop: Arc<AtomicBool>,
}

impl Proposer {
    /// The program of a strategy: one is needed by the external strategy, and by no other. `stored` is what a
    /// campaign was begun with.
    pub(crate) fn of(
        arguments: &ProposerArguments,
        external: bool,
        stored: Option<&str>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Self>> {
        let command = arguments.proposer.as_deref().or(stored);
        let (true, Some(command)) = (external, command) else {
            let wrong = match (external, arguments.proposer.is_some()) {
                (true, _) => "--strategy external needs a program: give --proposer \"python3 my.py\"",
                (false, true) => "--proposer is for the external strategy: give --strategy external",
                (false, false) => return Ok(None),
            };
            return Err(UsageError(wrong.to_owned()).into());
        };
        let words = shlex::split(command).filter(|words| !words.is_empty()).ok_or_else(|| {
            UsageError(format!("--proposer `{command}`: no command; is a quotation mark missing?"))
        })?;
        let limit = Duration::from_secs_f64(arguments.proposer_timeout);
        Ok(Some(Self { words, limit, stop: Arc::clone(stop) }))
    }

    /// Starts the program; the search goes on after the recorded answers.
    pub(crate) fn start(&self, answers: Vec<ProposerAnswered>) -> Result<External> {
        let (questions, replies) = self.spawn()?;
        Ok(External::continued(answers, Box::new(questions), Box::new(BufReader::new(replies))))
    }

    fn spawn(&self) -> Result<(Questions, Replies)> {
        let mut child = Command::new(&self.words[0])
            .args(&self.words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start the proposer `{}`", self.words[0]))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let child = Arc::new(Mutex::new(child));
        let (lines, said) = channel();
        let (heard, answers) = sync_channel(WAITING);
        std::thread::spawn(move || input.map(|input| write_all(&said, input)));
        std::thread::spawn(move || output.map(|output| read_all(output, &heard)));
        let clock = Clock::start();
        let asked_ns = Arc::new(AtomicU64::new(0));
        let questions = Questions {
            lines: Some(lines),
            line: Vec::new(),
            clock,
            asked_ns: Arc::clone(&asked_ns),
            child: Arc::clone(&child),
        };
        let replies = Replies {
            answers,
            piece: io::Cursor::default(),
            clock,
            asked_ns,
            limit: self.limit,
            stop: Arc::clone(&self.stop),
            child,
        };
        Ok((questions, replies))
    }
}

fn write_all(said: &Receiver<Vec<u8>>, mut input: impl Write) {
    // A program that no longer reads is noticed by whoever waits for its answer.
    while let Ok(line) = said.recv() {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read_all(mut output: impl Read, heard: &SyncSender<Vec<u8>>) {
    let mut piece = vec![0; 1 << 16];
    while let Ok(length @ 1..) = output.read(&mut piece) {
        if heard.send(piece[..length].to_vec()).is_err() {
            return;
        }
    }
}

/// What is said to the program. Dropping it ends the program.
struct Questions {
    lines: Option<Sender<Vec<u8>>>,
    line: Vec<u8>,
    clock: Clock,
    /// When the last line was said.
    asked_ns: Arc<AtomicU64>,
    child: Arc<Mutex<Child>>,
}

impl Write for Questions {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.asked_ns.store(self.clock.nanoseconds(), Ordering::Relaxed);
        let line = std::mem::take(&mut self.line);
        let sent = self.lines.as_ref().is_some_and(|lines| lines.send(line).is_ok());
        if sent { Ok(()) } else { Err(io::Error::other(ended(&self.child))) }
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        // The thread that writes ends with its channel, and closes the program's input.
        self.lines = None;
        let Ok(mut child) = self.child.lock() else { return };
        if wait(&mut child, FAREWELL).is_none() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The exit status of a program that ends within this time.
fn wait(child: &mut Child, limit: Duration) -> Option<std::process::ExitStatus> {
    let clock = Clock::start();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if clock.nanoseconds() as u128 >= limit.as_nanos() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn ended(child: &Mutex<Child>) -> String {
    let status = child.lock().ok().and_then(|mut child| wait(&mut child, FAREWELL));
    match status {
        Some(status) => format!("the program ended ({status})"),
        None => "the program closed its streams".to_owned(),
    }
}

/// What the program answers.
struct Replies {
    answers: Receiver<Vec<u8>>,
    piece: io::Cursor<Vec<u8>>,
    clock: Clock,
    asked_ns: Arc<AtomicU64>,
    limit: Duration,
    stop: Arc<AtomicBool>,
    child: Arc<Mutex<Child>>,
}

impl Read for Replies {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.piece.read(into)?;
            if length > 0 || into.is_empty() {
                return Ok(length);
            }
            let waited = self.clock.nanoseconds().saturating_sub(self.asked_ns.load(Ordering::Relaxed));
            let problem = match self.answers.recv_timeout(GLANCE) {
                Ok(piece) => {
                    self.piece = io::Cursor::new(piece);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => ended(&self.child),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    "interrupted while an answer was awaited".to_owned()
                }
                Err(RecvTimeoutError::Timeout) if u128::from(waited) > self.limit.as_nanos() => {
                    format!("no answer within {} s (--proposer-timeout)", self.limit.as_secs_f64())
                }
                Err(RecvTimeoutError::Timeout) => continue,
            };
            return Err(io::Error::other(problem));
        }
    }
}
