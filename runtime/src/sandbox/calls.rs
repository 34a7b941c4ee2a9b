//! Which system calls a worker may make: a seccomp filter that lets through what carrying out requests needs, and
//! raises SIGSYS for anything else.
//!
//! A filter stands for all code of the process. What it lets through is what is harmless from a kernel too: memory
//! of its own, waiting, telling the time, and the one socket.
//!
//! Blocking signals is refused as well, since a refusal that is blocked ends the process without a word; whoever
//! handles SIGSYS can pretend that it was done, which is all that the C library needs.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::{Confinement, Measure};

/// What the filter is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Libraries may be loaded: files may be opened for reading, as far as Landlock lets them, and mapped.
    Loading,
    /// Kernels run.
    Working,
}

/// What a refused call was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallClass {
    /// Another process, or another program in this one.
    Process,
    /// Another thread.
    Thread,
    /// State of the process or a thread: affinity, priority, signal handlers, descriptors, limits.
    State,
    /// Protection of code, or of the clock's page.
    Code,
    /// The end of the process.
    Exit,
    /// Anything else: files, sockets, other processes.
    Other,
}

/// Always allowed.
const HARMLESS: [i64; 25] = [
    libc::SYS_munmap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_times,
    libc::SYS_getrusage,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_pause,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_sched_getaffinity,
    libc::SYS_getrandom,
    libc::SYS_uname,
    libc::SYS_membarrier,
];

/// Allowed beside these while libraries are loaded.
const LOADING: [i64; 22] = [
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_readv,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_close,
    libc::SYS_mprotect,
    libc::SYS_sysinfo,
    // The filter of the next phase, and sealing what was loaded.
    libc::SYS_seccomp,
    super::seal::MSEAL,
];

/// Signals that the C library keeps for itself and whose handlers it installs before it starts a thread, so that the
/// thread is what is refused.
const LIBRARY_SIGNALS: [u64; 2] = [32, 33];

/// Signals that a process may send itself: those by which it dies of a fault.
const OWN_SIGNALS: [i32; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGABRT, libc::SIGSYS];

const STATE: [i64; 31] = [
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    libc::SYS_prctl,
    libc::SYS_arch_prctl,
    libc::SYS_modify_ldt,
    libc::SYS_prlimit64,
    libc::SYS_setrlimit,
    libc::SYS_personality,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    libc::SYS_umask,
    libc::SYS_chdir,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup2,
    libc::SYS_dup3,
    libc::SYS_fcntl,
    libc::SYS_shutdown,
    libc::SYS_alarm,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_seccomp,
    libc::SYS_set_robust_list,
];

/// Sorts a refused call; `detail` is its first argument, or the flags where those lie in memory (`clone3`).
pub fn classify(call: i64, detail: u64) -> CallClass {
    match call {
        libc::SYS_clone | libc::SYS_clone3 if detail & libc::CLONE_THREAD as u64 != 0 => CallClass::Thread,
        libc::SYS_clone
        | libc::SYS_clone3
        | libc::SYS_fork
        | libc::SYS_vfork
        | libc::SYS_execve
        | libc::SYS_execveat => CallClass::Process,
        libc::SYS_mprotect | libc::SYS_pkey_mprotect | libc::SYS_mremap | libc::SYS_mmap => CallClass::Code,
        libc::SYS_exit | libc::SYS_exit_group => CallClass::Exit,
        call if STATE.contains(&call) => CallClass::State,
        _ => CallClass::Other,
    }
}

/// The filter's rules: a call passes when all conditions of one of its rules hold; no rules, no conditions.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Puts the filter in force for all threads. `protected` are ranges of addresses whose protection nobody may
/// change any more, in order. Further filters only take away.
pub(super) fn confine_calls(phase: Phase, protected: &[[u64; 2]], confinement: &mut Confinement) {
    match filter(phase, protected).map_err(|error| error.to_string()).and_then(|program| {
        seccompiler::apply_filter_all_threads(&program).map_err(|error| error.to_string())
    }) {
        Ok(()) => confinement.applied.push(Measure::FewSystemCalls),
        Err(error) => confinement.refused.push((Measure::FewSystemCalls, error)),
    }
}

fn filter(phase: Phase, protected: &[[u64; 2]]) -> Result<BpfProgram, BackendError> {
    let mut rules = Rules::new();
    for call in HARMLESS {
        rules.insert(call, Vec::new());
    }
    // The socket is the only descriptor that may be used.
    for call in [libc::SYS_read, libc::SYS_write, libc::SYS_recvfrom, libc::SYS_sendto] {
        rules.insert(call, vec![rule([equal(0, 0)?])?]);
    }
    let own = u64::from(std::process::id());
    let mut signals = Vec::new();
    for signal in OWN_SIGNALS {
        signals.push(rule([equal(0, own)?, equal(2, signal as u64)?])?);
    }
    rules.insert(libc::SYS_tgkill, signals);
    let mut handlers = Vec::new();
    for signal in LIBRARY_SIGNALS {
        handlers.push(rule([equal(0, signal)?])?);
    }
    rules.insert(libc::SYS_rt_sigaction, handlers);
    // Memory of one's own, never writable and executable at once, and nowhere but where the system chooses.
    let mut map = Vec::new();
    let anonymous = masked(3, (libc::MAP_ANONYMOUS | libc::MAP_FIXED) as u64, libc::MAP_ANONYMOUS as u64)?;
    for harmless in [libc::PROT_WRITE, libc::PROT_EXEC] {
        map.push(rule([masked(2, harmless as u64, 0)?, anonymous.clone()])?);
    }
    rules.insert(libc::SYS_mmap, map);
    let mut protect = Vec::new();
    let mut remap = Vec::new();
    for outside in gaps(protected)? {
        for harmless in [libc::PROT_WRITE, libc::PROT_EXEC] {
            let mut conditions = outside.clone();
            conditions.push(masked(2, harmless as u64, 0)?);
            protect.push(SeccompRule::new(conditions)?);
        }
        let mut conditions = outside;
        conditions.push(masked(3, libc::MREMAP_FIXED as u64, 0)?);
        remap.push(SeccompRule::new(conditions)?);
    }
    rules.insert(libc::SYS_mprotect, protect);
    rules.insert(libc::SYS_mremap, remap);
    if phase == Phase::Loading {
        for call in LOADING {
            rules.insert(call, Vec::new());
        }
        rules.insert(libc::SYS_prctl, vec![rule([equal(0, libc::PR_SET_NO_NEW_PRIVS as u64)?])?]);
        // Files are mapped at addresses that the loader has reserved.
        let mut map = Vec::new();
        for harmless in [libc::PROT_WRITE, libc::PROT_EXEC] {
            map.push(rule([masked(2, harmless as u64, 0)?])?);
        }
        rules.insert(libc::SYS_mmap, map);
    }
    SeccompFilter::new(rules, SeccompAction::Trap, SeccompAction::Allow, TargetArch::x86_64)?.try_into()
}

fn rule<const N: usize>(conditions: [SeccompCondition; N]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.into())
}

fn equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
}

/// Conditions on the first argument that hold between the ranges, one list for each gap.
fn gaps(ranges: &[[u64; 2]]) -> Result<Vec<Vec<SeccompCondition>>, BackendError> {
    let compare = |operation, value| SeccompCondition::new(0, SeccompCmpArgLen::Qword, operation, value);
    let mut gaps = Vec::new();
    let mut after = None;
    for [start, end] in ranges {
        let mut conditions = vec![compare(SeccompCmpOp::Lt, *start)?];
        if let Some(after) = after {
            conditions.push(compare(SeccompCmpOp::Ge, after)?);
        }
        gaps.push(conditions);
        after = Some(*end);
    }
    gaps.push(vec![compare(SeccompCmpOp::Ge, after.unwrap_or(0))?]);
    Ok(gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_calls_are_sorted() {
        let thread = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;
        assert_eq!(classify(libc::SYS_clone3, thread), CallClass::Thread);
        assert_eq!(classify(libc::SYS_clone, libc::SIGCHLD as u64), CallClass::Process);
        assert_eq!(classify(libc::SYS_execve, 0), CallClass::Process);
        assert_eq!(classify(libc::SYS_sched_setaffinity, 0), CallClass::State);
        assert_eq!(classify(libc::SYS_mprotect, 0), CallClass::Code);
        assert_eq!(classify(libc::SYS_exit_group, 0), CallClass::Exit);
        assert_eq!(classify(libc::SYS_socket, 0), CallClass::Other);
    }

    #[test]
    fn nothing_is_both_harmless_and_a_change_of_state() {
        assert!(STATE.iter().all(|call| !HARMLESS.contains(call)));
    }
}
