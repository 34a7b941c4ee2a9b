use rand::{Rng, RngExt};

use super::Interval;
use crate::SampleError;
use crate::error::check_finite;
use crate::samples::{quantile_of_sorted, sorted};

/// Resamples of an interval.
const RESAMPLES: usize = 2000;

/// A mean with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupedMean {
    /// Mean of the groups' means.
    pub mean: f64,
    /// Where it may lie.
    pub interval: Interval,
}

/// Mean of the groups' means, each group counting alike, with the percentile bootstrap's interval: the values
/// of each group are drawn anew, the groups stay (Efron 1979; stratified).
///
/// What it says is about these groups, not about groups in general. Differences of pairs give a paired interval.
///
/// # Errors
/// When there is no group, a group is empty, or a value is not finite.
pub fn grouped_mean(groups: &[Vec<f64>], rng: &mut dyn Rng) -> Result<GroupedMean, SampleError> {
    if groups.is_empty() {
        return Err(SampleError::TooFew { have: 0, need: 1 });
    }
    for group in groups {
        check_finite(group, 1)?;
    }
    let of_groups =
        |mean: &mut dyn FnMut(&Vec<f64>) -> f64| groups.iter().map(mean).sum::<f64>() / groups.len() as f64;
    let mean = of_groups(&mut |group| group.iter().sum::<f64>() / group.len() as f64);
    let means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            of_groups(&mut |group| {
                (0..group.len()).map(|_| group[rng.random_range(0..group.len())]).sum::<f64>()
                    / group.len() as f64
            })
        })
        .collect();
    let means = sorted(&means);
    let interval =
        Interval { low: quantile_of_sorted(&means, 0.025), high: quantile_of_sorted(&means, 0.975) };
    Ok(GroupedMean { mean, interval })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn groups_count_alike_and_only_their_values_are_drawn_anew() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let groups = [vec![1.0; 9], vec![3.0]];
        let found = grouped_mean(&groups, &mut rng).unwrap();
        // Values of a group are equal, so that nothing is uncertain, however far apart the groups are.
        assert_eq!((found.mean, found.interval.low, found.interval.high), (2.0, 2.0, 2.0));
        let spread: Vec<f64> = (0..100).map(f64::from).collect();
        let found = grouped_mean(&[spread], &mut rng).unwrap();
        // The mean's standard error is 2.9.
        assert!((43.0..45.0).contains(&found.interval.low) && (54.0..56.0).contains(&found.interval.high));
        assert!(grouped_mean(&[], &mut rng).is_err() && grouped_mean(&[vec![]], &mut rng).is_err());
        assert!(grouped_mean(&[vec![f64::NAN]], &mut rng).is_err());
    }
}
