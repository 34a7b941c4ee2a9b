//! One file an operator.

pub(crate) mod matmul;
