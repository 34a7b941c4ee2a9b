//! Conformance of the device runner; filled in by its own change.
fn main() {}
