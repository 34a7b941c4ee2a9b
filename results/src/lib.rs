//! What a campaign found, for people and for other tools, made from its journal alone.
//!
//! [`Campaign::read`] collects a journal's events; from there
//!
//! - [`report`] writes one self-contained page and the charts in it as files,
//! - [`Summary`] is the handful of numbers that a command prints,
//! - [`Table::of_trials`] is a table with one row a trial, written by [`write_csv`] and [`write_parquet`],
//! - [`write_optuna_journal`] writes a study for Optuna.
//!
//! [`MatrixResults`] collects the campaigns of a matrix; [`MatrixResults::compare`] says how its strategies compare, and
//! [`comparison_report`] writes a page of it.
//!
//! [`ScoreCourse`] and [`ScoreMap`] draw how strategies did on recorded spaces.
#![forbid(unsafe_code)]

mod campaign;
mod charts;
mod convergence;
mod error;
mod export;
mod format;
mod importance;
mod matrix;
mod page;
mod placement;
mod report;
mod roofline;
mod summary;

pub use campaign::Campaign;
pub use charts::{ScoreCourse, ScoreCurve, ScoreMap};
pub use convergence::{Axis, Convergence, convergence};
pub use error::ReportError;
pub use export::{Column, Table, Values, write_csv, write_optuna_journal, write_parquet};
pub use importance::{Importance, importance, importance_of};
pub use matrix::{
    Comparison, ComparisonReport, Course, Estimate, Found, Front, MatrixResults, ProblemSummary, QUALITIES,
    Ranking, StrategySummary, TimeToQuality, Tradeoff, comparison_report,
};
pub use placement::{Placed, Placement};
pub use report::{Report, report};
pub use roofline::{Bound, bound};
pub use summary::{ClaimSummary, KernelSummary, SUMMARY_VERSION, Summary};
