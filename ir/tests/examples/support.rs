//! Operands of a program from functions, and runs of it.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_ir::program::{Program, Role};
use tilewright_ir::{InterpretError, PersistentStore, TensorData, TensorLayout, interpret};

pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A repeatable value in −1..1 for an element of a tensor.
pub(crate) fn noise(salt: u64, at: &[u64]) -> f64 {
    let mut z = at.iter().fold(salt.wrapping_add(77), |z, &i| {
        (z ^ i.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    });
    z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z >> 40) as f64 / f64::from(1 << 23) - 1.0
}

/// Layout of a tensor whose shape depends on no run-time extent.
pub(crate) fn layout(program: &Program, name: &str) -> TensorLayout {
    let tensor = program.tensors.iter().find(|tensor| tensor.name == name).unwrap();
    let shape = tensor.shape.iter().map(|extent| extent.as_constant().unwrap() as u64).collect();
    TensorLayout { data_type: tensor.data_type, shape, strides: tensor.strides.clone() }
}

/// Operands by name: noise for inputs unless `given` has the tensor; zeros for outputs.
pub(crate) fn operands(program: &Program, given: &[(&str, &TensorData)]) -> Vec<TensorData> {
    let operand = |(salt, tensor): (usize, &tilewright_ir::program::Tensor)| {
        if let Some((_, data)) = given.iter().find(|(name, _)| *name == tensor.name) {
            return (*data).clone();
        }
        let layout = layout(program, &tensor.name);
        match tensor.role {
            Role::Output => TensorData::zeros(layout).unwrap(),
            Role::Input | Role::InputOutput => {
                TensorData::from_fn(layout, |at| noise(salt as u64, at)).unwrap()
            }
        }
    };
    program.tensors.iter().enumerate().map(operand).collect()
}

/// Runs `run` once, without run-time extents.
pub(crate) fn run(program: &Program, operands: &mut [TensorData], seed: u64) -> Result<(), InterpretError> {
    interpret(program, "run", operands, &[], &mut PersistentStore::new(), &mut generator(seed))
}

/// Asserts `|found − wanted| ≤ relative · |wanted| + absolute` for each element.
pub(crate) fn assert_close(found: &TensorData, wanted: impl Fn(&[u64]) -> f64, relative: f64, absolute: f64) {
    let layout = found.layout();
    for flat in 0..layout.elements() {
        let at = layout.unravel(flat);
        let (found, wanted) = (found.get(&at), wanted(&at));
        assert!(
            (found - wanted).abs() <= relative * wanted.abs() + absolute,
            "at {at:?}: found {found}, wanted {wanted}"
        );
    }
}

pub(crate) fn silu(x: f64) -> f64 {
    x / (1.0 + (-x).exp())
}
