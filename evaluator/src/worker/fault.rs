//! Notes where a kernel faulted before the process dies of it.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::shared_layout::ResultArea;

static SIGNAL: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
static ADDRESS: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

const SIGNALS: [libc::c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];

/// Notes faults in the area from here on; the process still dies of them.
///
/// The handler runs on the alternate stack that the standard library gives each of its threads, since a
/// kernel may have broken the stack pointer.
pub(super) fn note_faults(area: &'static ResultArea) {
    let [signal, address] = area.fault_words();
    SIGNAL.store(std::ptr::from_ref(signal).cast_mut(), Ordering::Release);
    ADDRESS.store(std::ptr::from_ref(address).cast_mut(), Ordering::Release);
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

extern "C" fn note(number: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let (signal, address) = (SIGNAL.load(Ordering::Acquire), ADDRESS.load(Ordering::Acquire));
    // SAFETY: the pointers are null or lead into the area, which is never unmapped; the system hands over a
    // valid record.
    unsafe {
        if !signal.is_null() && !address.is_null() && !info.is_null() {
            (*address).store((*info).si_addr() as u64, Ordering::Release);
            (*signal).store(number as u64, Ordering::Release);
        }
        // The handler was reset on entry, so this ends the process by the same signal.
        libc::raise(number);
    }
}
