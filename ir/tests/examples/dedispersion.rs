//! Example 8 against the definition.

use crate::support::{assert_close, layout, noise, operands, run};
use tilewright_ir::TensorData;
use tilewright_ir::examples::Dedispersion;

#[test]
fn computes_odd_sizes() {
    for (samples, measures) in [(1, 1), (8, 4), (19, 7), (33, 5)] {
        let (channels, longest) = (9, 13);
        let sizes = Dedispersion { samples, measures, channels, longest, lanes: [4, 2], points: [2, 1] };
        let program = sizes.program();
        let bytes =
            TensorData::from_fn(layout(&program, "in"), |at| (noise(1, at) * 127.0 + 128.0).floor()).unwrap();
        let shifts =
            TensorData::from_fn(layout(&program, "shift"), |at| ((noise(2, at) + 1.0) * 6.99).floor())
                .unwrap();
        let mut data = operands(&program, &[("in", &bytes), ("shift", &shifts)]);
        run(&program, &mut data, samples).unwrap();
        let wanted =
            |at: &[u64]| (0..channels).map(|c| bytes.get(&[c, at[1] + shifts.get(&[at[0], c]) as u64])).sum();
        assert_close(&data[2], wanted, 0.0, 0.0);
    }
}
