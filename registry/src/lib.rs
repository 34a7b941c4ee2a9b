//! Tilewright: registry.
