//! What the end of a worker says about the kernel that it ran.

use tilewright_ir::program::Role;
use tilewright_journal::EvalError;
use tilewright_runtime::sandbox::{CallClass, classify};

use super::memory::StandSet;
use crate::process::Ended;
use crate::shared_layout::ResultArea;

/// Strays farther from every operand than this are plain crashes, bytes.
const NEAR: u64 = 1 << 20;

/// What is known of the process that ended.
pub(super) struct Circumstances<'stand> {
    pub(super) limit_ms: u64,
    /// Address space from which on a process counts as one that allocates without end, bytes.
    pub(super) most_memory_bytes: u64,
    pub(super) area: &'stand ResultArea,
    pub(super) sets: &'stand [StandSet],
    /// Names of the operands.
    pub(super) names: &'stand [String],
}

/// The failure of a kernel whose worker ended.
pub(super) fn failure(ended: Ended, circumstances: &Circumstances<'_>) -> EvalError {
    let &Circumstances { limit_ms, most_memory_bytes, area, sets, names } = circumstances;
    // What the incumbent did is not the candidate's fault.
    if area.running() == 1 && !matches!(ended, Ended::Timeout { .. }) {
        return EvalError::Lost(format!("the incumbent ended the worker ({ended:?})"));
    }
    match ended {
        // The handler of a refused call ends the process by an instruction that no processor has.
        Ended::Signal(libc::SIGSYS | libc::SIGILL)
            if area.fault().is_some_and(|fault| fault.call.is_some()) =>
        {
            refused_call(area)
        }
        Ended::Timeout { memory_bytes } if memory_bytes > most_memory_bytes => EvalError::OutOfMemory,
        Ended::Timeout { .. } | Ended::Signal(libc::SIGXCPU) => EvalError::Timeout { limit_ms },
        Ended::Signal(signal @ (libc::SIGSEGV | libc::SIGBUS)) => {
            stray(area, sets, names).unwrap_or_else(|| {
                if area.fault().is_some_and(|fault| fault.detail != 0) {
                    // A null pointer, most likely: what an allocation gives when there is no more.
                    return EvalError::OutOfMemory;
                }
                EvalError::Crashed { signal }
            })
        }
        Ended::Signal(libc::SIGILL) => EvalError::IllegalInstruction,
        Ended::Signal(libc::SIGSYS) => refused_call(area),
        // Nobody here kills a worker that is to answer: the system was out of memory.
        Ended::Signal(libc::SIGKILL) => EvalError::OutOfMemory,
        Ended::Signal(signal) => EvalError::Crashed { signal },
        // Between requests a worker exits only when it could not start.
        Ended::Exit(code) if area.running() == 0 => {
            EvalError::Lost(format!("the worker exited with status {code:?}"))
        }
        Ended::Exit(_) => EvalError::Crashed { signal: 0 },
        Ended::Nonsense => EvalError::TimerTampered("the answer was not written by the worker".to_owned()),
    }
}

/// The failure that a refused system call stands for.
fn refused_call(area: &ResultArea) -> EvalError {
    let Some((call, detail)) = area.fault().and_then(|fault| Some((fault.call?, fault.detail))) else {
        return EvalError::ForbiddenCall("of unknown number".to_owned());
    };
    let name = call_name(call);
    match classify(call, detail) {
        CallClass::Process => EvalError::Forked(name),
        CallClass::Thread => EvalError::ThreadLeft(name),
        CallClass::State => EvalError::StateChanged(name),
        CallClass::Code => EvalError::TimerTampered(format!("{name} of code that is not the kernel's")),
        CallClass::Exit => EvalError::Crashed { signal: 0 },
        CallClass::Other => EvalError::ForbiddenCall(name),
    }
}

/// The name of the calls that are likely, the number of any.
fn call_name(call: i64) -> String {
    let name = CALL_NAMES.iter().find(|(number, _)| *number == call).map(|(_, name)| *name);
    name.map_or_else(|| format!("system call {call}"), |name| format!("system call {name}"))
}

const CALL_NAMES: [(i64, &str); 40] = [
    (libc::SYS_clone, "clone"),
    (libc::SYS_clone3, "clone3"),
    (libc::SYS_fork, "fork"),
    (libc::SYS_vfork, "vfork"),
    (libc::SYS_execve, "execve"),
    (libc::SYS_read, "read"),
    (libc::SYS_write, "write"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_open, "open"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_close, "close"),
    (libc::SYS_close_range, "close_range"),
    (libc::SYS_dup2, "dup2"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_socket, "socket"),
    (libc::SYS_connect, "connect"),
    (libc::SYS_sendto, "sendto"),
    (libc::SYS_kill, "kill"),
    (libc::SYS_tgkill, "tgkill"),
    (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_process_vm_writev, "process_vm_writev"),
    (libc::SYS_mmap, "mmap"),
    (libc::SYS_mprotect, "mprotect"),
    (libc::SYS_mremap, "mremap"),
    (libc::SYS_rt_sigaction, "rt_sigaction"),
    (libc::SYS_sigaltstack, "sigaltstack"),
    (libc::SYS_sched_setaffinity, "sched_setaffinity"),
    (libc::SYS_sched_setscheduler, "sched_setscheduler"),
    (libc::SYS_setpriority, "setpriority"),
    (libc::SYS_prctl, "prctl"),
    (libc::SYS_arch_prctl, "arch_prctl"),
    (libc::SYS_prlimit64, "prlimit64"),
    (libc::SYS_setrlimit, "setrlimit"),
    (libc::SYS_setitimer, "setitimer"),
    (libc::SYS_timer_create, "timer_create"),
    (libc::SYS_exit, "exit"),
    (libc::SYS_memfd_create, "memfd_create"),
    (libc::SYS_perf_event_open, "perf_event_open"),
];

/// What the access that faulted did, when it went to or near an operand.
fn stray(area: &ResultArea, sets: &[StandSet], names: &[String]) -> Option<EvalError> {
    let address = area.fault()?.address;
    let operands = sets.iter().flat_map(|set| set.arguments().iter().zip(names));
    let distances = operands.enumerate().filter_map(|(region, (argument, name))| {
        let (start, bytes) = area.region(region);
        let end = start.checked_add(bytes)?;
        let (distance, place) = if address < start {
            (start - address, format!("{} bytes before `{name}`", start - address))
        } else if address >= end {
            (address - end, format!("{} bytes behind the end of `{name}`", address - end))
        } else if argument.role == Role::Input {
            return Some((0, EvalError::InputModified(format!("store to input `{name}`"))));
        } else {
            return None;
        };
        (start != 0).then_some((distance, EvalError::OutOfBounds(place)))
    });
    let (distance, error) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance < NEAR).then_some(error)
}
