//! Notes where a kernel faulted, or which system call was refused to it, before the process dies of it.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::shared_layout::ResultArea;

/// The first of the words in the area: signal, address, call, detail.
static WORDS: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

const SIGNALS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

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
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
        for number in SIGNALS {
            libc::sigaction(number, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn note(number: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let words = WORDS.load(Ordering::Acquire);
    // SAFETY: the pointer is null or leads to four words of the area, which is never unmapped; the system hands over
    // valid records.
    unsafe {
        if !words.is_null() && !info.is_null() {
            let words = std::slice::from_raw_parts(words, 4);
            words[1].store((*info).si_addr() as u64, Ordering::Release);
            words[0].store(number as u64, Ordering::Release);
            if number == libc::SIGSYS {
                note_call(words, info, context);
            } else {
                words[3].store(u64::from(is_memory_used_up()), Ordering::Release);
            }
        }
        // The handler was reset on entry, so this ends the process by the same signal.
        libc::raise(number);
    }
}

/// # Safety
/// As the system calls a handler of SIGSYS.
unsafe fn note_call(words: &[AtomicU64], info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    /// Where the number of the call lies in the record of SIGSYS.
    const CALL: usize = 24;
    // SAFETY: the record of this signal holds the number there.
    let call = i64::from(unsafe { info.cast::<u8>().add(CALL).cast::<i32>().read_unaligned() });
    words[2].store(call as u64, Ordering::Release);
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
