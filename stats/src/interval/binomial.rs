use super::Interval;
use crate::{Level, SampleError};
use statrs::function::beta::inv_beta_reg;

/// Exact one-sided upper bound of a probability: `successes` of `trials` were seen.
///
/// With confidence 1 − level the probability is no higher. Used for rates of
/// false wins, where 0 seen must not read as 0 (Clopper & Pearson 1934).
///
/// # Errors
/// When there are more successes than trials, or no trial.
pub fn proportion_upper(successes: u64, trials: u64, level: Level) -> Result<f64, SampleError> {
    check(successes, trials)?;
    Ok(upper(successes, trials, level.get()))
}

/// Exact two-sided interval of a probability (Clopper & Pearson 1934).
///
/// # Errors
/// When there are more successes than trials, or no trial.
pub fn proportion_interval(successes: u64, trials: u64, level: Level) -> Result<Interval, SampleError> {
    check(successes, trials)?;
    let tail = level.get() / 2.0;
    Ok(Interval { low: 1.0 - upper(trials - successes, trials, tail), high: upper(successes, trials, tail) })
}

fn check(successes: u64, trials: u64) -> Result<(), SampleError> {
    if trials == 0 {
        return Err(SampleError::TooFew { have: 0, need: 1 });
    }
    if successes > trials { Err(SampleError::MoreThanTrials { successes, trials }) } else { Ok(()) }
}

/// The probability at which seeing no more than `successes` has probability `tail`.
fn upper(successes: u64, trials: u64, tail: f64) -> f64 {
    let failures = (trials - successes) as f64;
    if successes == trials {
        1.0
    } else if successes == 0 {
        // 1 − tail^(1/n), without losing digits for large n.
        -(tail.ln() / failures).exp_m1()
    } else {
        inv_beta_reg(successes as f64 + 1.0, failures, 1.0 - tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_seen_obeys_the_rule_of_three() {
        let bound = proportion_upper(0, 36_000, Level::FIVE_PERCENT).unwrap();
        assert!((bound - 2.9957 / 36_000.0).abs() < 1e-8);
    }

    #[test]
    fn agrees_with_published_intervals() {
        // R: binom.test(10, 100)$conf.int and binom.test(7, 20)$conf.int
        for (successes, trials, low, high) in [(10, 100, 0.049_005, 0.176_223), (7, 20, 0.153_909, 0.592_189)]
        {
            let interval = proportion_interval(successes, trials, Level::FIVE_PERCENT).unwrap();
            assert!((interval.low - low).abs() < 2e-6 && (interval.high - high).abs() < 2e-6, "{interval:?}");
        }
    }

    #[test]
    fn impossible_counts_are_refused() {
        assert!(proportion_upper(2, 1, Level::FIVE_PERCENT).is_err());
        assert!(proportion_upper(0, 0, Level::FIVE_PERCENT).is_err());
        assert!((proportion_upper(5, 5, Level::FIVE_PERCENT).unwrap() - 1.0).abs() < 1e-12);
    }
}
