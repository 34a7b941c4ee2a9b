//! Memory through which worker and coordinator exchange what does not fit into a frame: samples, the place
//! of a fault, addresses, texts. Whoever runs in the worker can forge all of it, so the coordinator uses it
//! for numbers that it checks and for explaining failures, never to decide that an answer is right.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use tilewright_runtime::{Access, BufferSpec, Placement, RuntimeError, SharedBuffer};

const FAULT: usize = 0;
const FAULT_WORDS: usize = 4;
const RUNNING: usize = FAULT + FAULT_WORDS;
const MEASURES: usize = RUNNING + 1;
const MESSAGE_LENGTH: usize = MEASURES + 1;
const MESSAGE: usize = MESSAGE_LENGTH + 1;
const MESSAGE_WORDS: usize = 64;
const REGIONS: usize = MESSAGE + MESSAGE_WORDS;
const MOST_REGIONS: usize = 128;
const SAMPLES: usize = REGIONS + 2 * MOST_REGIONS;

/// Most samples of one request.
pub(crate) const MOST_SAMPLES: usize = 1 << 14;
/// Most bytes of code of one kernel.
pub(crate) const CODE_CAPACITY: usize = 4 << 20;

const WORDS: usize = SAMPLES + MOST_SAMPLES;

/// A signal that a fault raised in the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Its number.
    pub(crate) signal: i32,
    /// Address of the access that faulted, where the signal has one.
    pub(crate) address: u64,
    /// Number of the system call that was refused, if one was.
    pub(crate) call: Option<i64>,
    /// Of a refused call its first argument (the flags of `clone3`); of another fault 1 where the process could get
    /// no more memory.
    pub(crate) detail: u64,
}

/// The area; every word is atomic, since both processes may touch it.
#[derive(Debug)]
pub(crate) struct ResultArea {
    buffer: SharedBuffer,
}

fn spec() -> BufferSpec {
    let mut spec = BufferSpec::new(WORDS * 8, Placement::AgainstStart);
    spec.poison = 0;
    spec
}

/// Memory for code, which the worker only reads.
pub(crate) fn code_spec() -> BufferSpec {
    BufferSpec::new(CODE_CAPACITY, Placement::AgainstStart)
}

impl ResultArea {
    pub(crate) fn create() -> Result<Self, RuntimeError> {
        Ok(Self { buffer: SharedBuffer::create(&spec())? })
    }

    /// # Safety
    /// As [`SharedBuffer::inherit`].
    pub(crate) unsafe fn inherit(descriptor: RawFd) -> Result<Self, RuntimeError> {
        // SAFETY: passed on to the caller.
        let buffer = unsafe { SharedBuffer::inherit(descriptor, &spec(), Access::ReadWrite) }?;
        Ok(Self { buffer })
    }

    pub(crate) fn buffer(&self) -> &SharedBuffer {
        &self.buffer
    }

    #[expect(clippy::cast_ptr_alignment, reason = "the area starts on a page")]
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the area is that long, aligned to a page, and accessed through atomics only.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr().cast::<AtomicU64>(), WORDS) }
    }

    fn get(&self, at: usize) -> u64 {
        self.words()[at].load(Ordering::Acquire)
    }

    fn set(&self, at: usize, value: u64) {
        self.words()[at].store(value, Ordering::Release);
    }

    /// The words where a signal handler notes signal, address, call and detail.
    pub(crate) fn fault_words(&self) -> &[AtomicU64] {
        &self.words()[FAULT..FAULT + FAULT_WORDS]
    }

    /// The fault noted last, if any.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let signal = self.get(FAULT) as i32;
        (signal != 0).then(|| Fault {
            signal,
            address: self.get(FAULT + 1),
            // Calls count from 0.
            call: (self.get(FAULT + 2) as i64).checked_sub(1).filter(|&call| call >= 0),
            detail: self.get(FAULT + 3),
        })
    }

    /// Forgets faults and messages.
    pub(crate) fn clear(&self) {
        for at in FAULT..=MESSAGE_LENGTH {
            self.set(at, 0);
        }
    }

    /// Notes which slot runs: 0 none, 1 incumbent, 2 candidate.
    pub(crate) fn set_running(&self, slot: u64) {
        self.set(RUNNING, slot);
    }

    pub(crate) fn running(&self) -> u64 {
        self.get(RUNNING)
    }

    /// Notes which measures of confinement are in force: bit `i` for the `i`-th of them.
    pub(crate) fn set_measures(&self, measures: u64) {
        self.set(MEASURES, measures);
    }

    pub(crate) fn measures(&self) -> u64 {
        self.get(MEASURES)
    }

    /// Leaves a text, cut off where there is no more room.
    pub(crate) fn set_message(&self, text: &str) {
        let bytes = &text.as_bytes()[..text.len().min(MESSAGE_WORDS * 8)];
        for (at, chunk) in bytes.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.set(MESSAGE + at, u64::from_le_bytes(word));
        }
        self.set(MESSAGE_LENGTH, bytes.len() as u64);
    }

    pub(crate) fn message(&self) -> String {
        let length = (self.get(MESSAGE_LENGTH) as usize).min(MESSAGE_WORDS * 8);
        let words = (0..length.div_ceil(8)).flat_map(|at| self.get(MESSAGE + at).to_le_bytes());
        String::from_utf8_lossy(&words.take(length).collect::<Vec<_>>()).into_owned()
    }

    /// Notes where a region of memory starts in the worker and how long it is; further ones than there is
    /// room for are left out.
    pub(crate) fn set_region(&self, region: usize, start: u64, bytes: u64) {
        if region < MOST_REGIONS {
            self.set(REGIONS + 2 * region, start);
            self.set(REGIONS + 2 * region + 1, bytes);
        }
    }

    /// Start and bytes of a region, 0 where unknown.
    pub(crate) fn region(&self, region: usize) -> (u64, u64) {
        if region < MOST_REGIONS {
            (self.get(REGIONS + 2 * region), self.get(REGIONS + 2 * region + 1))
        } else {
            (0, 0)
        }
    }

    pub(crate) fn set_sample(&self, at: usize, nanoseconds: u64) {
        self.set(SAMPLES + at.min(MOST_SAMPLES - 1), nanoseconds);
    }

    pub(crate) fn sample(&self, at: usize) -> u64 {
        self.get(SAMPLES + at.min(MOST_SAMPLES - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_back() {
        let area = ResultArea::create().unwrap();
        assert_eq!((area.fault(), area.message().as_str()), (None, ""));
        area.set_message("grün");
        area.set_region(127, 5, 6);
        area.set_region(128, 7, 8);
        area.set_sample(MOST_SAMPLES - 1, 9);
        area.fault_words()[0].store(11, Ordering::Relaxed);
        assert_eq!(area.message(), "grün");
        assert_eq!((area.region(127), area.region(128)), ((5, 6), (0, 0)));
        assert_eq!(area.sample(MOST_SAMPLES - 1), 9);
        assert_eq!(area.fault(), Some(Fault { signal: 11, address: 0, call: None, detail: 0 }));
        area.clear();
        assert_eq!((area.fault(), area.message().as_str()), (None, ""));
        area.set_message(&"x".repeat(10_000));
        assert_eq!(area.message().len(), MESSAGE_WORDS * 8);
    }
}
