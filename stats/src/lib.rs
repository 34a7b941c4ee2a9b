//! Deciding which of two kernels is faster, and how sure that is.
//!
//! Pure functions over times that somebody else measured: no clock, no files,
//! no hidden randomness. The way through the crate is
//!
//! 1. [`Evidence`]: the raw numbers about a candidate and its incumbent;
//! 2. a [`Gate`] of the sealed list [`gates`]: turns evidence into a [`Verdict`];
//! 3. [`Judged`]: a subject together with evidence and verdict. Nothing else
//!    makes one, so code that accepts only `&Judged<_>` cannot learn from a
//!    number that no gate has seen.
//!
//! Beneath lie the tools the gates are built of, usable alone: [`samples`],
//! [`interval`], [`significance`], [`ranking`], [`e_process`], [`correlation`].
//!
//! ```
//! use tilewright_stats::{Claim, Decision, Evidence, Judged};
//!
//! let incumbent: Vec<f64> = (0..16).map(|i| 1000.0 + f64::from(i)).collect();
//! let candidate: Vec<f64> = incumbent.iter().map(|time| time * 0.95).collect();
//! let judged = Judged::by(&Claim::DEFAULT, Evidence::Pairs { incumbent, candidate }, "a kernel");
//! assert_eq!(judged.verdict().kind, Decision::Faster);
//! ```
#![forbid(unsafe_code)]

pub mod correlation;
pub mod course;
mod distributions;
pub mod e_process;
mod error;
mod evidence;
pub mod false_discovery;
mod gates;
pub mod interval;
mod judged;
mod level;
mod pairs;
pub mod ranking;
mod ranks;
pub mod samples;
mod settings;
pub mod significance;
mod verdict;

pub use error::SampleError;
pub use evidence::{Evidence, EvidenceKind, PairedTimes};
pub use gates::{
    Claim, ConfirmedClaim, Exact, Gate, Racing, Replication, SequentialClaim, SignEProcess, TwoSample, gate,
    gates,
};
pub use judged::{Judged, RereadError, Stored};
pub use level::{Level, Margin, RangeError};
pub use pairs::log_ratios;
pub use settings::{Settings, SettingsError};
pub use verdict::{Decision, Reason, Verdict};
