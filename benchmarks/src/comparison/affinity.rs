//! Which processors a contender's threads run on.

use std::io;

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

/// Keeps this process and the threads it will start on the last `threads` of the processors it may
/// use; the first ones serve most interrupts. Pools that size themselves by affinity follow.
pub(super) fn confine(threads: usize) -> io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let last: Vec<usize> = processors(&allowed).into_iter().rev().take(threads).collect();
    Ok(sched_setaffinity(None, &set_of(&last))?)
}

/// Gives every thread of a pool a processor of its own. The scheduler may wake two sleeping threads on
/// one processor and leave them there for a whole batch, which no pool deserves; those that have bound
/// their threads themselves stay as they are.
pub(super) fn spread(threads: usize) -> io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let chosen = processors(&allowed);
    if threads < 2 || chosen.len() < threads {
        return Ok(());
    }
    let own = rustix::process::getpid();
    let mut helpers: Vec<Pid> = std::fs::read_dir("/proc/self/task")?
        .flatten()
        .filter_map(|task| Pid::from_raw(task.file_name().to_str()?.parse().ok()?))
        .filter(|task| *task != own)
        .collect();
    helpers.sort_by_key(|helper| helper.as_raw_nonzero());
    // A pool of its own full size works while the calling thread sleeps; a smaller one works with it.
    let first = usize::from(helpers.len() < threads);
    for (index, helper) in helpers.iter().enumerate() {
        // A thread that has ended since needs none.
        let Ok(bound) = sched_getaffinity(Some(*helper)) else { continue };
        if bound.count() > 1 {
            let processor = chosen[(index + first) % threads];
            let _ = sched_setaffinity(Some(*helper), &set_of(&[processor]));
        }
    }
    // Only once the pool exists: threads inherit the mask of the one that starts them.
    if first == 1 && !helpers.is_empty() {
        sched_setaffinity(None, &set_of(&chosen[..1]))?;
    }
    Ok(())
}

fn processors(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

fn set_of(processors: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in processors {
        set.set(*cpu);
    }
    set
}
