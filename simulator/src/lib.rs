//! Tilewright's simulator: how long a legalised program takes on a described chip, and what limits it.
//!
//! [`simulate`] reads the same [`Program`](tilewright_ir::Program) as the interpreter and the code
//! generators, and a [`Chip`] from a data file. Nothing is executed and no iteration is stepped through: loops
//! become trip counts, accesses become footprints, and time follows from the resources that both need, in
//! tens of microseconds a program. It is made to *order* candidates before they are measured.
//!
//! The model, a roofline for each tile instruction with an analytic cache:
//!
//! | file | what it answers |
//! |---|---|
//! | `chip/`, `chips.rs`, `host.rs` | what the chip can do: data files, and measured hosts |
//! | `model/nest.rs` | what is done how often, by the busiest worker |
//! | `model/place.rs`, `model/region.rs` | where accesses lie: cache lines, pages and sets of the boxes they touch |
//! | `model/traffic.rs` | from which level each access is served (reuse distance against capacity) |
//! | `model/statements.rs`, `model/shape.rs`, `model/movement.rs`, `model/contract.rs`, `model/expression.rs`, `model/work.rs` | what instructions cost inside the core |
//! | `model/combine.rs` | time, from work and traffic |
//!
//! Sources: Hofmann, Alappat, Hager, Fey, Wellein, Bridging the Architecture Gap: Abstracting
//! Performance-Relevant Properties of Modern Server Processors (2020), for the execution-cache-memory model
//! and its overlap on AMD processors; Williams, Waterman, Patterson, Roofline (2009); Mattson et al., Evaluation
//! Techniques for Storage Hierarchies (1970), for reuse distances; Hill and Smith, Evaluating Associativity in
//! CPU Caches (1989), for conflicts; Fog, The Microarchitecture of Intel, AMD and VIA CPUs, for pipelines.
#![forbid(unsafe_code)]

mod chip;
mod chips;
mod error;
mod host;
mod model;
mod prediction;

pub use chip::{Chip, ChipError, Core, Kind, Level, Processors, Quantity, Sharing, Translation, Vectors};
pub use chips::{chip_for_host, chip_named, chips};
pub use error::SimulateError;
pub use host::HostMeasurements;
pub use model::{simulate, simulate_from};
pub use prediction::{LevelTraffic, Prediction, Resource, ResourceTime};
