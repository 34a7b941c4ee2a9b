//! Bounds of affine expressions over nested loops.
