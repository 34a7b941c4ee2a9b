//! Bytes of code under construction.

/// A growing piece of code.
///
/// What lies behind its end is zero and there to be written, so that up to eight bytes are appended by one
/// store.
#[derive(Debug)]
pub(super) struct Code {
    bytes: Vec<u8>,
    length: usize,
}

/// Bytes made ready at a time; most kernels take no more.
const STEP: usize = 1 << 14;

impl Code {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; STEP], length: 0 }
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The byte at a position.
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    /// Appends the low bytes of a word, those above must be 0.
    #[inline]
    pub(super) fn append(&mut self, word: u64, bytes: usize) {
        let end = self.length + size_of::<u64>();
        if end > self.bytes.len() {
            self.bytes.resize(end + STEP, 0);
        }
        self.bytes[self.length..end].copy_from_slice(&word.to_le_bytes());
        self.length += bytes;
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.append(byte.into(), 1);
        }
    }

    /// Appends a copy of an earlier range.
    pub(super) fn repeat(&mut self, range: std::ops::Range<usize>) {
        let end = self.length + range.len();
        if end > self.bytes.len() {
            self.bytes.resize(end + STEP, 0);
        }
        self.bytes.copy_within(range, self.length);
        self.length = end;
    }

    /// The bytes alone.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.truncate(self.length);
        self.bytes
    }
}
