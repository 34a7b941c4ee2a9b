//! Tilewright: search.
