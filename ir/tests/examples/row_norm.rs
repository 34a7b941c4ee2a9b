//! Example 2 against the definition.

use crate::support::{assert_close, operands, run};
use tilewright_ir::examples::RowNorm;

#[test]
fn computes_odd_sizes() {
    for (rows, columns) in [(1, 1), (3, 7), (5, 8), (4, 29), (9, 64)] {
        let epsilon = 1e-5;
        let program = RowNorm { rows, columns, lanes: 8, epsilon, threads: 2 }.program();
        let mut data = operands(&program, &[]);
        run(&program, &mut data, rows).unwrap();
        let x = |r: u64, c: u64| data[0].get(&[r, c]) + data[1].get(&[r, c]);
        let wanted = |at: &[u64]| {
            let mean = (0..columns).map(|c| x(at[0], c).powi(2)).sum::<f64>() / columns as f64;
            x(at[0], at[1]) / (mean + epsilon).sqrt() * data[2].get(&[at[1]])
        };
        assert_close(&data[3], wanted, 1e-5, 1e-7);
    }
}
