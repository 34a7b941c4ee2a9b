//! Eight programs that the form must be able to say: what other crates' tests loop over.
//!
//! Each file holds one builder, parametrised by sizes and tiles; `Default` gives those of a real kernel.

mod attention;
mod dedispersion;
mod experts;
mod matmul;
mod quantised_gemv;
mod row_norm;
mod tensor_core;
mod tensor_parallel;

pub use attention::Attention;
pub use dedispersion::Dedispersion;
pub use experts::Experts;
pub use matmul::Matmul;
pub use quantised_gemv::QuantisedGemv;
pub use row_norm::RowNorm;
pub use tensor_core::TensorCore;
pub use tensor_parallel::TensorParallel;

use crate::program::Program;

/// All examples at their default sizes.
pub fn all() -> Vec<Program> {
    vec![
        Matmul::default().program(),
        RowNorm::default().program(),
        Attention::default().program(),
        QuantisedGemv::default().program(),
        TensorCore::default().program(),
        TensorParallel::default().program(),
        Experts::default().program(),
        Dedispersion::default().program(),
    ]
}
