//! What predictions must be, whatever the constants.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod examples;
mod fidelity;
mod hostile;
mod orders;
mod replay;
mod support;
