//! Draws from 10¹² constrained points have the distributions that they promise, seen on small projections.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use tilewright_genome::{Constraint, Gene, Genome, SearchSpace};
use tilewright_ir::ScheduleValue;

const DRAWS: usize = 40_000;

fn number(value: &ScheduleValue) -> u64 {
    match value {
        ScheduleValue::Number(number) => *number,
        ScheduleValue::Name(_) => 0,
    }
}

fn divides(first: u64, second: u64) -> bool {
    second.is_multiple_of(first)
}

/// 10¹² points, of which `g0 · g1 · g2 ≤ 64` and `g3 divides g11` leave a few percent.
fn space() -> SearchSpace {
    let names: Vec<String> = (0..12).map(|at| format!("g{at}")).collect();
    let genes = names.iter().map(|name| Gene::ordered(name, name, (1..=10).collect())).collect();
    let product = Constraint::new("g0 * g1 * g2 <= 64", &["g0", "g1", "g2"], |values| {
        values.iter().map(|value| number(value)).product::<u64>() <= 64
    });
    let multiple = Constraint::new("g3 divides g11", &["g3", "g11"], |values| {
        divides(number(values[0]), number(values[1]))
    });
    SearchSpace::plain(genes, vec![product, multiple]).expect("a space")
}

/// The values of two genes, from 1.
fn pair(genome: &Genome, [first, second]: [usize; 2]) -> (u64, u64) {
    (u64::from(genome.0[first]) + 1, u64::from(genome.0[second]) + 1)
}

/// Pearson's statistic in standard deviations above its mean: Σ(observed − expected)²/expected has the mean
/// `cells − 1` and the variance `2 (cells − 1)`.
fn excess(observed: &BTreeMap<(u64, u64), u64>, expected: &BTreeMap<(u64, u64), f64>) -> f64 {
    assert!(observed.keys().all(|cell| expected.contains_key(cell)), "a cell that is not legal was drawn");
    let total: f64 = expected.values().sum();
    let deviation = |(cell, share): (&(u64, u64), &f64)| {
        let expected = share / total * DRAWS as f64;
        (observed.get(cell).copied().unwrap_or(0) as f64 - expected).powi(2) / expected
    };
    let statistic: f64 = expected.iter().map(deviation).sum();
    let freedom = expected.len() as f64 - 1.0;
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

fn drawn(genes: [usize; 2], mut draw: impl FnMut() -> Genome) -> BTreeMap<(u64, u64), u64> {
    let mut observed = BTreeMap::new();
    for _ in 0..DRAWS {
        *observed.entry(pair(&draw(), genes)).or_insert(0) += 1;
    }
    observed
}

/// Shares of the pairs that are legal.
fn cells(share: impl Fn(u64, u64) -> f64) -> BTreeMap<(u64, u64), f64> {
    let all = (1..=10).flat_map(|first| (1..=10).map(move |second| (first, second)));
    all.map(|cell| (cell, share(cell.0, cell.1))).filter(|(_, share)| *share > 0.0).collect()
}

fn yes(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

// U121
#[test]
fn uniform_draws_are_uniform_on_every_projection() {
    let space = space();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let thirds =
        |first: u64, second: u64| (1..=10).filter(|third| first * second * third <= 64).count() as f64;
    for (genes, expected) in [
        ([3, 11], cells(|first, second| yes(divides(first, second)))),
        ([0, 1], cells(thirds)),
        ([5, 8], cells(|_, _| 1.0)),
    ] {
        let observed = drawn(genes, || {
            let genome = space.sample_uniformly(&mut rng).expect("a part of some percent is found");
            assert!(space.decode(&genome).is_ok());
            genome
        });
        let excess = excess(&observed, &expected);
        println!("genes {genes:?}: {excess:.2} deviations");
        assert!(excess < 5.0, "genes {genes:?}: {excess}");
    }
}

#[test]
fn draws_gene_by_gene_are_uniform_among_what_is_open() {
    let space = space();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let multiples = |first: u64| (1..=10).filter(|&second| divides(first, second)).count() as f64;
    let by_gene = cells(|first, second| yes(divides(first, second)) / multiples(first));
    let observed = drawn([3, 11], || space.sample(&mut rng));
    assert!(excess(&observed, &by_gene) < 5.0);
    // The test tells the two distributions apart.
    let uniform = cells(|first, second| yes(divides(first, second)));
    assert!(excess(&observed, &uniform) > 100.0);
}

#[test]
fn a_space_without_room_gives_nothing_instead_of_no_end() {
    let names: Vec<String> = (0..9).map(|at| format!("g{at}")).collect();
    let genes = names.iter().map(|name| Gene::ordered(name, "g", (1..=10).collect())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ones = Constraint::new("all are 1", &names, |values| values.iter().all(|value| number(value) == 1));
    let space = SearchSpace::plain(genes, vec![ones]).expect("one point");
    assert_eq!(space.sample_uniformly(&mut Xoshiro256PlusPlus::seed_from_u64(1)), None);
}
