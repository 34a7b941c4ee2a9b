//! Example 3 against a softmax over the whole context.

use crate::support::{assert_close, generator, noise};
use tilewright_ir::examples::Attention;
use tilewright_ir::{InterpretError, PersistentStore, TensorData, TensorLayout, interpret};

const SIZES: Attention =
    Attention { heads: 2, group: 3, width: 5, rows: 64, page: 4, pages: 3, longest: 40, threads: 2 };

/// Operands for a context; page i of the context starts at row `first(i)`.
fn operands(context: u64, first: impl Fn(u64) -> f64) -> Vec<TensorData> {
    let program = SIZES.program();
    let tensor = |(salt, tensor): (usize, &tilewright_ir::program::Tensor)| {
        let is_table = tensor.name == "page";
        let extent = |extent: &tilewright_ir::affine::Affine| {
            extent.as_constant().map_or(context.div_ceil(SIZES.page), |extent| extent as u64)
        };
        let shape = tensor.shape.iter().map(extent).collect();
        let layout = TensorLayout { data_type: tensor.data_type, shape, strides: tensor.strides.clone() };
        TensorData::from_fn(layout, |at| if is_table { first(at[0]) } else { noise(salt as u64, at) })
            .unwrap()
    };
    program.tensors.iter().enumerate().map(tensor).collect()
}

#[test]
fn computes_every_context_length() {
    let program = SIZES.program();
    let first = |page: u64| ((page * 7 + 3) % 15 * 4) as f64;
    for context in 1..=40 {
        let mut data = operands(context, first);
        interpret(
            &program,
            "run",
            &mut data,
            &[context],
            &mut PersistentStore::new(),
            &mut generator(context),
        )
        .unwrap();
        let row = |token: u64| first(token / 4) as u64 + token % 4;
        let wanted = |at: &[u64]| {
            let scores: Vec<f64> = (0..context)
                .map(|token| {
                    let dot: f64 = (0..5)
                        .map(|d| data[0].get(&[at[0], at[1], d]) * data[1].get(&[row(token), at[0], d]))
                        .sum();
                    dot / 5_f64.sqrt()
                })
                .collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
            let values = (0..context).map(|token| data[2].get(&[row(token), at[0], at[2]]));
            weights.iter().zip(values).map(|(w, v)| w * v).sum::<f64>() / weights.iter().sum::<f64>()
        };
        assert_close(&data[4], wanted, 1e-5, 1e-6);
    }
}

#[test]
fn a_page_outside_its_declared_range_is_reported() {
    let mut data = operands(10, |page| if page == 2 { 61.0 } else { 0.0 });
    let result =
        interpret(&SIZES.program(), "run", &mut data, &[10], &mut PersistentStore::new(), &mut generator(0));
    let wanted =
        InterpretError::Lookup { table: "page".to_owned(), indices: vec![2], value: 61.0, range: (0, 60) };
    assert_eq!(result, Err(wanted));
}

#[test]
fn a_context_beyond_its_bound_is_refused() {
    let mut data = operands(41, |_| 0.0);
    let result =
        interpret(&SIZES.program(), "run", &mut data, &[41], &mut PersistentStore::new(), &mut generator(0));
    assert!(matches!(result, Err(InterpretError::Call { name, .. }) if name == "ctx"));
}
