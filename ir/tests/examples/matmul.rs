//! Example 1 against a plain sum.

use crate::support::{assert_close, operands, run, silu};
use tilewright_ir::TensorData;
use tilewright_ir::examples::Matmul;

fn small(m: u64, n: u64, k: u64) -> Matmul {
    Matmul { m, n, k, rows: [24, 12, 6], columns: [32, 16], depth: 16, threads: 2 }
}

#[test]
fn computes_odd_sizes() {
    for (at, (m, n, k)) in
        [(1, 1, 1), (6, 16, 16), (13, 17, 19), (25, 33, 16), (50, 49, 33), (7, 40, 5)].into_iter().enumerate()
    {
        for threads in [1, 2, 3] {
            let program = Matmul { threads, ..small(m, n, k) }.program();
            let mut data = operands(&program, &[]);
            run(&program, &mut data, at as u64).unwrap();
            let sum = |at: &[u64]| {
                let products = (0..k).map(|p| data[0].get(&[at[0], p]) * data[1].get(&[p, at[1]]));
                silu(products.sum::<f64>() + data[3].get(&[at[1]]))
            };
            assert_close(&data[2], sum, 1e-5, 1e-5);
        }
    }
}

#[test]
fn one_product_is_one_fused_step() {
    // a·b = 2⁻²⁴·(1 + 2⁻²⁴ − 2⁻⁴⁷) is added to 1: above the tie, but on it (and so lost) if the product is rounded.
    let program = small(1, 1, 2).program();
    let mut data = operands(&program, &[]);
    let layout = |at: usize| data[at].layout().clone();
    let tiny = 2_f64.powi(-12);
    let (below, above) = (1.0 - 2_f64.powi(-24), 1.0 + 2_f64.powi(-23));
    let second = |at: u64, value: f64| if at == 0 { 1.0 } else { tiny * value };
    let a = TensorData::from_fn(layout(0), |at| second(at[1], above)).unwrap();
    let b = TensorData::from_fn(layout(1), |at| second(at[0], below)).unwrap();
    let bias = TensorData::zeros(layout(3)).unwrap();
    (data[0], data[1], data[3]) = (a, b, bias);
    run(&program, &mut data, 0).unwrap();
    assert_eq!(data[2].get(&[0, 0]), f64::from(silu(above) as f32));
}
