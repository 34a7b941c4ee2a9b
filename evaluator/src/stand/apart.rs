//! Comparing two kernels whose workers are two processes: each sample is an exchange of its own, which the
//! coordinator's clock brackets.
//!
//! What a user's kernel does to its process (registers, caches of translations, memory of the worker, the clock's
//! code) concerns its own side only; and what its worker says of the time cannot be less than what the coordinator
//! sees by more than the other side shows an exchange to cost.

use std::time::Duration;

use tilewright_journal::EvalError;
use tilewright_stats::samples::median;

use super::examine::Samples;
use super::{Asked, TestStand};
use crate::protocol::{Reply, Request, Slot, TimePlan};

/// Readings of two clocks may fall so far apart, ns.
const CLOCK_READS_NS: u64 = 1_000;

impl TestStand {
    /// As [`TestStand::compare`], where the candidate's is another process.
    pub(super) fn compare_apart(&mut self, plan: &TimePlan, limit: Duration) -> Result<Samples, EvalError> {
        let last = self.sets.len() - 1;
        let mut samples = Samples::default();
        // What exchanges took beyond launches, of each side.
        let mut beyond: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        for pair in 0..plan.pairs {
            let sides = [Slot::Incumbent, Slot::Candidate];
            let order = if plan.candidate_first >> pair & 1 == 1 { [1, 0] } else { [0, 1] };
            for side in order {
                self.sets[last].disguise();
                let (slot, launches) = (sides[side], plan.launches[side]);
                let disturb = self.sets[last].disturbing(plan.candidate_first, pair);
                let request = Request::Sample { slot, launches, cold: self.cold, disturb };
                let Asked { replies, bracket_ns, processor_ns } = self.ask(slot, &[request], limit)?;
                let reply: Reply = replies.first().copied().unwrap_or_default();
                if reply.kernel_ns > bracket_ns + CLOCK_READS_NS || reply.timed_ns > reply.kernel_ns {
                    let inside = reply.kernel_ns.max(reply.timed_ns);
                    return Err(EvalError::TimerTampered(format!(
                        "launches of {inside} ns in sum fitted into {bracket_ns} ns of the coordinator's clock"
                    )));
                }
                // On a busy machine a worker waits for a processor, which is nothing to hide: only what it also spent
                // processor time on counts.
                let worked = processor_ns.saturating_sub(u64::from(self.threads) * reply.kernel_ns);
                beyond[side].push(bracket_ns.saturating_sub(reply.kernel_ns).min(worked) as f64);
                let launch_ns = reply.timed_ns as f64 / f64::from(launches);
                if slot == Slot::Incumbent {
                    samples.incumbent.push(launch_ns);
                    continue;
                }
                // A kernel cannot know which of its launches are looked at, since all are.
                self.check(last)?;
                samples.candidate.push(launch_ns);
                samples.bracket_ns += bracket_ns;
            }
        }
        let [usual, found] = beyond.map(|times| median(&times).unwrap_or(0.0));
        samples.unexplained_ns = ((found - usual).max(0.0) * f64::from(plan.pairs)) as u64;
        Ok(samples)
    }
}
