//! One file an operator, or a few that share their arithmetic.

pub(crate) mod activation;
mod fields;
pub(crate) mod matmul;
pub(crate) mod norm;
pub(crate) mod reduce;
pub(crate) mod rope;
mod row;
pub(crate) mod softmax;
