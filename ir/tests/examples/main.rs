//! The eight example programs: as text, and run by the interpreter against plain references.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod attention;
mod dedispersion;
mod experts;
mod matmul;
mod planted;
mod quantised_gemv;
mod row_norm;
mod support;
mod tensor_core;
mod tensor_parallel;
mod texts;
