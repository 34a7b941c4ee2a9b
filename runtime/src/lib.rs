//! Tilewright: runtime.
