//! A contender's process: it waits, asleep, for the parent's requests and answers them.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::{AsFd, RawFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::affinity;
use super::protocol::{Answer, Request};
use super::{Shape, SharedBuffers};
use crate::peers::{self, Contender, Setup};

/// What the parent tells a contender's process when it starts it.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The contender's name.
    pub contender: String,
    /// Threads to use.
    pub threads: usize,
    /// The shared library found for it.
    pub library: Option<PathBuf>,
    /// Tilewright's registry.
    pub registry: Option<PathBuf>,
    /// Descriptor of the shared buffers.
    pub buffers: RawFd,
}

/// Launches before the clock starts stop after this, or after one: they wake the pool and warm caches.
const WARM_UP: Duration = Duration::from_micros(100);
/// A launch longer than this needs no warming up.
const LONG_LAUNCH: f64 = 20e-3;

/// Serves the parent until it closes the pipe.
///
/// # Errors
/// When the parent's pipes or buffers cannot be used; the parent sees the process end.
pub fn serve(options: &ServeOptions) -> io::Result<()> {
    affinity::confine(options.threads)?;
    let mut answers = take_standard_output()?;
    let buffers = SharedBuffers::inherit(options.buffers)?;
    let setup = Setup {
        threads: options.threads,
        library: options.library.clone(),
        registry: options.registry.clone(),
    };
    let entry = peers::find(&options.contender).ok_or_else(|| io::Error::other("no such contender"))?;
    let mut contender = match (entry.open)(&setup) {
        Ok(contender) => contender,
        Err(absent) => return send(&mut answers, &Answer::Absent { why: absent.why, remedy: absent.remedy }),
    };
    send(&mut answers, &Answer::Ready)?;
    let mut seconds_of_one = 0.0;
    for line in io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            Request::Prepare(shape) => {
                let answer = prepare(contender.as_mut(), &buffers, shape)?;
                affinity::spread(options.threads)?;
                answer
            }
            Request::Calibrate(seconds) => {
                let (launches, one) = calibrate(contender.as_mut(), seconds);
                seconds_of_one = one;
                Answer::Calibrated { launches, seconds: one }
            }
            Request::Run(launches) => {
                if seconds_of_one < LONG_LAUNCH {
                    warm_up(contender.as_mut());
                }
                Answer::Ran(time(contender.as_mut(), launches))
            }
        };
        send(&mut answers, &answer)?;
    }
    Ok(())
}

fn prepare(contender: &mut dyn Contender, buffers: &SharedBuffers, shape: Shape) -> io::Result<Answer> {
    if let Err(unsupported) = contender.prepare(buffers.problem(shape)?) {
        return Ok(Answer::Unsupported(unsupported.0));
    }
    contender.run();
    Ok(Answer::Prepared {
        kernel: contender.describe_kernel(),
        flops: contender.own_flops().unwrap_or_else(|| shape.flops()),
        writes_result: contender.own_flops().is_none(),
    })
}

fn calibrate(contender: &mut dyn Contender, seconds: f64) -> (u64, f64) {
    warm_up(contender);
    let mut launches = 1;
    loop {
        let one = time(contender, launches).max(1e-9);
        if one * launches as f64 >= seconds {
            return (((seconds / one).ceil() as u64).max(1), one);
        }
        launches *= 2;
    }
}

fn warm_up(contender: &mut dyn Contender) {
    let start = Instant::now();
    contender.run();
    while start.elapsed() < WARM_UP {
        contender.run();
    }
}

/// Seconds of one of `launches` launches.
fn time(contender: &mut dyn Contender, launches: u64) -> f64 {
    let start = Instant::now();
    for _ in 0..launches {
        contender.run();
    }
    start.elapsed().as_secs_f64() / launches as f64
}

/// Keeps standard output for answers and gives libraries that print standard error instead.
fn take_standard_output() -> io::Result<File> {
    let answers = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(answers)
}

fn send(answers: &mut File, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_string(answer)?;
    line.push('\n');
    answers.write_all(line.as_bytes())
}
