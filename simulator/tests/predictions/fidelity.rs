//! Predictions order schedules as recorded measurements do.

use std::collections::BTreeMap;

use tilewright_simulator::{chip_named, simulate};

use crate::support::program;

const RECORDED: &str = include_str!("data/zen4_matmul.csv");

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&x, &y| values[x].total_cmp(&values[y]));
    let mut ranks = vec![0.0; values.len()];
    for (rank, at) in order.into_iter().enumerate() {
        ranks[at] = rank as f64;
    }
    ranks
}

/// Spearman's rank correlation.
fn spearman(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (ranks(one), ranks(other));
    let mean = (one.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt()
}

#[test]
fn recorded_schedules_are_ordered_well_within_each_workload() {
    let chip = chip_named("amd_zen4").unwrap();
    let mut workloads: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(';').collect();
        let prediction = simulate(&program(fields[0], fields[1]), chip).unwrap();
        let (measured, predicted) = workloads.entry(fields[0]).or_default();
        measured.push(fields[2].parse().unwrap());
        predicted.push(prediction.time_ns);
    }
    assert_eq!(workloads.len(), 4);
    for (workload, (measured, predicted)) in workloads {
        let correlation = spearman(&measured, &predicted);
        assert!(correlation > 0.88, "{workload}: {correlation}");
    }
}
