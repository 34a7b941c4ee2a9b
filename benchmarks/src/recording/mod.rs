//! Records spaces of our own: every schedule of a part of a workload's space, verified and measured, as a cache
//! file of Kernel Tuner that `tilewright score` and other tuners search without the machine.

mod file;
mod points;
mod subspaces;

pub use file::{Recording, RecordingError};
pub use points::{Point, points, value};
pub use subspaces::{SUBSPACES, SubSpace, subspace};
