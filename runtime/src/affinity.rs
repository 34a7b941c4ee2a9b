//! Which processors may be used, and pinning threads to them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::marker::PhantomData;
use std::sync::OnceLock;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::RuntimeError;

/// Logical processors this process may use, one of every physical core first, siblings after.
///
/// Read once, from the affinity of the thread that asks first; pinning a thread later changes nothing.
pub fn usable_processors() -> &'static [usize] {
    static USABLE: OnceLock<Vec<usize>> = OnceLock::new();
    USABLE.get_or_init(|| cores_first(&allowed(), core_of))
}

/// Numbers of the processors that the system runs, whichever of them this process may use.
pub(crate) fn online_processors() -> Vec<usize> {
    let listed = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let online = listed_processors(&listed);
    if online.is_empty() { usable_processors().to_vec() } else { online }
}

/// Reads a list such as `0-3,8,10-11`; empty when it is none.
fn listed_processors(text: &str) -> Vec<usize> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<usize>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().take(1 << 16).collect()
}

/// Physical cores among these processors.
pub(crate) fn physical_cores(processors: &[usize]) -> usize {
    let cores: std::collections::BTreeSet<_> = processors.iter().map(|&cpu| core_of(cpu)).collect();
    cores.len()
}

fn allowed() -> Vec<usize> {
    let listed = sched_getaffinity(None)
        .map(|set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect::<Vec<_>>())
        .unwrap_or_default();
    if listed.is_empty() { vec![0] } else { listed }
}

/// Names the physical core of a processor; a processor of which nothing is known is a core of its own.
fn core_of(cpu: usize) -> String {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    fs::read_to_string(path).map_or_else(|_| cpu.to_string(), |list| list.trim().to_owned())
}

fn cores_first(processors: &[usize], core_of: impl Fn(usize) -> String) -> Vec<usize> {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, usize)> = processors
        .iter()
        .map(|&cpu| {
            let siblings_before = used.entry(core_of(cpu)).or_insert(0);
            *siblings_before += 1;
            (*siblings_before, cpu)
        })
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, cpu)| cpu).collect()
}

/// Pins the calling thread for the rest of its life.
pub(crate) fn pin_thread(processor: usize) -> Result<(), RuntimeError> {
    let mut set = CpuSet::new();
    set.set(processor);
    sched_setaffinity(None, &set).map_err(RuntimeError::system("sched_setaffinity"))
}

thread_local! {
    /// How many pins this thread holds, and its affinity before the first.
    static PINS: Cell<(usize, Option<CpuSet>)> = const { Cell::new((0, None)) };
}

/// Keeps the calling thread on one processor until dropped.
///
/// Pins may overlap in any order: the affinity that the thread had before the first returns with the last.
#[derive(Debug)]
pub(crate) struct Pin {
    // Affinity belongs to a thread, so the pin stays on it.
    not_send: PhantomData<*const ()>,
}

impl Pin {
    pub(crate) fn to(processor: usize) -> Result<Self, RuntimeError> {
        let (held, mut before) = PINS.get();
        if held == 0 {
            before = Some(sched_getaffinity(None).map_err(RuntimeError::system("sched_getaffinity"))?);
        }
        pin_thread(processor)?;
        PINS.set((held + 1, before));
        Ok(Self { not_send: PhantomData })
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let (held, before) = PINS.get();
        PINS.set((held.saturating_sub(1), before));
        if let (1, Some(before)) = (held, before) {
            // A thread that cannot be set free stays pinned; there is nobody to tell.
            let _ = sched_setaffinity(None, &before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_read() {
        assert_eq!(listed_processors("0-2,5,7-8\n"), [0, 1, 2, 5, 7, 8]);
        assert_eq!(listed_processors("0"), [0]);
        assert!(listed_processors("").is_empty() && listed_processors("x-y").is_empty());
    }

    #[test]
    fn every_core_is_used_before_its_siblings() {
        let core_of = |cpu: usize| (cpu / 2).to_string();
        assert_eq!(cores_first(&[0, 1, 2, 3, 5], core_of), [0, 2, 5, 1, 3]);
        let split = |cpu: usize| (cpu % 3).to_string();
        assert_eq!(cores_first(&[0, 1, 2, 3, 4, 5], split), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn there_is_a_processor_and_a_core() {
        let usable = usable_processors();
        assert!(!usable.is_empty());
        assert!((1..=usable.len()).contains(&physical_cores(usable)));
    }

    // U165
    #[test]
    fn overlapping_pins_give_back_the_first_affinity() {
        let mask = |set: CpuSet| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect::<Vec<_>>();
        let before = mask(sched_getaffinity(None).unwrap());
        let (first, last) = (before[0], before[before.len() - 1]);
        let one = Pin::to(first).unwrap();
        let two = Pin::to(last).unwrap();
        assert_eq!(mask(sched_getaffinity(None).unwrap()), [last]);
        drop(one);
        assert_eq!(mask(sched_getaffinity(None).unwrap()), [last]);
        drop(two);
        assert_eq!(mask(sched_getaffinity(None).unwrap()), before);
    }
}
