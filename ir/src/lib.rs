//! Tilewright: ir.
