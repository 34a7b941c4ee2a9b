//! Comparing several methods on many problems by ranks: whether they differ at all, and which of them do.
//!
//! Demšar 2006, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine Learning
//! Research 7, 1–30, recommends Friedman's test followed by Nemenyi's critical difference.

mod friedman;
mod nemenyi;

pub use friedman::{Friedman, friedman};
pub use nemenyi::critical_difference;
