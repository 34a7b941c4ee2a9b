//! Launches on inputs that nobody has seen before, one an exchange, by the coordinator's clock.
//!
//! Repeated launches on the same operands are what is timed, so a kernel could remember: compare some inputs, or look
//! whether the output is there already, and return. And a worker that a kernel has taken over could say any time.
//! Neither helps where each launch has new inputs, its whole answer is checked, and its time is the coordinator's.

use std::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tilewright_journal::EvalError;

use super::{Asked, TestStand, memory};
use crate::protocol::{Request, Slot};

/// Launches of each side on inputs of their own: of a small workload, and of one where generating inputs and expected
/// results takes long.
const LAUNCHES: [u32; 2] = [40, 4];

/// A launch on new inputs may take longer than repeated ones by this factor, since the code, too, comes from far,
const FACTOR: f64 = 1.5;
/// and by this much, ns,
const MARGIN_NS: f64 = 15e3;
/// and by this much where other workers must be woken up first, ns,
const WAKING_NS: f64 = 60e3;
/// and by so many times the scatter of the exchanges.
const SCATTER: f64 = 3.0;

/// Times of launches on new inputs, the lowest of each kind, ns: what disturbs the machine only adds, and a kernel that
/// has to do the work has no launch that takes less.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Fresh {
    /// Exchanges with the incumbent's and the candidate's worker, by the coordinator's clock.
    pub(crate) bracket_ns: [f64; 2],
    /// Launches as the workers say.
    pub(crate) told_ns: [f64; 2],
    /// What the lowest exchanges differ by among each other.
    scatter_ns: f64,
    /// Whether workers beyond the first are woken up for each launch.
    wakes: bool,
    /// Launches of each side.
    pub(crate) launches: u32,
}

impl Fresh {
    /// Time of the candidate by the coordinator's clock: what an exchange with it takes longer than one with the
    /// incumbent, beside the incumbent's own time, ns.
    pub(crate) fn candidate_ns(&self) -> f64 {
        self.bracket_ns[1] - self.bracket_ns[0] + self.told_ns[0]
    }

    /// Holds the times of repeated launches against those on new inputs.
    ///
    /// # Errors
    /// When the candidate is faster on inputs that it knows than doing the work can explain.
    pub(crate) fn explains(&self, claimed_ns: f64) -> Result<(), EvalError> {
        let found = self.candidate_ns();
        let waking = if self.wakes { WAKING_NS } else { 0.0 };
        let most = FACTOR * claimed_ns + MARGIN_NS + waking + SCATTER * self.scatter_ns;
        if found <= most {
            return Ok(());
        }
        let text = format!(
            "{claimed_ns:.0} ns a launch when repeated, but {found:.0} ns on inputs that it has not seen before"
        );
        // Its own worker says the same of fresh launches, so the times are true and the work is left out.
        let honest = self.told_ns[1] > most / 2.0;
        Err(if honest { EvalError::Implausible(text) } else { EvalError::TimerTampered(text) })
    }
}

impl TestStand {
    /// Launches both sides on new inputs and checks every answer.
    ///
    /// # Errors
    /// How the candidate failed.
    pub(crate) fn fresh(&mut self, limit: Duration, rng: &mut ChaCha8Rng) -> Result<Fresh, EvalError> {
        self.ensure_incumbent()?;
        let launches = LAUNCHES[usize::from(memory::is_large(&self.computation))];
        let mut brackets: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        let mut told = brackets.clone();
        for _ in 0..launches {
            // The last set is of timed launches, whose inputs the workers have copied.
            let set = rng.random_range(0..self.sets.len() - 1);
            self.sets[set].renew(&self.workload, &self.computation, rng);
            let candidate_first: bool = rng.random();
            for side in if candidate_first { [1, 0] } else { [0, 1] } {
                let slot = [Slot::Incumbent, Slot::Candidate][side];
                self.sets[set].disguise();
                let request = Request::Verify { slot, set: set as u32, repeats: 0, repeat_below_ns: 0 };
                let Asked { replies, bracket_ns, .. } = self.ask(slot, &[request], limit)?;
                if side == 1 {
                    self.seen[set] = None;
                    self.check(set)?;
                    self.sets[set].inputs_intact()?;
                }
                brackets[side].push(bracket_ns as f64);
                told[side].push(replies.first().map_or(0.0, |reply| reply.kernel_ns as f64));
            }
        }
        let [usual, found] = brackets.map(lowest);
        Ok(Fresh {
            bracket_ns: [usual.0, found.0],
            told_ns: told.map(|times| lowest(times).0),
            scatter_ns: usual.1.hypot(found.1),
            wakes: self.threads > 1,
            launches,
        })
    }
}

/// The lowest of some times, and how much higher the third is.
fn lowest(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let first = times.first().copied().unwrap_or(0.0);
    (first, times.get(2).or(times.last()).map_or(0.0, |third| third - first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(candidate_bracket_ns: f64, told_ns: f64) -> Fresh {
        Fresh {
            bracket_ns: [60e3, candidate_bracket_ns],
            told_ns: [10e3, told_ns],
            scatter_ns: 500.0,
            wakes: false,
            launches: 40,
        }
    }

    #[test]
    fn work_that_is_left_out_when_repeated_shows() {
        assert_eq!(fresh(60e3, 10e3).explains(10e3), Ok(()));
        assert_eq!(fresh(75e3, 25e3).explains(10e3), Ok(()));
        assert_eq!(lowest(vec![5.0, 9.0, 2.0, 3.0]), (2.0, 3.0));
        assert_eq!(lowest(vec![]), (0.0, 0.0));
        // 110 µs of work on new inputs, 1 µs claimed.
        assert!(matches!(fresh(160e3, 110e3).explains(1e3), Err(EvalError::Implausible(_))));
        assert!(matches!(fresh(160e3, 1e3).explains(1e3), Err(EvalError::TimerTampered(_))));
    }
}
