//! Measuring many contenders on the same buffers, interleaved, each in its own process.

mod affinity;
mod buffers;
mod check;
mod child;
mod measure;
mod protocol;
mod report;
mod session;
mod shape;
mod statistics;
mod table;

pub use buffers::SharedBuffers;
pub use check::verify;
pub use child::{ServeOptions, serve};
pub use measure::{Plan, compare};
pub use report::{Cell, Outcome, Report, Row, Versus};
pub use shape::{Layout, Shape, ShapeError, standard_shapes};
pub use statistics::{Interval, median, paired_ratio};
pub use table::render;
