//! Tilewright: evaluator.
