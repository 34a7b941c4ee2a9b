//! A persistent, pinned pool of workers that starts a kernel on all of them in about a microsecond.
//!
//! Every worker but the first has a *ticket* on a cache line of its own. A launch writes down the job and
//! raises the tickets of the workers it needs; the others notice nothing. A worker that waits spins for a
//! bounded number of pauses, since launches come in bursts, and then sleeps on its ticket.

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use rustix::thread::futex;
use tilewright_codegen::{BarrierState, KernelArguments};

use crate::affinity::{Pin, pin_thread, usable_processors};
use crate::watch::watched;
use crate::{Disturbance, KernelEntry, LoadedKernel, Operands, RuntimeError};

/// Pauses that a waiting worker spins before it sleeps: a few hundred microseconds.
const SPINS: u32 = 1 << 14;

/// The same when workers share processors, where spinning keeps the awaited one from running.
const SPINS_WHEN_CROWDED: u32 = 64;

/// Padded so that waiting workers do not share cache lines, nor lines that are fetched in pairs.
#[repr(align(128))]
#[derive(Default)]
struct Slot {
    /// Changes once for every job of this worker.
    ticket: AtomicU32,
    /// 1 while the worker sleeps or is about to.
    asleep: AtomicU32,
}

impl Slot {
    /// Calls the worker.
    fn raise(&self) {
        // Sequentially consistent with the stores and loads of `wait`: either the worker sees the ticket
        // before it sleeps, or this load sees it asleep.
        self.ticket.fetch_add(1, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) != 0 {
            // The worker sleeps on this very word; waking nobody is no error.
            let _ = futex::wake(&self.ticket, futex::Flags::PRIVATE, 1);
        }
    }

    /// Waits until the ticket differs from `seen`, and returns it.
    fn wait(&self, seen: u32, spins: u32) -> u32 {
        for _ in 0..spins {
            let now = self.ticket.load(Ordering::Acquire);
            if now != seen {
                return now;
            }
            spin_loop();
        }
        self.asleep.store(1, Ordering::SeqCst);
        loop {
            let now = self.ticket.load(Ordering::SeqCst);
            if now != seen {
                self.asleep.store(0, Ordering::Relaxed);
                return now;
            }
            // Returns at once when the ticket has changed meanwhile; interruptions just go round again.
            let _ = futex::wait(&self.ticket, futex::Flags::PRIVATE, seen, None);
        }
    }
}

/// What all workers of a launch run.
#[derive(Clone, Copy)]
struct Job {
    entry: KernelEntry,
    /// With the first worker's number.
    arguments: KernelArguments,
    /// Whether the state that the kernel leaves is looked at.
    watch: bool,
}

#[repr(align(128))]
#[derive(Default)]
struct Countdown(AtomicU32);

struct Shared {
    slots: Box<[Slot]>,
    /// Written by the launching thread while no worker holds a job, read by workers after their ticket rose.
    job: UnsafeCell<Option<Job>>,
    /// Workers that have not finished the job.
    remaining: Countdown,
    stop: AtomicBool,
    barrier: BarrierState,
    /// What a watched launch has disturbed on a worker other than the first.
    disturbance: Mutex<Option<Disturbance>>,
    spins: u32,
}

// SAFETY: `job` is written only when `remaining` is zero and read only between a raised ticket and the
// decrement of `remaining`; tickets and `remaining` order these accesses. The pointers in it may go to other
// threads by the word of the caller of `launch`.
unsafe impl Sync for Shared {}
// SAFETY: as above; nothing in it belongs to a thread.
unsafe impl Send for Shared {}

impl Shared {
    fn serve(&self, worker: usize) {
        let slot = &self.slots[worker - 1];
        let mut seen = 0;
        loop {
            seen = slot.wait(seen, self.spins);
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            // SAFETY: the ticket rose after the job was written, and it is not written again before
            // `remaining` was decremented below.
            if let Some(job) = unsafe { *self.job.get() } {
                let arguments = KernelArguments { worker: worker as u64, ..job.arguments };
                if job.watch {
                    // SAFETY: the caller of `launch` vouches for code and arguments.
                    let found = unsafe { watched(job.entry, &raw const arguments) };
                    if found.is_some() {
                        *self.disturbance.lock().unwrap_or_else(PoisonError::into_inner) = found;
                    }
                } else {
                    // SAFETY: as above.
                    unsafe { (job.entry)(&raw const arguments) };
                }
            }
            self.remaining.0.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Workers pinned one to a processor; worker 0 is the thread that made the pool, pinned until it is dropped.
///
/// A pool stays on its thread. More threads than processors work, slowly: workers then share processors.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    _pin: Pin,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pool").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl Pool {
    /// Starts and pins the workers: on distinct physical cores first, then on their siblings, then again
    /// from the first.
    ///
    /// # Errors
    /// When no thread is asked for, or the system refuses a thread or its pinning.
    pub fn new(threads: usize) -> Result<Self, RuntimeError> {
        let processors = usable_processors();
        if threads == 0 || u32::try_from(threads).is_err() {
            return Err(RuntimeError::Workers { asked: threads, available: processors.len() });
        }
        let spins = if threads > processors.len() { SPINS_WHEN_CROWDED } else { SPINS };
        let shared = Arc::new(Shared {
            slots: (1..threads).map(|_| Slot::default()).collect(),
            job: UnsafeCell::new(None),
            remaining: Countdown::default(),
            stop: AtomicBool::new(false),
            barrier: BarrierState::default(),
            disturbance: Mutex::new(None),
            spins,
        });
        let pin = Pin::to(processors[0])?;
        // Dropping it on an error below ends the workers that were started.
        let mut pool = Self { shared, threads: Vec::new(), _pin: pin };
        let (ready, answers) = mpsc::channel();
        for worker in 1..threads {
            let (shared, ready) = (Arc::clone(&pool.shared), ready.clone());
            let processor = processors[worker % processors.len()];
            let body = move || {
                let pinned = pin_thread(processor);
                let serves = pinned.is_ok();
                // The pool may be gone already after another worker's error.
                let _ = ready.send(pinned);
                drop(ready);
                if serves {
                    shared.serve(worker);
                }
            };
            let name = format!("tilewright-{worker}");
            let started = thread::Builder::new().name(name).spawn(body).map_err(|error| {
                let source = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::AGAIN);
                RuntimeError::System { call: "clone", source }
            })?;
            pool.threads.push(started);
        }
        drop(ready);
        answers.iter().collect::<Result<(), _>>()?;
        Ok(pool)
    }

    /// Number of workers, the calling thread included.
    pub fn threads(&self) -> usize {
        self.shared.slots.len() + 1
    }

    /// Runs the kernel once on as many workers as it was made for, and returns when all have finished.
    /// Workers of the pool beyond that are left alone.
    ///
    /// # Errors
    /// When the kernel needs more workers than there are, or leaves its barrier half full (the barrier is
    /// then put right for the next launch).
    ///
    /// # Safety
    /// The kernel keeps the contract of [`KernelArguments`], needs no instruction that this processor lacks,
    /// and touches nothing but its workspace and what `operands` point to. That memory is valid for the
    /// kernel's accesses, and no reference contradicts them during the call.
    pub unsafe fn launch(&self, kernel: &LoadedKernel, operands: &Operands) -> Result<(), RuntimeError> {
        // SAFETY: passed on to the caller.
        unsafe { self.start(kernel, operands, false) }.map(|_| ())
    }

    /// The same, and what the kernel did not leave as the calling convention asks, put right already.
    ///
    /// # Errors
    /// As [`Pool::launch`].
    ///
    /// # Safety
    /// As [`Pool::launch`].
    pub unsafe fn launch_watched(
        &self,
        kernel: &LoadedKernel,
        operands: &Operands,
    ) -> Result<Option<Disturbance>, RuntimeError> {
        // SAFETY: passed on to the caller.
        unsafe { self.start(kernel, operands, true) }
    }

    #[inline]
    unsafe fn start(
        &self,
        kernel: &LoadedKernel,
        operands: &Operands,
        watch: bool,
    ) -> Result<Option<Disturbance>, RuntimeError> {
        let (workers, shared) = (kernel.workers(), &*self.shared);
        if workers == 0 || workers > self.threads() {
            return Err(RuntimeError::Workers { asked: workers, available: self.threads() });
        }
        let arguments = KernelArguments {
            operands: operands.tensors.as_ptr(),
            extents: operands.extents.as_ptr(),
            workspace: kernel.workspace(),
            worker: 0,
            workers: workers as u64,
            barrier: (&raw const shared.barrier).cast_mut(),
        };
        let others = &shared.slots[..workers - 1];
        if !others.is_empty() {
            shared.remaining.0.store(workers as u32 - 1, Ordering::Relaxed);
            // SAFETY: the previous launch waited for all its workers, so nobody reads the job now; the pool
            // stays on one thread, so nobody else writes it.
            unsafe { *shared.job.get() = Some(Job { entry: kernel.entry(), arguments, watch }) };
            others.iter().for_each(Slot::raise);
        }
        let mut found = None;
        if watch {
            // SAFETY: the caller vouches for code and arguments; the kernel keeps its code mapped.
            found = unsafe { watched(kernel.entry(), &raw const arguments) };
        } else {
            // SAFETY: as above.
            unsafe { kernel.entry()(&raw const arguments) };
        }
        self.wait_for_others();
        if others.is_empty() {
            return Ok(found);
        }
        self.check_barrier()?;
        if watch {
            let others = shared.disturbance.lock().unwrap_or_else(PoisonError::into_inner).take();
            found = found.or(others);
        }
        Ok(found)
    }

    fn wait_for_others(&self) {
        let mut spins = 0;
        while self.shared.remaining.0.load(Ordering::Acquire) != 0 {
            if spins < self.shared.spins {
                spins += 1;
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }

    fn check_barrier(&self) -> Result<(), RuntimeError> {
        let arrived = self.shared.barrier.arrived.load(Ordering::Relaxed);
        if arrived == 0 {
            return Ok(());
        }
        self.shared.barrier.arrived.store(0, Ordering::Relaxed);
        Err(RuntimeError::BarrierLeftOpen { arrived })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.slots.iter().for_each(Slot::raise);
        for thread in self.threads.drain(..) {
            // Workers run machine code only; there is no panic to pass on.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
