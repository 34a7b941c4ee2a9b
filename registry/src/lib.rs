//! Accepted kernels, found again by what they compute, where, and under which conditions.
//!
//! A registry is a folder that any number of processes may read while one writes:
//!
//! | file | holds |
//! |---|---|
//! | `audit.jsonl` | every publication, import, verification and retraction, in order; each line bears the hash of the one before |
//! | `records/<sha256>.json` | a judged kernel with its raw samples; named after its own bytes, never changed |
//! | `artifacts/<sha256>.bin` | machine code; likewise |
//! | `heuristics/<sha256>.json` | what campaigns have learned beside their winners; likewise, and opaque here |
//!
//! The audit log decides: a record counts once its line is there. What [`Registry`] keeps in memory is a cache
//! of the log. A damaged record or line is named by [`Registry::verify_chain`], and all others stay usable.
//!
//! A record is served only while it has been verified here under the [`Conditions`] of today: the ones it was
//! published with, or those of the last line that says so. One from an archive was never verified here at first.
//!
//! The chain shows damage and careless editing. Somebody who rewrites the whole folder can also rewrite the
//! chain; whoever fears that keeps [`Report::head`] elsewhere.
//!
//! A gain is published only as a claim: found by a sequential test and confirmed in a fresh process
//! ([`tilewright_stats::ConfirmedClaim`]); the log holds every test of one, so that the share of false claims
//! stays bounded over the registry's life ([`Registry::claim_level`]).
//!
//! Reading a record runs the gate again on its samples ([`tilewright_stats::Judged::reread`]). Only records
//! measured in pairs are ever found by [`Registry::lookup`]; simulated and recorded ones can be listed.
#![forbid(unsafe_code)]

mod archive;
mod audit;
mod claims;
mod conditions;
mod digest;
mod error;
#[cfg(test)]
mod fuzz;
mod heuristic;
mod kernel;
mod record;
mod registry;
mod repair;
mod standing;
mod store;
mod verify;

pub use archive::{Exported, Imported};
pub use audit::{Action, AuditEntry};
pub use claims::ClaimTest;
pub use conditions::Conditions;
pub use digest::{Digest, ParseDigestError};
pub use error::{Refusal, RegistryError};
pub use heuristic::KeptHeuristic;
pub use kernel::{
    ArtifactFacts, CeilingFacts, DriftFacts, EntryOffset, Incumbent, Kernel, Origin, Timing,
    VerificationFacts,
};
pub use record::{RECORD_VERSION, Record};
pub use registry::Registry;
pub use repair::Repair;
pub use standing::{Listed, Standing, Verified};
pub use verify::{Problem, Report};
