//! One file an operator.

pub mod matmul;
