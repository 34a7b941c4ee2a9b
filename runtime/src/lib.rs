//! Tilewright's devices: load an artifact, launch it on pinned workers, time the launch, and know the host.
//!
//! What is measured is what ships: tuning and serving both go through [`LoadedKernel`], [`Pool`] and
//! [`Launcher`]. Only `clock.rs` reads a clock. The parts, from the bottom:
//!
//! | file | holds |
//! |---|---|
//! | `mapping.rs`, `executable.rs` | address space, and code memory that is never writable and executable at once |
//! | `guarded.rs`, `shared.rs` | operands between guard pages, private or shared with a worker process |
//! | `affinity.rs`, `pool.rs` | processors usable, pinning, and the persistent pool of workers |
//! | `launch.rs`, `eviction.rs` | a loaded kernel, timed with warm or cold caches |
//! | `host.rs` | what this machine is, and its fingerprint |
//! | `ceiling.rs`, `noise.rs`, `report.rs` | what it can do at most, how steady it is, and the report of both |
//! | `contention.rs` | what disturbed a measurement: other load, steal time, migrations, clocks, heat |
//! | `sandbox/` | how a worker process confines itself: limits, files, system calls, sealed memory |
//! | `watch.rs` | whether a kernel leaves registers and control state as it found them |

mod affinity;
mod ceiling;
mod clock;
mod contention;
mod dispatch;
mod error;
mod eviction;
mod executable;
mod guarded;
mod host;
mod launch;
mod mapping;
mod noise;
mod pool;
mod report;
pub mod sandbox;
mod shared;
#[cfg(test)]
mod testing;
mod watch;

pub use affinity::usable_processors;
pub use ceiling::{Bandwidth, CeilingMeter, Ceilings, Effort, FmaRate, MemoryLevel, VectorIsa};
pub use clock::Clock;
pub use contention::{Contention, ContentionReading};
pub use dispatch::{DispatchError, Dispatched, artifact_of, dispatch};
pub use error::RuntimeError;
pub use eviction::Eviction;
pub use executable::{ExecutableCode, KernelEntry};
pub use guarded::{BufferSpec, GuardedBuffer, Placement};
pub use host::{CacheFacts, CacheKind, HostFacts};
pub use launch::{Launcher, LoadedKernel, Operands};
pub use mapping::{Access, HUGE_PAGE, HugePages, resident_huge_bytes};
pub use noise::NoiseSamples;
pub use pool::Pool;
pub use report::{DeviceReport, ReportError};
pub use shared::SharedBuffer;
pub use watch::{Disturbance, settle};
