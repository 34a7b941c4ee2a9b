//! Side-by-side comparisons of Tilewright's kernels with other libraries.
//!
//! [`peers`] holds one file a peer, [`comparison`] what measures them fairly beside each other:
//! the program `peers` is a thin command line over both. [`field`] has other tuners search the spaces that
//! Tilewright's strategies are scored on; [`recording`] makes such spaces of this machine.

#![expect(clippy::disallowed_methods, reason = "comparisons time foreign libraries, with a plain clock")]

pub mod comparison;
pub mod field;
pub mod peers;
pub mod recording;
