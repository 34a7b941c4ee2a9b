use rand::{Rng, RngExt};

use crate::SampleError;
use crate::ranks::rank;

/// Permutations that a p-value is estimated from.
const PERMUTATIONS: usize = 9999;

/// Ranks of methods over blocks, and whether they differ by more than chance.
#[derive(Debug, Clone, PartialEq)]
pub struct Friedman {
    /// Blocks: problems, or repetitions of them, on each of which all methods were tried.
    pub blocks: usize,
    /// Mean rank of each method; 1 is the lowest value, ties share the middle.
    pub mean_ranks: Vec<f64>,
    /// χ²ᵣ with the correction for ties; 0 where all values of every block are equal.
    pub statistic: f64,
    /// Probability of ranks at least as different where all methods are alike, in (0, 1].
    pub p_value: f64,
}

/// Friedman's test of `blocks`, each with one value of every method, lower being better.
///
/// Friedman 1937, "The use of ranks to avoid the assumption of normality implicit in the analysis of variance",
/// JASA 32, 675–701. The p-value is that of the permutation test, ranks exchanged within blocks, with the
/// observed arrangement counted (Phipson & Smyth 2010): unlike the χ² approximation it holds for few blocks too.
/// Infinite values are allowed and rank last.
///
/// # Errors
/// When there is no block, fewer than two methods, blocks of different length, or a value that is not a number.
pub fn friedman(blocks: &[Vec<f64>], rng: &mut dyn Rng) -> Result<Friedman, SampleError> {
    let methods = blocks.first().map_or(0, Vec::len);
    if methods < 2 {
        return Err(SampleError::TooFew { have: methods, need: 2 });
    }
    let mut ties = 0.0;
    let mut ranks: Vec<Vec<usize>> = Vec::with_capacity(blocks.len());
    for block in blocks {
        if block.len() != methods {
            return Err(SampleError::Unequal { first: methods, second: block.len() });
        }
        if let Some(index) = block.iter().position(|value| value.is_nan()) {
            return Err(SampleError::NotFinite { index });
        }
        // Only the order counts, and the largest number is behind all others as well as an infinite one.
        let finite: Vec<f64> = block.iter().map(|value| value.clamp(f64::MIN, f64::MAX)).collect();
        let ranked = rank(&finite, 0.0);
        ties += ranked.tie_term;
        ranks.push(ranked.doubled);
    }
    let sums = |ranks: &[Vec<usize>]| -> Vec<usize> {
        (0..methods).map(|method| ranks.iter().map(|block| block[method]).sum()).collect()
    };
    let observed = sums(&ranks);
    let mean_ranks = observed.iter().map(|&sum| sum as f64 / 2.0 / blocks.len() as f64).collect();
    let spread = |sums: &[usize]| sums.iter().map(|&sum| (sum as u128).pow(2)).sum::<u128>();
    let least = spread(&observed);
    let mut as_far = 1;
    for _ in 0..PERMUTATIONS {
        for block in &mut ranks {
            shuffle(block, rng);
        }
        as_far += usize::from(spread(&sums(&ranks)) >= least);
    }
    let p_value = as_far as f64 / (PERMUTATIONS + 1) as f64;
    let (n, k) = (blocks.len() as f64, methods as f64);
    let plain = 12.0 / (n * k * (k + 1.0)) * least as f64 / 4.0 - 3.0 * n * (k + 1.0);
    let correction = 1.0 - ties / (n * (k * k * k - k));
    let statistic = if correction > 0.0 { (plain / correction).max(0.0) } else { 0.0 };
    Ok(Friedman { blocks: blocks.len(), mean_ranks, statistic, p_value })
}

/// Fisher and Yates.
fn shuffle(values: &mut [usize], rng: &mut dyn Rng) {
    for last in (1..values.len()).rev() {
        values.swap(last, rng.random_range(0..=last));
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn test(blocks: &[Vec<f64>]) -> Friedman {
        friedman(blocks, &mut ChaCha8Rng::seed_from_u64(1)).unwrap()
    }

    #[test]
    fn agrees_with_a_worked_example() {
        // Demšar 2006, table 6: areas under the curve of four variants of C4.5 on fourteen data sets.
        let areas = [
            [0.763, 0.768, 0.771, 0.798],
            [0.599, 0.591, 0.590, 0.569],
            [0.954, 0.971, 0.968, 0.967],
            [0.628, 0.661, 0.654, 0.657],
            [0.882, 0.888, 0.886, 0.898],
            [0.936, 0.931, 0.916, 0.931],
            [0.661, 0.668, 0.609, 0.685],
            [0.583, 0.583, 0.563, 0.625],
            [0.775, 0.838, 0.866, 0.875],
            [1.000, 1.000, 1.000, 1.000],
            [0.940, 0.962, 0.965, 0.962],
            [0.619, 0.666, 0.614, 0.669],
            [0.972, 0.981, 0.9751, 0.975],
            [0.957, 0.978, 0.946, 0.970],
        ];
        let blocks: Vec<Vec<f64>> =
            areas.iter().map(|block| block.iter().map(|area| -area).collect()).collect();
        let found = test(&blocks);
        for (rank, published) in found.mean_ranks.iter().zip([3.143, 2.000, 2.893, 1.964]) {
            assert!((rank - published).abs() < 6e-4, "{:?}", found.mean_ranks);
        }
        // Published without correction for ties, 9.28; their term here is 1 − 78 / 840.
        assert!((found.statistic - 9.28 / (1.0 - 78.0 / 840.0)).abs() < 0.02, "{found:?}");
        assert!((0.01..0.03).contains(&found.p_value), "{found:?}");
    }

    #[test]
    fn equal_methods_do_not_differ_and_unequal_ones_do() {
        let alike = test(&vec![vec![1.0; 3]; 8]);
        assert_eq!((alike.statistic, alike.p_value), (0.0, 1.0));
        let ordered = test(&vec![vec![1.0, 2.0, f64::INFINITY]; 8]);
        assert_eq!(ordered.mean_ranks, [1.0, 2.0, 3.0]);
        assert!((ordered.statistic - 16.0).abs() < 1e-9 && ordered.p_value < 0.001, "{ordered:?}");
        // Two blocks cannot say much, however well they agree: 1 in 6.
        let few = test(&vec![vec![1.0, 2.0, 3.0]; 2]);
        assert!((few.p_value - 1.0 / 6.0).abs() < 0.02, "{few:?}");
    }

    #[test]
    fn what_cannot_be_ranked_is_refused() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for blocks in [vec![], vec![vec![1.0]], vec![vec![1.0, 2.0], vec![1.0]], vec![vec![1.0, f64::NAN]]] {
            assert!(friedman(&blocks, &mut rng).is_err(), "{blocks:?}");
        }
    }
}
