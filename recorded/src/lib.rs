//! Spaces that somebody has measured: every configuration of a kernel with its times, read from files.
//!
//! | file | holds | module |
//! |---|---|---|
//! | Kernel Tuner cache (`.json`, `.json.gz`), complete or cut off while being written | all configurations with samples and costs | `cache.rs`, `salvage.rs` |
//! | T4 results (`.json`, `.json.gz`) | the same in the benchmark hub's exchange form | `t4.rs` |
//! | a campaign's folder or journal of Tilewright's own | the trials of a search | `campaign.rs` |
//! | T1 problem description | parameters and conditions of a space, without times | `problem.rs`, `expression/` |
//!
//! The first three become a [`RecordedSpace`], by [`read`]; the last a [`Problem`], which restricts one.
//! [`t4`] and [`kernel_tuner_cache`] write one for other tools. Nothing in a file is run: conditions are parsed by a grammar of their own and evaluated within limits.
#![forbid(unsafe_code)]

mod builder;
mod cache;
mod campaign;
mod document;
mod error;
mod export;
pub mod expression;
#[cfg(test)]
mod fuzz;
mod problem;
mod salvage;
mod source;
mod space;
mod t4;
mod value;

pub use builder::{Builder, Row};
pub use error::RecordedError;
pub use export::{kernel_tuner_cache, t4};
pub use problem::{Problem, ProblemParameter};
pub use source::{Content, parse, read};
pub use space::{Configuration, Cost, Failure, FailureKind, Parameter, RecordedSpace, Timing};
pub use value::Value;
