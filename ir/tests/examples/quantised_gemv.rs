//! Example 4 against the bytes of its blocks, read by the definition of GGUF.

use crate::support::{assert_close, operands, run};
use tilewright_ir::examples::QuantisedGemv;
use tilewright_ir::{DataType, read_element, round_to};

#[test]
fn computes_odd_numbers_of_rows() {
    for (n, k) in [(1, 32), (7, 64), (12, 160), (33, 96)] {
        let program = QuantisedGemv { n, k, rows: 4, threads: 2 }.program();
        let mut data = operands(&program, &[]);
        run(&program, &mut data, n).unwrap();
        let bytes = data[0].to_bytes();
        let weight = |row: u64, column: u64| {
            let block = &bytes[((row * k + column) / 32 * 18) as usize..][..18];
            let lane = (column % 32) as usize;
            let nibble = if lane < 16 { block[2 + lane] & 15 } else { block[2 + lane - 16] >> 4 };
            read_element(DataType::F16, block, 0) * (f64::from(nibble) - 8.0)
        };
        let activation = |column: u64| {
            let first = column / 32 * 32;
            let most = (first..first + 32).map(|c| data[1].get(&[c]).abs()).fold(0.0, f64::max);
            let scale = most as f32 / 127.0;
            let integer = (data[1].get(&[column]) as f32 * (1.0 / scale)).round();
            f64::from(integer) * round_to(DataType::F16, f64::from(scale))
        };
        let wanted = |at: &[u64]| (0..k).map(|c| weight(at[0], c) * activation(c)).sum();
        assert_close(&data[2], wanted, 1e-6, 1e-6);
    }
}
