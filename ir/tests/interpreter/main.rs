//! The interpreter's rules, each on a program of a few lines.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod barriers;
mod calls;
mod combining;
mod points;
mod sharing;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_ir::program::Program;
use tilewright_ir::{DataType, InterpretError, PersistentStore, TensorData, TensorLayout, interpret};

/// A dense tensor with the values in row-major order.
fn tensor(data_type: DataType, shape: &[u64], values: &[f64]) -> TensorData {
    let mut strides = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        strides[dimension - 1] = strides[dimension] * shape[dimension] as i64;
    }
    let layout = TensorLayout { data_type, shape: shape.to_vec(), strides };
    let mut next = values.iter();
    TensorData::from_fn(layout, |_| *next.next().unwrap()).unwrap()
}

/// Runs `run` and returns the operands.
fn run(
    program: &Program,
    mut operands: Vec<TensorData>,
    seed: u64,
) -> Result<Vec<TensorData>, InterpretError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    interpret(program, "run", &mut operands, &[], &mut PersistentStore::new(), &mut rng)?;
    Ok(operands)
}
