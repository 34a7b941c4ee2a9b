//! Example 6 against plain sums of plainly quantised factors.

use crate::support::{assert_close, generator, operands};
use tilewright_ir::examples::TensorParallel;
use tilewright_ir::{InterpretError, PersistentStore, TensorData, interpret};

/// OCP MX, a block of a row: `first..first + length` of the row.
fn microscaled(data: &TensorData, row: u64, column: u64, first: u64, length: u64) -> f64 {
    let most = (first..first + length).map(|c| data.get(&[row, c]).abs()).fold(0.0, f64::max);
    let step = most.log2().floor().exp2() / 64.0;
    (data.get(&[row, column]) / step).round_ties_even().clamp(-127.0, 127.0) * step
}

#[test]
fn computes_odd_numbers_of_rows_with_weights_prepared_once() {
    for (m, units, part, k) in [(1, 4, 2, 40), (13, 4, 40, 33), (20, 2, 32, 64), (8, 3, 1, 7)] {
        let n = units * part;
        let program = TensorParallel { m, n, k, rows: 8, units }.program();
        let mut data = operands(&program, &[]);
        let mut store = PersistentStore::new();
        interpret(&program, "prepare", &mut data, &[], &mut store, &mut generator(1)).unwrap();
        for seed in 0..3 {
            interpret(&program, "run", &mut data, &[], &mut store, &mut generator(seed)).unwrap();
        }
        let left = |i: u64, p: u64| {
            let first = p / 32 * 32;
            microscaled(&data[0], i, p, first, 32.min(k - first))
        };
        let right = |p: u64, j: u64| {
            let within = j % part / 32 * 32;
            microscaled(&data[1], p, j, j / part * part + within, 32.min(part - within))
        };
        let wanted = |at: &[u64]| (0..k).map(|p| left(at[0], p) * right(p, at[1])).sum();
        // The result passes through bf16.
        assert_close(&data[2], wanted, 1.0 / 256.0, 1e-6);
    }
}

#[test]
fn running_without_prepared_weights_reads_what_was_never_written() {
    let program = TensorParallel { m: 3, n: 8, k: 5, rows: 2, units: 4 }.program();
    let mut data = operands(&program, &[]);
    let result = interpret(&program, "run", &mut data, &[], &mut PersistentStore::new(), &mut generator(0));
    let wanted = InterpretError::Uninitialised { target: "Wu".to_owned(), indices: vec![0, 0] };
    assert_eq!(result, Err(wanted));
}
