//! Notes where a kernel faulted, or which system call was refused to it, before the process dies of it.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::shared_layout::ResultArea;

/// The first of the words in the area: signal, address, call, detail.
static WORDS: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

const SIGNALS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// The signals that the process has asked to block. None is blocked really: a refused call while its signal is
/// blocked would end the process without a word on which call it was.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// Signals that are asked to be blocked now, bit `n - 1` for signal `n`.
pub(super) fn blocked_signals() -> u64 {
    BLOCKED.load(Ordering::Acquire)
}

/// A process that cannot map this much more, bytes, has used up its memory.
const PROBE: usize = 64 << 20;

/// Notes faults in the area from here on; the process still dies of them.
///
/// The handler runs on the alternate stack that the standard library gives each of its threads, since a
/// kernel may have broken the stack pointer.
pub(super) fn note_faults(area: &'static ResultArea) {
    WORDS.store(area.fault_words().as_ptr().cast_mut(), Ordering::Release);
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = note;
    // SAFETY: all-zero is a valid `sigaction`; the handler makes only calls that are allowed in one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        for number in SIGNALS {
            // That of a refused call stays, since some calls are pretended to have been made.
            let once = if number == libc::SIGSYS { 0 } else { libc::SA_RESETHAND };
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | once;
            libc::sigaction(number, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn note(number: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let words = WORDS.load(Ordering::Acquire);
    // SAFETY: the pointer is null or leads to four words of the area, which is never unmapped; the system hands over
    // valid records.
    unsafe {
        if number == libc::SIGSYS {
            if call_of(info) == libc::SYS_rt_sigprocmask {
                return pretend_to_block(context);
            }
            if !words.is_null() {
                note_call(std::slice::from_raw_parts(words, 4), info, context);
            }
            // An end that needs no call: `blame` goes by what was noted.
            std::arch::asm!("ud2", options(noreturn));
        }
        if !words.is_null() {
            let words = std::slice::from_raw_parts(words, 4);
            // What a refused call has noted stays.
            if words[2].load(Ordering::Acquire) == 0 {
                words[1].store((*info).si_addr() as u64, Ordering::Release);
                words[3].store(u64::from(is_memory_used_up()), Ordering::Release);
            }
            words[0].store(number as u64, Ordering::Release);
        }
        // The handler was reset on entry, so this ends the process by the same signal.
        libc::raise(number);
    }
}

/// The number of the refused call.
///
/// # Safety
/// The record is that of SIGSYS.
unsafe fn call_of(info: *const libc::siginfo_t) -> i64 {
    /// Where the number lies in the record.
    const CALL: usize = 24;
    // SAFETY: the record of this signal holds the number there.
    i64::from(unsafe { info.cast::<u8>().add(CALL).cast::<i32>().read_unaligned() })
}

/// Does what `rt_sigprocmask` would do, to [`BLOCKED`].
///
/// # Safety
/// As the system calls a handler of SIGSYS. Pointers of the call that lead nowhere raise another signal, of which this
/// process dies.
unsafe fn pretend_to_block(context: *mut libc::c_void) {
    // SAFETY: the system hands over the registers of the thread, and nobody else has them.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let [how, set, old] =
        [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX].map(|register| registers[register as usize]);
    let before = BLOCKED.load(Ordering::Acquire);
    if old != 0 {
        // SAFETY: the caller's word.
        unsafe { (old as *mut u64).write_unaligned(before) };
    }
    if set != 0 {
        // SAFETY: the caller's word.
        let asked = unsafe { (set as *const u64).read_unaligned() };
        let now = match how as libc::c_int {
            libc::SIG_BLOCK => before | asked,
            libc::SIG_UNBLOCK => before & !asked,
            _ => asked,
        };
        BLOCKED.store(now, Ordering::Release);
    }
    registers[libc::REG_RAX as usize] = 0;
}

/// # Safety
/// As the system calls a handler of SIGSYS.
unsafe fn note_call(words: &[AtomicU64], info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the caller's word.
    let call = unsafe { call_of(info) };
    words[2].store(call as u64 + 1, Ordering::Release);
    // SAFETY: the system hands over the registers of the thread.
    let first = unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RDI as usize] };
    words[3].store(first as u64, Ordering::Release);
    if call == libc::SYS_clone3 && first != 0 {
        // SAFETY: the flags are the first word of what the call was given; a pointer that leads nowhere raises
        // another signal, of which this process dies as well.
        words[3].store(unsafe { (first as *const u64).read_unaligned() }, Ordering::Release);
    }
}

/// Whether the system refuses more memory: then a null pointer was what an allocation had returned.
fn is_memory_used_up() -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, of which nobody knows; the process is about to end.
    let probe = unsafe { libc::mmap(std::ptr::null_mut(), PROBE, libc::PROT_NONE, flags, -1, 0) };
    probe == libc::MAP_FAILED
}
