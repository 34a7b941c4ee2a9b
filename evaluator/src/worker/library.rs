//! The library of a user, loaded into the worker.

use std::ffi::{CStr, CString, OsString, c_char};
use std::os::unix::ffi::OsStringExt;

use tilewright_runtime::KernelEntry;

/// Which function of which library.
#[derive(Debug, Clone)]
pub(super) struct LibraryFunction {
    path: CString,
    symbol: CString,
}

impl LibraryFunction {
    /// `None` when one of the two holds a zero byte.
    pub(super) fn new(path: OsString, symbol: OsString) -> Option<Self> {
        Some(Self {
            path: CString::new(path.into_vec()).ok()?,
            symbol: CString::new(symbol.into_vec()).ok()?,
        })
    }

    /// Loads the library, which runs its constructors, and finds the function. It is never unloaded.
    ///
    /// # Errors
    /// What the system's loader says.
    pub(super) fn load(&self) -> Result<KernelEntry, String> {
        // SAFETY: constructors may be wrong in any way; this process exists to suffer that.
        let handle = unsafe { libc::dlopen(self.path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(told());
        }
        // SAFETY: the handle is open, the name ends with a zero byte.
        let function = unsafe { libc::dlsym(handle, self.symbol.as_ptr()) };
        if function.is_null() {
            let symbol = self.symbol.to_string_lossy();
            return Err(format!("{} has no symbol `{symbol}`", self.path.to_string_lossy()));
        }
        // SAFETY: a function pointer is as wide as a data pointer; that it is such a function is the user's word, and
        // calling it stays unsafe.
        Ok(unsafe { std::mem::transmute::<*mut libc::c_void, KernelEntry>(function) })
    }
}

fn told() -> String {
    // SAFETY: the loader's text is valid until its next call.
    let text: *const c_char = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the library cannot be loaded".to_owned();
    }
    // SAFETY: it ends with a zero byte.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
