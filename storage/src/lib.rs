//! What every file that must outlive its writer is handled with.
//!
//! | file | holds |
//! |---|---|
//! | `replace.rs` | a file becomes another as a whole, and is on disk when that returns |
//! | `lock.rs` | one writer at a time; who it is, where another one comes |
//! | `aside.rs` | bytes that mean nothing here are kept beside, never thrown away |
//!
//! No format is known here.
#![forbid(unsafe_code)]

mod aside;
mod lock;
mod replace;

pub use aside::{keep_aside, move_aside};
pub use lock::{Holder, LockError, holder, open_locked, try_lock, wait_for_lock};
pub use replace::{replace, sync_folder};
