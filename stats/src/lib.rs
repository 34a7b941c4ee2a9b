//! Tilewright: stats.
