//! Example 7 against each token's own experts.

use crate::support::{assert_close, layout, noise, operands, run, silu};
use tilewright_ir::TensorData;
use tilewright_ir::examples::Experts;

#[test]
fn computes_ragged_experts() {
    for (tokens, chosen, experts) in [(1, 1, 1), (11, 2, 5), (30, 3, 4)] {
        let (hidden, inner) = (7, 6);
        let sizes = Experts { tokens, chosen, experts, hidden, inner, rows: 4, threads: 2 };
        let program = sizes.program();
        // Expert of a token's choice; low numbers are favoured, so that some expert may get nothing.
        let expert = |t: u64, s: u64| ((noise(99, &[t, s]).powi(2) * experts as f64) as u64).min(experts - 1);
        let mut listed: Vec<(u64, u64, u64)> =
            (0..tokens).flat_map(|t| (0..chosen).map(move |s| (expert(t, s), t, s))).collect();
        listed.sort_unstable();
        let table = |name: &str, value: &dyn Fn(&[u64]) -> u64| {
            TensorData::from_fn(layout(&program, name), |at| value(at) as f64).unwrap()
        };
        let count = |e: u64| listed.iter().filter(|entry| entry.0 == e).count() as u64;
        let tokens_of = table("tokens_of", &|at| count(at[0]));
        let offset = table("offset", &|at| (0..at[0]).map(count).sum());
        let index = table("index", &|at| listed[at[0] as usize].1);
        let position = table("position", &|at| {
            listed.iter().position(|&(_, t, s)| (t, s) == (at[0], at[1])).unwrap() as u64
        });
        let given =
            [("tokens_of", &tokens_of), ("offset", &offset), ("index", &index), ("position", &position)];
        let mut data = operands(&program, &given);
        run(&program, &mut data, tokens).unwrap();
        let network = |e: u64, t: u64, c: u64| -> f64 {
            let layer = |weights: &TensorData, f: u64| -> f64 {
                (0..hidden).map(|c| data[0].get(&[t, c]) * weights.get(&[e, c, f])).sum()
            };
            (0..inner).map(|f| silu(layer(&data[1], f)) * layer(&data[2], f) * data[3].get(&[e, f, c])).sum()
        };
        let wanted = |at: &[u64]| {
            (0..chosen).map(|s| data[8].get(&[at[0], s]) * network(expert(at[0], s), at[0], at[1])).sum()
        };
        assert_close(&data[9], wanted, 1e-5, 1e-5);
    }
}
