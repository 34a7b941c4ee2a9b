//! Other load on this machine, switched on and off while kernels are compared with themselves.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the load does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Nothing.
    Off = 0,
    /// One thread computes now and then.
    Bursts = 1,
    /// One thread computes all the time.
    Steady = 2,
    /// All threads move memory all the time.
    Memory = 3,
    /// Ends the threads.
    End = 4,
}

/// The levels that are gone through, the quiet one again and again.
pub(crate) const COURSE: [Level; 6] =
    [Level::Off, Level::Bursts, Level::Off, Level::Steady, Level::Off, Level::Memory];

/// Bytes that a thread moves: more than a cache holds.
const BYTES: usize = 32 << 20;
/// Bytes moved, or rounds computed, between two looks at the level.
const STEP: usize = 1 << 20;

/// Threads that do what the level says; they end when this is dropped.
pub(crate) struct Load {
    level: Arc<AtomicU32>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts so many threads, which sleep at first.
    pub(crate) fn start(threads: usize) -> std::io::Result<Self> {
        let level = Arc::new(AtomicU32::new(Level::Off as u32));
        let threads = (0..threads.max(1)).map(|number| {
            let level = Arc::clone(&level);
            std::thread::Builder::new().name("load".to_owned()).spawn(move || work(number == 0, &level))
        });
        Ok(Self { threads: threads.collect::<Result<_, _>>()?, level })
    }

    /// Switches to a level.
    pub(crate) fn set(&self, level: Level) {
        self.level.store(level as u32, Ordering::Relaxed);
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.set(Level::End);
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended too.
            let _ = thread.join();
        }
    }
}

fn work(first: bool, level: &AtomicU32) {
    let mut memory = Vec::new();
    let is = |level: u32, which: Level| level == which as u32;
    loop {
        let now = level.load(Ordering::Relaxed);
        if is(now, Level::End) {
            return;
        } else if is(now, Level::Memory) {
            memory.resize(BYTES, 1_u8);
            for half in 0..BYTES / STEP / 2 {
                memory.copy_within(half * STEP..(half + 1) * STEP, BYTES / 2 + half * STEP);
            }
            black_box(&memory);
        } else if first && (is(now, Level::Steady) || is(now, Level::Bursts)) {
            black_box(
                (0..STEP as u64).fold(0_u64, |sum, at| sum.wrapping_mul(31).wrapping_add(black_box(at))),
            );
            if is(now, Level::Bursts) {
                std::thread::sleep(Duration::from_millis(3));
            }
        } else {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
