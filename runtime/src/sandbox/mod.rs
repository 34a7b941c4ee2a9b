//! What a worker process does to itself before it runs code that may be wrong.
//!
//! In order: limits and [`confine`] before anything else, [`confine_files`] before threads are started,
//! [`seal_objects`] and [`confine_calls`] when everything is mapped.

mod calls;
mod files;
mod seal;

use std::path::PathBuf;

pub use calls::{CallClass, Phase, classify};
use rustix::process::{self, Resource, Rlimit, Signal};
pub use seal::Maps;

/// Limits of a worker process. The default suits most: no core dumps, no files written, its own process
/// group, death with the parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of address space, if limited.
    pub address_space: Option<u64>,
    /// Most seconds of processor time, summed over threads; the process is killed one second later at most.
    pub cpu_seconds: Option<u64>,
    /// Largest file that may be written, bytes. With 0, standard output must be a pipe or discarded, and
    /// shared memory must have been created by the parent.
    pub file_bytes: Option<u64>,
    /// Most processes and threads of this user, if limited; the system ignores it for a privileged user.
    pub processes: Option<u64>,
    /// Whether the process becomes the leader of a process group of its own, so that all its children can
    /// be killed at once.
    pub own_process_group: bool,
    /// Whether the process is killed when the thread that started it ends.
    pub die_with_parent: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            address_space: None,
            cpu_seconds: None,
            file_bytes: Some(0),
            processes: None,
            own_process_group: true,
            die_with_parent: true,
        }
    }
}

/// One measure of confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// A crash leaves no core file.
    NoCoreDumps,
    /// Address space is limited.
    AddressSpace,
    /// Processor time is limited.
    CpuSeconds,
    /// Size of written files is limited.
    FileBytes,
    /// Number of processes is limited.
    Processes,
    /// The process leads its own group.
    OwnProcessGroup,
    /// The process dies with its parent.
    DieWithParent,
    /// Running another program gives no more privileges.
    NoNewPrivileges,
    /// No file can be opened, no TCP used, no process outside reached (Landlock).
    NoFiles,
    /// Only a short list of system calls passes (seccomp).
    FewSystemCalls,
    /// Code and clock cannot be made writable (mseal).
    SealedMemory,
}

impl Measure {
    /// All of them, in order.
    pub const ALL: [Self; 11] = [
        Self::NoCoreDumps,
        Self::AddressSpace,
        Self::CpuSeconds,
        Self::FileBytes,
        Self::Processes,
        Self::OwnProcessGroup,
        Self::DieWithParent,
        Self::NoNewPrivileges,
        Self::NoFiles,
        Self::FewSystemCalls,
        Self::SealedMemory,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoCoreDumps => "no_core_dumps",
            Self::AddressSpace => "address_space",
            Self::CpuSeconds => "cpu_seconds",
            Self::FileBytes => "file_bytes",
            Self::Processes => "processes",
            Self::OwnProcessGroup => "own_process_group",
            Self::DieWithParent => "die_with_parent",
            Self::NoNewPrivileges => "no_new_privileges",
            Self::NoFiles => "landlock",
            Self::FewSystemCalls => "seccomp",
            Self::SealedMemory => "sealed_memory",
        }
    }
}

/// What was applied, and what the system refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Measures in force.
    pub applied: Vec<Measure>,
    /// Measures asked for and refused, with the system's answer.
    pub refused: Vec<(Measure, String)>,
}

impl Confinement {
    fn note(&mut self, measure: Measure, answer: rustix::io::Result<()>) {
        match answer {
            Ok(()) => self.applied.push(measure),
            Err(error) => self.refused.push((measure, error.to_string())),
        }
    }

    /// Whether a measure is in force.
    pub fn has(&self, measure: Measure) -> bool {
        self.applied.contains(&measure)
    }
}

/// Confines this process for good; nothing here can be undone without privileges. To be called once, at the
/// start of a worker and before it starts threads.
///
/// A parent that died before this call is not noticed by [`Measure::DieWithParent`]: the caller compares
/// `parent_id` with the number it was told.
pub fn confine(limits: &Limits) -> Confinement {
    let mut confinement = Confinement::default();
    confinement.note(Measure::NoCoreDumps, cap(Resource::Core, 0, 0));
    let caps = [
        (Measure::AddressSpace, Resource::As, limits.address_space),
        (Measure::FileBytes, Resource::Fsize, limits.file_bytes),
        (Measure::Processes, Resource::Nproc, limits.processes),
    ];
    for (measure, resource, value) in caps {
        if let Some(value) = value {
            confinement.note(measure, cap(resource, value, value));
        }
    }
    if let Some(seconds) = limits.cpu_seconds {
        // The soft limit's signal names the reason; the hard limit kills whoever survives it.
        confinement.note(Measure::CpuSeconds, cap(Resource::Cpu, seconds, seconds.saturating_add(1)));
    }
    if limits.own_process_group {
        confinement.note(Measure::OwnProcessGroup, process::setpgid(None, None));
    }
    if limits.die_with_parent {
        let answer = process::set_parent_process_death_signal(Some(Signal::KILL));
        confinement.note(Measure::DieWithParent, answer);
    }
    confinement.note(Measure::NoNewPrivileges, rustix::thread::set_no_new_privs(true));
    confinement
}

/// Forbids files other than those to read beneath `readable`, TCP, and signals to other processes, for this thread
/// and those that it starts from now on.
pub fn confine_files(readable: &[PathBuf], confinement: &mut Confinement) {
    files::confine_files(readable, confinement);
}

/// Seals what is mapped of the binary, its libraries and the system's clock: from now on nobody can make it
/// writable, unmap or replace it. `further` ranges (start and end) are sealed too.
pub fn seal_objects(maps: &Maps, further: &[[u64; 2]], confinement: &mut Confinement) {
    let mut ranges = maps.objects();
    ranges.extend(further);
    seal::seal(&ranges, confinement);
}

/// Lets only few system calls pass, in all threads; any other raises SIGSYS. Changing the protection of mapped
/// objects is refused too.
pub fn confine_calls(phase: Phase, maps: &Maps, confinement: &mut Confinement) {
    calls::confine_calls(phase, &maps.objects(), confinement);
}

/// Closes all descriptors but 0, 1, 2 and these.
pub fn close_descriptors_but(kept: &[i32]) {
    let mut kept: Vec<u32> = kept.iter().filter_map(|&descriptor| u32::try_from(descriptor).ok()).collect();
    kept.sort_unstable();
    let mut first = 3;
    for last in kept.into_iter().chain([u32::MAX]) {
        if last > first {
            let end = if last == u32::MAX { last } else { last - 1 };
            // SAFETY: the call closes descriptors that nothing in this process owns yet. Where the system lacks
            // it, they stay open, and the filter forbids their use.
            unsafe { libc::syscall(libc::SYS_close_range, first, end, 0) };
        }
        first = first.max(last.saturating_add(1));
    }
}

/// Makes this process the first that the system ends when memory runs out.
pub fn offer_to_be_killed() {
    // Where this is refused, the system chooses by itself.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// Number of the parent process; 1 (or that of a reaper) after the parent has died.
pub fn parent_id() -> Option<u32> {
    process::getppid().map(|id| id.as_raw_nonzero().get() as u32)
}

/// Lowers a limit, never above the hard limit that already holds.
fn cap(resource: Resource, soft: u64, hard: u64) -> rustix::io::Result<()> {
    let ceiling = process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let (current, maximum) = (soft.min(ceiling), hard.min(ceiling));
    process::setrlimit(resource, Rlimit { current: Some(current), maximum: Some(maximum) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Ended, child};

    #[test]
    fn limits_are_in_force_afterwards() {
        let ended = child("sandbox::tests::limits_are_in_force_afterwards", "-", |_| {
            let limits = Limits { address_space: Some(1 << 30), cpu_seconds: Some(9), ..Limits::default() };
            let confinement = confine(&limits);
            assert!(confinement.refused.is_empty());
            assert_eq!(process::getrlimit(Resource::Core).current, Some(0));
            assert_eq!(process::getrlimit(Resource::Fsize).current, Some(0));
            assert_eq!(process::getrlimit(Resource::As).current, Some(1 << 30));
            assert_eq!(process::getrlimit(Resource::Cpu).current, Some(9));
            assert_eq!(process::getpgrp(), process::getpid());
            assert_eq!(process::parent_process_death_signal(), Ok(Some(Signal::KILL)));
            let too_much = crate::BufferSpec::new(2 << 30, crate::Placement::AgainstEnd);
            assert!(crate::GuardedBuffer::new(&too_much).is_err());
        });
        assert_eq!(ended, Ended::Completed);
    }

    // U056
    #[test]
    fn an_endless_loop_is_ended_by_the_processor_limit() {
        let ended = child("sandbox::tests::an_endless_loop_is_ended_by_the_processor_limit", "-", |_| {
            confine(&Limits { cpu_seconds: Some(1), ..Limits::default() });
            loop {
                std::hint::spin_loop();
            }
        });
        assert_eq!(ended, Ended::By(Signal::XCPU));
    }

    #[test]
    fn writing_a_file_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let ended = child("sandbox::tests::writing_a_file_is_ended", path.to_str().unwrap(), |path| {
            confine(&Limits::default());
            // The system ends the process before this returns.
            let _ = std::fs::write(path, "x");
        });
        assert_eq!(ended, Ended::By(Signal::XFSZ));
        assert_eq!(std::fs::read(&path).map_or(0, |bytes| bytes.len()), 0);
    }

    /// Whether the system offers what a test is about; says so when not.
    fn offered(confinement: &Confinement, measure: Measure) -> bool {
        if !confinement.has(measure) {
            println!("skipped: {:?}", confinement.refused);
        }
        confinement.has(measure)
    }

    #[test]
    fn files_cannot_be_opened_but_where_reading_was_allowed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("open"), "x").unwrap();
        let path = folder.path().to_str().unwrap();
        let ended =
            child("sandbox::tests::files_cannot_be_opened_but_where_reading_was_allowed", path, |path| {
                let mut confinement = confine(&Limits { file_bytes: None, ..Limits::default() });
                confine_files(&[PathBuf::from(path)], &mut confinement);
                if offered(&confinement, Measure::NoFiles) {
                    assert_eq!(std::fs::read(format!("{path}/open")).unwrap(), b"x");
                    assert!(std::fs::write(format!("{path}/new"), "x").is_err());
                    assert!(std::fs::read("/proc/self/maps").is_err());
                    assert!(
                        std::net::TcpStream::connect("127.0.0.1:9")
                            .is_err_and(|error| { error.kind() == std::io::ErrorKind::PermissionDenied })
                    );
                }
            });
        assert_eq!(ended, Ended::Completed);
    }

    #[test]
    fn system_calls_beyond_the_list_raise_a_signal() {
        let ended = child("sandbox::tests::system_calls_beyond_the_list_raise_a_signal", "-", |_| {
            let mut confinement = confine(&Limits::default());
            confine_calls(Phase::Working, &Maps::open(), &mut confinement);
            if !offered(&confinement, Measure::FewSystemCalls) {
                std::process::abort();
            }
            let buffer =
                crate::GuardedBuffer::new(&crate::BufferSpec::new(1 << 20, crate::Placement::AgainstEnd));
            assert!(buffer.is_ok());
            drop(buffer);
            // SAFETY: the call ends this process.
            unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) };
        });
        assert!(matches!(ended, Ended::By(Signal::SYS | Signal::ABORT)), "{ended:?}");
    }

    #[test]
    fn sealed_code_cannot_be_made_writable() {
        let ended = child("sandbox::tests::sealed_code_cannot_be_made_writable", "-", |_| {
            let mut confinement = confine(&Limits::default());
            seal_objects(&Maps::open(), &[], &mut confinement);
            if offered(&confinement, Measure::SealedMemory) {
                let page = (confine as *const () as usize) & !4095;
                // SAFETY: the call is refused; were it not, nothing would be stored there.
                let answer = unsafe {
                    libc::mprotect(page as *mut libc::c_void, 4096, libc::PROT_READ | libc::PROT_WRITE)
                };
                assert_eq!(answer, -1);
            }
        });
        assert_eq!(ended, Ended::Completed);
    }

    #[test]
    fn changing_the_protection_of_code_raises_a_signal() {
        let ended = child("sandbox::tests::changing_the_protection_of_code_raises_a_signal", "-", |_| {
            let mut confinement = confine(&Limits::default());
            confine_calls(Phase::Working, &Maps::open(), &mut confinement);
            if !offered(&confinement, Measure::FewSystemCalls) {
                std::process::abort();
            }
            let page = (confine as *const () as usize) & !4095;
            // SAFETY: the call ends this process.
            unsafe { libc::mprotect(page as *mut libc::c_void, 4096, libc::PROT_READ | libc::PROT_WRITE) };
        });
        assert!(matches!(ended, Ended::By(Signal::SYS | Signal::ABORT)), "{ended:?}");
    }

    #[test]
    fn descriptors_are_closed_but_those_kept() {
        let ended = child("sandbox::tests::descriptors_are_closed_but_those_kept", "-", |_| {
            // SAFETY: copies of a descriptor of this process.
            let (kept, other) = unsafe { (libc::dup(1), libc::dup(1)) };
            close_descriptors_but(&[kept]);
            // SAFETY: asks whether the numbers are open.
            let open = |number| unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0;
            assert!(open(1) && open(kept) && !open(other));
        });
        assert_eq!(ended, Ended::Completed);
    }

    #[test]
    fn only_what_was_asked_is_reported() {
        let ended = child("sandbox::tests::only_what_was_asked_is_reported", "-", |_| {
            let limits = Limits {
                file_bytes: None,
                own_process_group: false,
                die_with_parent: false,
                ..Limits::default()
            };
            let confinement = confine(&limits);
            assert_eq!(confinement.applied, [Measure::NoCoreDumps, Measure::NoNewPrivileges]);
            assert!(!confinement.has(Measure::FileBytes));
            assert!(parent_id().is_some());
        });
        assert_eq!(ended, Ended::Completed);
    }
}
