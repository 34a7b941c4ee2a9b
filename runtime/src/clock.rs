//! The one place of this crate that reads a clock.

use std::time::Instant;

/// Reads monotonic time in nanoseconds since the reader was made.
///
/// On Linux this is `CLOCK_MONOTONIC`, the same clock in every process, so that a coordinator can bracket
/// what a worker reports; only the zero point differs.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that starts at zero now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// Nanoseconds since [`Clock::start`].
    #[inline]
    pub fn nanoseconds(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    // U038
    #[test]
    fn never_goes_backwards() {
        let clock = Clock::start();
        let mut last = 0;
        for _ in 0..100_000 {
            let now = clock.nanoseconds();
            assert!(now >= last);
            last = now;
        }
        assert!(last > 0);
    }
}
