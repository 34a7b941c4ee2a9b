//! The few numbers that no data sheet gives. They are properties of the model, the same for all programs, and
//! were set on measured matmul schedules (see `examples/fidelity.rs`), not for any one of them.

/// How sharply hits end where a working set outgrows a cache: exponent of the working set over the capacity.
/// Infinity would be exact least-recently-used replacement without conflicts.
pub(super) const CAPACITY_SHARPNESS: i32 = 6;

/// How well work in the core hides time for data: exponent of the norm that joins them. 1 adds them up,
/// infinity takes the longer one (full overlap, as Hofmann et al. 2020 find for AMD processors).
pub(super) const OVERLAP: f64 = 3.0;

/// Lines at the start of a stream that come without hardware prefetch.
pub(super) const PREFETCH_WARM_UP_LINES: f64 = 3.0;

/// Share of the latency that a software prefetch leaves.
pub(super) const SOFTWARE_PREFETCH_LEAVES: f64 = 0.3;

/// Iterations of a loop up to which branch prediction foresees its end.
pub(super) const FORESEEN_ITERATIONS: f64 = 32.0;

/// Scalar operations that one iteration of a loop adds: counter, comparison with branch, addresses.
pub(super) const LOOP_OPERATIONS: f64 = 4.0;

/// Scalar operations on the way into an innermost loop: addresses, counter.
pub(super) const ENTRY_OPERATIONS: f64 = 6.0;

/// Scalar operations that look at one limit.
pub(super) const LIMIT_OPERATIONS: f64 = 3.0;

/// Share of the latency of its first results that a loop over tiles cannot hide behind its neighbours.
pub(super) const EXPOSED_START: f64 = 0.5;

/// Share of a line's latency that a store which misses keeps the next ones waiting.
pub(super) const STORE_WAIT: f64 = 1.0;
