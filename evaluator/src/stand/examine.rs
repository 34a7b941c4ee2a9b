//! What a stand does with a kernel: verify it, compare it with the incumbent, time its launches one by one.

use std::time::Duration;

use tilewright_codegen::Artifact;
use tilewright_journal::{EvalError, Verification};
use tilewright_runtime::{Contention, ContentionReading};

use super::memory::{self, StandSet};
use super::{Asked, START_LIMIT, Subject, TestStand};
use crate::process::WorkerProcess;
use crate::protocol::{Reply, Request, Slot, TimePlan};
use crate::verify::{Seen, evidence};

/// Most launches after the verifying one for a first impression of a short kernel's time.
const REPEATS: u32 = 2;

/// Longest time that loading a library may take.
const LOAD_LIMIT: Duration = Duration::from_secs(10);

/// Waking up worker and coordinator for a question and its answer, ns.
const EXCHANGE_NS: u64 = 100_000;

/// What an examination has shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// How the answers were checked.
    pub verification: Verification,
    /// Shortest launch so far, ns: a first impression.
    pub first_ns: f64,
}

/// How much an examination may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Effort {
    /// Launches shorter than this are repeated for a better impression of the time, ns.
    pub(crate) repeat_below_ns: u64,
    /// A large workload whose first launch takes longer than this is not run on further sets, ns: the one
    /// pair that it gets is the check on real values at once.
    pub(crate) screen_above_ns: f64,
    /// Whether pairs follow, one of whose launches is checked: a large workload is not run on their set before.
    pub(crate) pairs_follow: bool,
    /// Longest time for each set of inputs.
    pub(crate) limit: Duration,
}

/// Samples of both sides in turns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Samples {
    /// Nanoseconds per launch of the incumbent, pair by pair.
    pub incumbent: Vec<f64>,
    /// Nanoseconds per launch of the candidate, pair by pair.
    pub candidate: Vec<f64>,
    /// Time by the coordinator's clock from question to answer, ns.
    pub(crate) bracket_ns: u64,
    /// Part of it that neither launches nor the usual overhead explain although the worker ran, ns.
    pub(crate) unexplained_ns: u64,
}

impl Samples {
    /// Mean time of one launch of each side together, ns.
    pub(crate) fn pair_ns(&self) -> f64 {
        let sum: f64 = self.incumbent.iter().chain(&self.candidate).sum();
        sum / self.candidate.len().max(1) as f64
    }
}

/// What the device can do at most, with as many threads as the stand has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StandCeiling {
    /// Multiply-adds of all threads at once, GFLOP/s.
    pub fma_gflops: f64,
    /// Multiply-adds of one thread, times the number of threads, GFLOP/s: more than that of all at once where a
    /// busy machine lets threads wait for each other.
    pub undisturbed_fma_gflops: f64,
    /// Reading as many bytes as the workload moves again and again, GB/s.
    pub read_gbps: f64,
}

impl TestStand {
    /// Loads an artifact as the candidate, runs it on every set of inputs, and checks the answers.
    ///
    /// # Errors
    /// How the candidate failed; [`EvalError::Timeout`] when it takes longer than `limit` on one set. After a
    /// crash or a timeout the next call starts a fresh worker.
    pub fn examine(&mut self, artifact: &Artifact, limit: Duration) -> Result<Examined, EvalError> {
        let effort =
            Effort { repeat_below_ns: 0, screen_above_ns: f64::INFINITY, pairs_follow: false, limit };
        self.examine_subject(Subject::Generated(artifact), &effort)
    }

    /// The same for generated code or the stand's library; on a thorough stand everything that is left unchanged by a
    /// right kernel is compared as well, and a launch is repeated on the same inputs.
    ///
    /// # Errors
    /// How the candidate failed.
    pub(crate) fn examine_subject(
        &mut self,
        subject: Subject<'_>,
        effort: &Effort,
    ) -> Result<Examined, EvalError> {
        let first_ns = self.run_on_all_sets(subject, effort)?;
        if self.settings.thorough {
            self.repeats_itself(effort.limit)?;
            self.unchanged()?;
        }
        Ok(Examined { verification: self.verification(), first_ns })
    }

    /// Launches the candidate once more on the first inputs; the output, which holds other values than the time
    /// before, must come out the same to the last bit.
    fn repeats_itself(&mut self, limit: Duration) -> Result<(), EvalError> {
        let before = self.sets[0].output().to_vec();
        self.sets[0].disguise();
        let again = Request::Verify { slot: Slot::Candidate, set: 0, repeats: 0, repeat_below_ns: 0 };
        self.ask(Slot::Candidate, &[again], limit)?;
        let found = self.sets[0].examine();
        if let Err(error @ EvalError::StaleOutput(_)) = found {
            return Err(error);
        }
        let differing = self.sets[0].output().iter().zip(&before).filter(|(now, then)| now != then).count();
        if differing > 0 {
            let all = before.len();
            return Err(EvalError::Nondeterministic(format!(
                "{differing} of {all} bytes of the output differ between two launches on the same inputs"
            )));
        }
        found.map(|_| ())
    }

    /// As [`TestStand::examine`], with an effort that depends on what is seen; returns the shortest launch, ns. What
    /// was checked shows in [`TestStand::verification`].
    pub(crate) fn examine_within(&mut self, artifact: &Artifact, effort: &Effort) -> Result<f64, EvalError> {
        self.run_on_all_sets(Subject::Generated(artifact), effort)
    }

    fn run_on_all_sets(&mut self, subject: Subject<'_>, effort: &Effort) -> Result<f64, EvalError> {
        let start = self.clock.nanoseconds();
        self.sets.iter_mut().for_each(StandSet::reset);
        self.seen.fill(None);
        self.statistics.checking_ns += self.clock.nanoseconds() - start;
        let &Effort { repeat_below_ns, screen_above_ns, pairs_follow, limit } = effort;
        let slot = Slot::Candidate;
        let verify =
            |set: usize| Request::Verify { slot, set: set as u32, repeats: REPEATS, repeat_below_ns };
        let large = memory::is_large(&self.computation);
        let all = self.sets.len() - usize::from(large && pairs_follow);
        let mut requests = vec![self.prepare(slot, subject)?];
        if matches!(subject, Subject::Library { .. }) {
            // Its constructors are not to use up the time of its launches.
            self.ask(slot, &requests, LOAD_LIMIT)?;
            requests.clear();
        }
        // Long launches are asked for one by one, so that a slow kernel is noticed at the first.
        let together = if large { 1 } else { all };
        let mut shortest = f64::INFINITY;
        for begin in (0..all).step_by(together) {
            let end = (begin + together).min(all);
            requests.extend((begin..end).map(verify));
            let replies = self.ask(slot, &requests, limit * (end - begin) as u32)?.replies;
            requests.clear();
            for set in begin..end {
                self.check(set)?;
            }
            shortest = replies.last().map_or(shortest, |reply| shortest.min(reply.values[0]));
            if large && shortest > screen_above_ns {
                break;
            }
        }
        Ok(shortest.max(1.0))
    }

    /// How the candidate's answers were checked since it was loaded.
    pub(crate) fn verification(&self) -> Verification {
        let run = self.sets.iter().zip(&self.seen).filter(|(_, seen)| seen.is_some());
        let seen: Vec<Seen> = self.seen.iter().flatten().copied().collect();
        evidence(run.map(|(set, _)| set.check()), &seen, &self.tolerance)
    }

    pub(super) fn check(&mut self, set: usize) -> Result<(), EvalError> {
        let start = self.clock.nanoseconds();
        let seen = self.sets[set].examine();
        self.statistics.checking_ns += self.clock.nanoseconds() - start;
        self.seen[set] = Some(seen.map_err(|error| self.told_apart(set, error))?);
        Ok(())
    }

    /// Names a wrong answer by how it came about, where that shows.
    fn told_apart(&self, set: usize, error: EvalError) -> EvalError {
        if !matches!(error, EvalError::WrongAnswer { .. }) {
            return error;
        }
        let output = self.sets[set].output();
        let earlier = self.sets[..set].iter().any(|earlier| earlier.output() == output);
        if earlier {
            return EvalError::StaleOutput("the output is that of a launch on other inputs".to_owned());
        }
        if self.seen[set].is_some() {
            return EvalError::Nondeterministic(format!("right before, on the same inputs; then a {error}"));
        }
        error
    }

    /// Makes an artifact the incumbent that candidates are compared with.
    ///
    /// # Errors
    /// When the worker cannot load it.
    pub fn set_incumbent(&mut self, artifact: &Artifact) -> Result<(), EvalError> {
        self.incumbent = Some(artifact.clone());
        self.incumbent_loaded = false;
        self.ensure_incumbent()
    }

    pub(super) fn ensure_incumbent(&mut self) -> Result<(), EvalError> {
        if self.incumbent_loaded {
            return Ok(());
        }
        if let Some(artifact) = self.incumbent.take() {
            let request = self.prepare_load(Slot::Incumbent, &artifact);
            self.incumbent = Some(artifact);
            self.ask(Slot::Incumbent, &[request?], START_LIMIT)?;
            self.incumbent_loaded = true;
        }
        Ok(())
    }

    /// Samples incumbent and candidate in turns, and checks the answer of one of the timed launches.
    ///
    /// # Errors
    /// How the candidate failed, with [`EvalError::TimerTampered`] for times that this side's clock
    /// contradicts.
    pub(crate) fn compare(&mut self, plan: &TimePlan, limit: Duration) -> Result<Samples, EvalError> {
        self.ensure_incumbent()?;
        if self.seats.len() > 1 {
            return self.compare_apart(plan, limit);
        }
        let last = self.sets.len() - 1;
        self.sets[last].disguise();
        let plan = TimePlan { cold: self.cold, ..*plan };
        let Asked { replies, bracket_ns, processor_ns } =
            self.ask(Slot::Candidate, &[Request::Time(plan)], limit)?;
        let reply: Reply = replies.first().copied().unwrap_or_default();
        // One clock read of each side may fall outside.
        if reply.kernel_ns > bracket_ns + 1_000 {
            let (inside, outside) = (reply.kernel_ns, bracket_ns);
            return Err(EvalError::TimerTampered(format!(
                "launches of {inside} ns in sum fitted into {outside} ns of the coordinator's clock"
            )));
        }
        if plan.checked_pair < plan.pairs {
            self.check(last)?;
        }
        let mut samples = Samples::default();
        let area = &self.seats[0].area;
        for pair in 0..plan.pairs as usize {
            let [incumbent, candidate] =
                [0, 1].map(|side| area.sample(2 * pair + side) as f64 / f64::from(plan.launches[side]));
            samples.incumbent.push(incumbent);
            samples.candidate.push(candidate);
        }
        // On a busy machine the worker waits for a processor, which is nothing to hide: only what it also
        // spent processor time on counts.
        let explained = reply.kernel_ns + self.overhead_ns(&plan);
        let threads = u64::from(self.threads);
        samples.unexplained_ns =
            bracket_ns.saturating_sub(explained).min(processor_ns.saturating_sub(threads * explained));
        samples.bracket_ns = bracket_ns;
        Ok(samples)
    }

    /// The same, with what the system's counters say of the machine meanwhile.
    ///
    /// # Errors
    /// As for [`TestStand::compare`].
    pub(crate) fn compare_watched(
        &mut self,
        plan: &TimePlan,
        limit: Duration,
    ) -> Result<(Samples, Contention), EvalError> {
        self.ensure_incumbent()?;
        let process = self.seats[self.seat_of(Slot::Candidate)].worker.as_ref().map_or(0, WorkerProcess::id);
        let reading = ContentionReading::take(process);
        let samples = self.compare(plan, limit)?;
        let mut contention = reading.until_now();
        if self.is_apart() {
            // The rival's workers stay awake for a moment after their launch: waiting for them is no disturbance from
            // outside.
            contention.waited_ns = None;
        }
        Ok((samples, contention))
    }

    /// Whether incumbent and candidate run in processes of their own.
    fn is_apart(&self) -> bool {
        self.seats.len() > 1
    }

    /// Fewest pairs whose sum the coordinator's clock can be held against: where each sample is an exchange of its
    /// own, a single one may be as late as a process wakes up.
    pub(crate) fn least_pairs(&self) -> u32 {
        if self.is_apart() { 6 } else { 1 }
    }

    /// What a comparison takes outside kernels at the most on an undisturbed machine, ns.
    fn overhead_ns(&self, plan: &TimePlan) -> u64 {
        let operands = self.sets.last().map_or(0, |set| memory::footprint(set.arguments()));
        // Clearing, keeping and updating outputs at 1 GB/s and more.
        let copies = 4 * operands;
        let launches =
            u64::from(plan.pairs + 2) * (u64::from(plan.launches[0]) + u64::from(plan.launches[1]));
        // A flush takes some hundred cycles a line.
        let flushes = if plan.cold { launches * operands / 64 * 200 } else { 0 };
        EXCHANGE_NS + copies + flushes
    }

    /// Times launches one by one, ns each.
    ///
    /// # Errors
    /// How the kernel failed.
    pub(crate) fn latencies(
        &mut self,
        slot: Slot,
        launches: u32,
        limit: Duration,
    ) -> Result<Vec<u64>, EvalError> {
        let cold = self.cold;
        self.ask(slot, &[Request::Latency { slot, launches, cold }], limit)?;
        let area = &self.seats[self.seat_of(slot)].area;
        Ok((0..launches as usize).map(|at| area.sample(at)).collect())
    }

    /// Measures what the device can do at most, in some 50 ms and for at least as long as a sample of a kernel:
    /// what disturbs a long sample for certain would miss most short ones.
    ///
    /// # Errors
    /// When the worker cannot measure.
    pub fn ceiling(&mut self, sample_ns: f64) -> Result<StandCeiling, EvalError> {
        let footprint_bytes = self.computation.compulsory_bytes();
        let request = Request::Ceiling { footprint_bytes, sample_ns: sample_ns as u64 };
        let limit = START_LIMIT + Duration::from_nanos((20.0 * sample_ns) as u64);
        let replies = self.ask(Slot::Incumbent, &[request], limit)?.replies;
        let [all, one, read_gbps] = replies.first().map_or([0.0; 3], |reply| reply.values);
        let undisturbed_fma_gflops = all.max(one * f64::from(self.threads));
        Ok(StandCeiling { fma_gflops: all, undisturbed_fma_gflops, read_gbps })
    }
}
