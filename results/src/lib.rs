//! Tilewright: results.
