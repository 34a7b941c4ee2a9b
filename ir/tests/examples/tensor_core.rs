//! Example 5 against a plain sum.

use crate::support::{assert_close, operands, run, silu};
use tilewright_ir::examples::TensorCore;

#[test]
fn computes_odd_sizes() {
    for (m, n, k) in [(1, 1, 1), (16, 32, 8), (17, 33, 9), (40, 70, 21), (5, 64, 30)] {
        let program = TensorCore { m, n, k, block: [16, 32, 8], warp: [8, 16, 4] }.program();
        let mut data = operands(&program, &[]);
        run(&program, &mut data, m).unwrap();
        let wanted = |at: &[u64]| {
            let products = (0..k).map(|p| data[0].get(&[at[0], p]) * data[1].get(&[p, at[1]]));
            silu(products.sum::<f64>() + data[3].get(&[at[1]]))
        };
        assert_close(&data[2], wanted, 1e-5, 1e-5);
    }
}
