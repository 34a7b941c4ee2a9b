//! Carrying out requests.

use tilewright_codegen::{Artifact, EntryPoint};
use tilewright_ir::program::Role;
use tilewright_runtime::sandbox::{self, Confinement, Maps, Measure, Phase};
use tilewright_runtime::{
    Access, CeilingMeter, Clock, Disturbance, KernelEntry, Launcher, LoadedKernel, Operands, Pool,
    RuntimeError, SharedBuffer, settle,
};

use super::arguments::WorkerArguments;
use super::fault::{blocked_signals, note_faults};
use super::library::LibraryFunction;
use super::operands::{SharedSet, TimedSet};
use crate::protocol::{Answer, Refusal, Reply, Request, Slot, TimePlan, WarmUp};
use crate::shared_layout::{MOST_SAMPLES, ResultArea, code_spec};

/// All that a worker holds.
pub(super) struct Session {
    /// Never unmapped: the signal handler writes there.
    area: &'static ResultArea,
    code: SharedBuffer,
    launcher: Launcher<'static>,
    meter: CeilingMeter<'static>,
    threads: usize,
    sets: Vec<SharedSet>,
    timed: TimedSet,
    kernels: [Option<LoadedKernel>; 2],
    library: Option<LibraryFunction>,
    maps: Maps,
    /// The library's function, once it is loaded.
    function: Option<KernelEntry>,
    clock: Clock,
}

impl Session {
    /// Maps everything, starts the pool, and lets nothing else happen from then on but carrying out requests.
    ///
    /// # Safety
    /// The descriptors were inherited for this process's sole use.
    pub(super) unsafe fn start(
        arguments: &WorkerArguments,
        library: Option<LibraryFunction>,
        (maps, mut confinement): (Maps, Confinement),
    ) -> Result<Self, RuntimeError> {
        // SAFETY: for all three, passed on to the caller.
        let area = unsafe { ResultArea::inherit(arguments.results) }?;
        // SAFETY: as above.
        let code = unsafe { SharedBuffer::inherit(arguments.code, &code_spec(), Access::ReadOnly) }?;
        let mut sets = Vec::new();
        for set in &arguments.sets {
            // SAFETY: as above.
            sets.push(unsafe { SharedSet::inherit(set) }?);
        }
        let area: &'static ResultArea = Box::leak(Box::new(area));
        note_faults(area);
        let pool: &'static Pool = Box::leak(Box::new(Pool::new(arguments.threads)?));
        let last = sets.pop().zip(arguments.sets.last()).ok_or(RuntimeError::EmptyCode)?;
        let timed = TimedSet::of(last.0, last.1)?;
        let shared = sets.iter().flat_map(|set| &set.buffers);
        let shared = shared.map(|buffer| (buffer.as_ptr() as u64, buffer.len() as u64));
        for (region, (start, bytes)) in shared.chain(timed.regions()).enumerate() {
            area.set_region(region, start, bytes);
        }
        let mut sealed = timed.inputs();
        let inputs = sets.iter().flat_map(|set| &set.buffers).zip(arguments.sets.iter().flatten());
        sealed.extend(inputs.filter(|(_, told)| told.role == Role::Input).map(|(buffer, _)| buffer.pages()));
        sandbox::seal_objects(&maps, &sealed, &mut confinement);
        let phase = if library.is_some() { Phase::Loading } else { Phase::Working };
        sandbox::confine_calls(phase, &maps, &mut confinement);
        note_confinement(area, &confinement);
        Ok(Self {
            area,
            code,
            launcher: Launcher::new(pool),
            meter: CeilingMeter::new(pool),
            threads: arguments.threads,
            sets,
            timed,
            kernels: [None, None],
            library,
            maps,
            function: None,
            clock: Clock::start(),
        })
    }

    /// Carries out one request.
    pub(super) fn carry_out(&mut self, request: &Request) -> Answer {
        let answer = match *request {
            Request::Load { slot, code_bytes, entry, workers, workspace_bytes } => {
                self.load(slot, code_bytes, entry, workers, workspace_bytes)
            }
            Request::Verify { slot, set, repeats, repeat_below_ns } => {
                self.verify(slot, set, repeats, repeat_below_ns)
            }
            Request::LoadLibrary { slot, workers, workspace_bytes } => {
                self.load_library(slot, workers, workspace_bytes)
            }
            Request::Time(plan) => self.time(&plan),
            Request::Sample { slot, launches, cold, disturb } => {
                self.one_sample(slot, launches, cold, disturb)
            }
            Request::Latency { slot, launches, cold } => self.latency(slot, launches, cold),
            Request::Ceiling { footprint_bytes, sample_ns } => self.ceiling(footprint_bytes, sample_ns),
            Request::Ping => Ok(Reply::default()),
        };
        self.area.set_running(0);
        answer.map_err(|refused| self.explain(&refused))
    }

    fn explain(&self, refused: &Refused) -> Refusal {
        match refused {
            Refused::WorkspaceOverrun => Refusal::WorkspaceOverrun,
            Refused::Runtime(RuntimeError::System { call: "mmap" | "mprotect", .. }) => Refusal::OutOfMemory,
            Refused::Runtime(error) => {
                self.area.set_message(&error.to_string());
                Refusal::Other
            }
            Refused::Request(what) => {
                self.area.set_message(what);
                Refusal::Other
            }
            Refused::Library(text) => {
                self.area.set_message(text);
                Refusal::Other
            }
            Refused::Disturbance(disturbance) => {
                self.area.set_message(&disturbance.to_string());
                Refusal::StateChanged
            }
            Refused::Blocked(signals) => {
                self.area.set_message(&format!("signals were left blocked, mask {signals:#x}"));
                Refusal::StateChanged
            }
        }
    }

    /// Loads the library under the loader's filter, and puts the filter for kernels in force.
    fn load_function(&mut self, slot: Slot) -> Result<KernelEntry, Refused> {
        let library = self.library.as_ref().ok_or(Refused::Request("there is no library"))?;
        // Constructors are the candidate's code too.
        self.area.set_running(1 + slot as u64);
        let entry = library.load().map_err(Refused::Library)?;
        settled(0)?;
        let mut confinement = Confinement::default();
        sandbox::seal_objects(&self.maps, &[], &mut confinement);
        sandbox::confine_calls(Phase::Working, &self.maps, &mut confinement);
        let filtered = Measure::ALL.iter().position(|measure| *measure == Measure::FewSystemCalls);
        let loading = filtered.is_some_and(|at| self.area.measures() >> at & 1 == 1);
        if loading && !confinement.has(Measure::FewSystemCalls) {
            return Err(Refused::Request("the filter of system calls for kernels was refused"));
        }
        Ok(*self.function.insert(entry))
    }

    fn load_library(&mut self, slot: Slot, workers: u64, workspace_bytes: u64) -> Result<Reply, Refused> {
        self.kernels[slot as usize] = None;
        let entry = if let Some(entry) = self.function { entry } else { self.load_function(slot)? };
        let kernel = LoadedKernel::of_function(entry, workers as usize, workspace_bytes as usize)?;
        self.kernels[slot as usize] = Some(kernel);
        Ok(Reply::default())
    }

    fn load(
        &mut self,
        slot: Slot,
        code_bytes: u64,
        entry: u64,
        workers: u64,
        workspace_bytes: u64,
    ) -> Result<Reply, Refused> {
        // Unmapped first, so that two large workspaces need not exist at once.
        self.kernels[slot as usize] = None;
        // SAFETY: the coordinator writes code only before it asks, and waits for the answer.
        let bytes = unsafe { self.code.bytes() };
        let code = bytes.get(..code_bytes as usize).ok_or(Refused::Request("code is too long"))?.to_vec();
        let artifact = Artifact {
            isa: String::new(),
            code,
            entries: vec![EntryPoint { name: "run".to_owned(), offset: entry }],
            workers: workers as u32,
            workspace_bytes,
        };
        self.kernels[slot as usize] = Some(LoadedKernel::load(&artifact)?);
        Ok(Reply::default())
    }

    fn verify(&mut self, slot: Slot, set: u32, repeats: u32, repeat_below_ns: u64) -> Result<Reply, Refused> {
        let kernel = self.kernels[slot as usize].as_ref().ok_or(Refused::Request("slot is empty"))?;
        self.area.set_running(1 + slot as u64);
        let mut shortest = u64::MAX;
        let mut reply = Reply::default();
        let mut launch = |operands: &Operands| {
            // SAFETY: the kernel may be wrong in any way; this process exists to suffer that.
            let (took, disturbance) = unsafe { self.launcher.time_watched(kernel, operands) }?;
            if let Some(disturbance) = disturbance {
                return Err(Refused::Disturbance(disturbance));
            }
            settled(took)?;
            reply.kernel_ns += took;
            reply.launches += 1;
            Ok(took)
        };
        if let Some(shared) = self.sets.get(set as usize) {
            shortest = shortest.min(launch(&shared.operands)?);
        } else {
            self.timed.restore();
            shortest = shortest.min(launch(&self.timed.operands)?);
            self.timed.keep();
            for _ in 0..repeats {
                if shortest >= repeat_below_ns {
                    break;
                }
                shortest = shortest.min(launch(&self.timed.operands)?);
            }
        }
        if !kernel.workspace_intact() || !self.timed.margins_intact() {
            return Err(Refused::WorkspaceOverrun);
        }
        reply.values[0] = shortest as f64;
        Ok(reply)
    }

    /// One sample: so many launches of a side, the nanoseconds of all of them.
    fn sample(&self, slot: usize, launches: u32, cold: bool) -> Result<u64, Refused> {
        let kernel = self.kernels[slot].as_ref().ok_or(Refused::Request("slot is empty"))?;
        self.area.set_running(1 + slot as u64);
        let TimedSet { operands, eviction, .. } = &self.timed;
        if cold {
            // SAFETY: as in `verify`; the eviction's regions are the operands.
            let each = unsafe { self.launcher.time_cold(kernel, operands, eviction, launches) }?;
            return settled(each.iter().sum());
        }
        // SAFETY: as in `verify`.
        settled(unsafe { self.launcher.time_batch(kernel, operands, launches) }?)
    }

    fn one_sample(&mut self, slot: Slot, launches: u32, cold: bool, disturb: u64) -> Result<Reply, Refused> {
        let mut reply = Reply::default();
        let updates = self.timed.updates();
        if updates {
            self.timed.restore();
        }
        let mut run = |session: &mut Self, launches: u32| {
            let took = session.sample(slot as usize, launches, cold)?;
            reply.kernel_ns += took;
            reply.launches += u64::from(launches);
            Ok::<_, Refused>(took)
        };
        run(self, 1)?;
        self.timed.restore();
        // A sample of several launches cannot be checked where each updates what the one before has left.
        if updates && launches > 1 {
            run(self, 1)?;
            self.timed.keep();
        }
        let took = if disturb == 0 || cold {
            run(self, launches)?
        } else {
            let kernel = self.kernels[slot as usize].as_ref().ok_or(Refused::Request("slot is empty"))?;
            let output = self.timed.output().ok_or(Refused::Request("there is no output"))?;
            self.area.set_running(1 + slot as u64);
            let operands = &self.timed.operands;
            // SAFETY: as in `verify`; the output is an operand of this set.
            let took = unsafe { self.launcher.time_disturbed(kernel, operands, launches, output, disturb) }?;
            reply.kernel_ns += took;
            reply.launches += u64::from(launches);
            settled(took)?
        };
        if !updates || launches == 1 {
            self.timed.keep();
        }
        reply.timed_ns = took;
        Ok(reply)
    }

    fn time(&mut self, plan: &TimePlan) -> Result<Reply, Refused> {
        if plan.pairs == 0 || plan.pairs > 64 || plan.launches.contains(&0) {
            return Err(Refused::Request("a plan has 1 to 64 pairs and 1 launch or more"));
        }
        let mut reply = Reply::default();
        if self.timed.updates() {
            self.timed.restore();
        }
        let order = |pair: u32| if plan.candidate_first >> pair & 1 == 1 { [1, 0] } else { [0, 1] };
        let warm_up: &[usize] = match plan.warm_up {
            WarmUp::None => &[],
            WarmUp::Second => &order(0)[1..],
            WarmUp::Both => &order(0),
        };
        let launches = |side: usize| u64::from(plan.launches[side]);
        for &side in warm_up {
            reply.kernel_ns += self.sample(side, plan.launches[side], plan.cold)?;
            reply.launches += launches(side);
        }
        for pair in 0..plan.pairs {
            for side in order(pair) {
                let checked = side == 1 && pair == plan.checked_pair;
                if checked {
                    self.timed.restore();
                    // A sample of several launches cannot be the checked one: it would update several times.
                    if plan.launches[1] > 1 {
                        reply.kernel_ns += self.sample(1, 1, plan.cold)?;
                        self.timed.keep();
                        reply.kernel_ns += self.sample(1, plan.launches[1], plan.cold)?;
                        reply.launches += 1 + launches(1);
                    }
                }
                let took = self.sample(side, plan.launches[side], plan.cold)?;
                if checked && plan.launches[1] == 1 {
                    self.timed.keep();
                }
                self.area.set_sample(2 * pair as usize + side, took);
                reply.timed_ns += took;
                reply.kernel_ns += took;
                reply.launches += launches(side);
            }
        }
        Ok(reply)
    }

    fn latency(&mut self, slot: Slot, launches: u32, cold: bool) -> Result<Reply, Refused> {
        let mut reply = Reply::default();
        if self.timed.updates() {
            self.timed.restore();
        }
        for at in 0..(launches as usize).min(MOST_SAMPLES) {
            let took = self.sample(slot as usize, 1, cold)?;
            self.area.set_sample(at, took);
            reply.timed_ns += took;
            reply.launches += 1;
        }
        reply.kernel_ns = reply.timed_ns;
        Ok(reply)
    }

    fn ceiling(&mut self, footprint_bytes: u64, sample_ns: u64) -> Result<Reply, Refused> {
        let start = self.clock.nanoseconds();
        let gflops = self.meter.fma(self.threads, sample_ns as f64)?.unwrap_or(0.0);
        let alone = self.meter.fma(1, 0.0)?.unwrap_or(0.0);
        let gbps = match footprint_bytes {
            0 => 0.0,
            bytes => self.meter.read_bandwidth(bytes as usize, self.threads)?,
        };
        let took = self.clock.nanoseconds() - start;
        Ok(Reply { timed_ns: took, kernel_ns: took, launches: 0, values: [gflops, alone, gbps] })
    }
}

/// The time of a sample, unless its launches have left control state changed on this thread, or signals blocked.
fn settled(took: u64) -> Result<u64, Refused> {
    if let Some(disturbance) = settle() {
        return Err(Refused::Disturbance(disturbance));
    }
    let blocked = blocked_signals();
    if blocked == 0 { Ok(took) } else { Err(Refused::Blocked(blocked)) }
}

/// Leaves for the coordinator which measures are in force, and why others are not.
fn note_confinement(area: &ResultArea, confinement: &Confinement) {
    let applied = Measure::ALL.iter().enumerate().filter(|(_, measure)| confinement.has(**measure));
    area.set_measures(applied.fold(0, |measures, (at, _)| measures | 1 << at));
    let refused = confinement.refused.iter().map(|(measure, text)| format!("{}: {text}", measure.name()));
    area.set_message(&refused.collect::<Vec<_>>().join("\n"));
}

/// Why a request was not carried out.
enum Refused {
    Runtime(RuntimeError),
    WorkspaceOverrun,
    Request(&'static str),
    Library(String),
    Disturbance(Disturbance),
    /// Signals were left blocked, bit `n - 1` for signal `n`.
    Blocked(u64),
}

impl From<RuntimeError> for Refused {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}
