//! Tilewright: benchmarks.
