//! What disturbs a measurement from outside, as the system counts it: other processes, the hypervisor, moves
//! between processors, clocks and heat.
//!
//! Counters are taken before and after a measurement and subtracted. What a system does not tell is `None`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Clock;

/// Counters at one time.
#[derive(Debug, Clone)]
pub struct ContentionReading {
    clock: Clock,
    start_ns: u64,
    process: u32,
    counters: Counters,
}

/// What happened during a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Contention {
    /// Time between the two readings, ns.
    pub elapsed_ns: u64,
    /// Time for which the hypervisor ran something else, all processors together, ns; in steps of a clock tick
    /// of the system, mostly 10 ms.
    pub steal_ns: Option<u64>,
    /// Processor time that other processes than the measured one used, all processors together, ns; in such
    /// steps too.
    pub others_ns: Option<u64>,
    /// Time for which threads of the measured process were ready and waited for a processor, ns.
    pub waited_ns: Option<u64>,
    /// Times that one of its threads was made to give up its processor.
    pub involuntary_switches: Option<u64>,
    /// Times that one of its threads moved to another processor.
    pub migrations: Option<u64>,
    /// Mean clock of the processors before and after, MHz.
    pub clock_mhz: Option<[f64; 2]>,
    /// Highest temperature before and after, °C.
    pub celsius: Option<[f64; 2]>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    steal_ns: Option<u64>,
    busy_ns: Option<u64>,
    ran_ns: Option<u64>,
    waited_ns: Option<u64>,
    involuntary: Option<u64>,
    migrations: Option<u64>,
    clock_mhz: Option<f64>,
    celsius: Option<f64>,
}

/// Share of the processor time wanted that may be lost before a measurement counts as disturbed.
const LOST_SHARE: f64 = 0.02;
/// Waiting that waking up takes on a quiet machine, for each thread, ns.
const WAKING_NS: f64 = 60_000.0;

impl ContentionReading {
    /// Reads the counters of the system and of a process.
    pub fn take(process: u32) -> Self {
        let clock = Clock::start();
        let start_ns = clock.nanoseconds();
        Self { clock, start_ns, process, counters: Counters::read(process) }
    }

    /// What has happened since.
    pub fn until_now(&self) -> Contention {
        let (before, now) = (&self.counters, Counters::read(self.process));
        let since = |before: Option<u64>, now: Option<u64>| Some(now?.saturating_sub(before?));
        let both = |before: Option<f64>, now: Option<f64>| Some([before?, now?]);
        let busy = since(before.busy_ns, now.busy_ns);
        let ran = since(before.ran_ns, now.ran_ns);
        Contention {
            elapsed_ns: self.clock.nanoseconds() - self.start_ns,
            steal_ns: since(before.steal_ns, now.steal_ns),
            others_ns: busy.zip(ran).map(|(busy, ran)| busy.saturating_sub(ran)),
            waited_ns: since(before.waited_ns, now.waited_ns),
            involuntary_switches: since(before.involuntary, now.involuntary),
            migrations: since(before.migrations, now.migrations),
            clock_mhz: both(before.clock_mhz, now.clock_mhz),
            celsius: both(before.celsius, now.celsius),
        }
    }
}

impl Contention {
    /// Whether a measurement with so many threads lost more processor time than a quiet machine takes.
    ///
    /// It looks at counters alone, never at the times measured, so leaving out what it calls disturbed favours
    /// neither side of a comparison.
    pub fn is_disturbed(&self, threads: u32) -> bool {
        let wanted = self.elapsed_ns as f64 * f64::from(threads.max(1));
        let allowed = LOST_SHARE * wanted;
        let waking = WAKING_NS * f64::from(threads.max(1));
        self.steal_ns.is_some_and(|steal| steal as f64 > allowed)
            || self.waited_ns.is_some_and(|waited| waited as f64 > allowed + waking)
    }

    /// Both together, one after the other.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        let sum = |first: Option<u64>, second: Option<u64>| match (first, second) {
            (Some(first), Some(second)) => Some(first + second),
            (first, second) => first.or(second),
        };
        let ends = |first: Option<[f64; 2]>, second: Option<[f64; 2]>| match (first, second) {
            (Some([begin, _]), Some([_, end])) => Some([begin, end]),
            (first, second) => first.or(second),
        };
        Self {
            elapsed_ns: self.elapsed_ns + later.elapsed_ns,
            steal_ns: sum(self.steal_ns, later.steal_ns),
            others_ns: sum(self.others_ns, later.others_ns),
            waited_ns: sum(self.waited_ns, later.waited_ns),
            involuntary_switches: sum(self.involuntary_switches, later.involuntary_switches),
            migrations: sum(self.migrations, later.migrations),
            clock_mhz: ends(self.clock_mhz, later.clock_mhz),
            celsius: ends(self.celsius, later.celsius),
        }
    }
}

impl Counters {
    fn read(process: u32) -> Self {
        let mut counters = Self { clock_mhz: clock_mhz(), celsius: celsius(), ..Self::default() };
        if let Some((busy, steal)) = fs::read_to_string("/proc/stat").ok().as_deref().and_then(system_ticks) {
            let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
            counters.busy_ns = Some(busy * tick_ns);
            counters.steal_ns = Some(steal * tick_ns);
        }
        for task in entries(&PathBuf::from(format!("/proc/{process}/task"))) {
            let text = |name: &str| fs::read_to_string(task.join(name)).unwrap_or_default();
            if let Some((ran, waited)) = scheduled_ns(&text("schedstat")) {
                *counters.ran_ns.get_or_insert(0) += ran;
                *counters.waited_ns.get_or_insert(0) += waited;
            }
            if let Some(count) = value_of(&text("status"), "nonvoluntary_ctxt_switches") {
                *counters.involuntary.get_or_insert(0) += count;
            }
            if let Some(count) = value_of(&text("sched"), "se.nr_migrations") {
                *counters.migrations.get_or_insert(0) += count;
            }
        }
        counters
    }
}

/// Busy and stolen ticks of all processors, of the first line of `/proc/stat` (proc(5)).
fn system_ticks(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    // user, nice, system, idle, iowait, irq, softirq, steal
    let [user, nice, system, _, _, irq, softirq, steal, ..] = ticks[..] else { return None };
    Some((user + nice + system + irq + softirq, steal))
}

/// Time that a thread ran, and time that it waited for a processor, ns, of its `schedstat`.
fn scheduled_ns(text: &str) -> Option<(u64, u64)> {
    let mut words = text.split_whitespace().map(|word| word.parse().ok());
    Some((words.next()??, words.next()??))
}

/// The number behind a name and a colon.
fn value_of(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

fn clock_mhz() -> Option<f64> {
    let clocks: Vec<f64> = entries(Path::new("/sys/devices/system/cpu"))
        .iter()
        .filter_map(|processor| number_in(&processor.join("cpufreq/scaling_cur_freq")))
        .collect();
    (!clocks.is_empty()).then(|| clocks.iter().sum::<f64>() / clocks.len() as f64 / 1e3)
}

fn celsius() -> Option<f64> {
    let zones = entries(Path::new("/sys/class/thermal"));
    let heats = zones.iter().filter_map(|zone| number_in(&zone.join("temp")));
    heats.reduce(f64::max).map(|millidegrees| millidegrees / 1e3)
}

fn number_in(path: &Path) -> Option<f64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// What is in a folder; nothing where it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_in_the_systems_texts() {
        let stat = "cpu  362502 10 28120 221992 519 3 232 5182 0 0\ncpu0 1 2 3\n";
        assert_eq!(system_ticks(stat), Some((362_502 + 10 + 28_120 + 3 + 232, 5182)));
        assert_eq!(system_ticks("intr 1"), None);
        assert_eq!(scheduled_ns("634244 48422 1\n"), Some((634_244, 48_422)));
        let sched = "se.nr_migrations                             :                    7\nnr_switches  : 2\n";
        assert_eq!(value_of(sched, "se.nr_migrations"), Some(7));
        assert_eq!(value_of("nonvoluntary_ctxt_switches:\t12\n", "nonvoluntary_ctxt_switches"), Some(12));
    }

    #[test]
    fn a_busy_process_is_seen_to_wait_and_an_idle_one_is_not() {
        let reading = ContentionReading::take(std::process::id());
        std::thread::sleep(std::time::Duration::from_millis(2));
        let contention = reading.until_now();
        assert!(contention.elapsed_ns >= 2_000_000);
        let quiet = Contention { elapsed_ns: 10_000_000, ..Contention::default() };
        assert!(!quiet.is_disturbed(2));
        let waiting = Contention { waited_ns: Some(3_000_000), ..quiet };
        let stolen = Contention { steal_ns: Some(10_000_000), ..quiet };
        assert!(waiting.is_disturbed(2) && stolen.is_disturbed(2));
        assert_eq!(waiting.and(waiting).waited_ns, Some(6_000_000));
        assert_eq!(waiting.and(quiet).waited_ns, Some(3_000_000));
    }
}
