//! Whether something happens more often than it may: bets against a nominal rate.
//!
//! Of independent trials each of which succeeds with probability at most p₀, the product of
//! (p₁/p₀) for a success and (1−p₁)/(1−p₀) for a failure is not expected to grow, for every p₁ ≥ p₀; nor is
//! the average over several p₁ (Wald 1945; Ville 1939). It reaches 1/α with probability at most α.

use crate::Level;

/// p₁ is p₀ to these powers: from a little more than nominal to nearly always.
const POWERS: [f64; 3] = [0.75, 0.5, 0.25];
/// As for clipped bets.
const MOST: f64 = 1e300;

/// Bets that a rate is higher than nominal.
///
/// ```
/// use tilewright_stats::{Level, e_process::RateBets};
/// let mut bets = RateBets::new(Level::FIVE_PERCENT);
/// let successes = (1..).find(|_| { bets.observe(true); bets.e_value() >= 100.0 });
/// assert_eq!(successes, Some(3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RateBets {
    nominal: f64,
    accounts: [f64; POWERS.len()],
    highest: f64,
    trials: u64,
    successes: u64,
}

impl RateBets {
    /// Starts with wealth 1 against this rate.
    pub fn new(nominal: Level) -> Self {
        Self { nominal: nominal.get(), accounts: [1.0; POWERS.len()], highest: 1.0, trials: 0, successes: 0 }
    }

    /// Takes in one more trial.
    pub fn observe(&mut self, success: bool) {
        self.trials += 1;
        self.successes += u64::from(success);
        for (account, power) in self.accounts.iter_mut().zip(POWERS) {
            let likely = self.nominal.powf(power);
            let factor = if success { likely / self.nominal } else { (1.0 - likely) / (1.0 - self.nominal) };
            *account = (*account * factor).min(MOST);
        }
        self.highest = self.highest.max(self.e_value());
    }

    /// The wealth now: an e-value against the nominal rate.
    pub fn e_value(&self) -> f64 {
        self.accounts.iter().sum::<f64>() / POWERS.len() as f64
    }

    /// The highest wealth so far. Ville's inequality is about this one, so an alarm stands.
    pub fn highest(&self) -> f64 {
        self.highest
    }

    /// Trials so far.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Successes so far.
    pub fn successes(&self) -> u64 {
        self.successes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Share of runs of 400 trials in which the wealth reaches 100.
    fn alarms(nominal: Level, rate: f64, runs: usize) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let alarms = (0..runs).filter(|_| {
            let mut bets = RateBets::new(nominal);
            (0..400).for_each(|_| bets.observe(rng.random_bool(rate)));
            bets.highest() >= 100.0
        });
        alarms.count() as f64 / runs as f64
    }

    #[test]
    fn the_nominal_rate_raises_an_alarm_in_no_more_than_one_run_of_a_hundred() {
        for nominal in [0.125, 0.05, 1e-4] {
            let share = alarms(Level::new(nominal).unwrap(), nominal, 4000);
            assert!(share <= 0.015, "{nominal}: {share}");
        }
    }

    #[test]
    fn twice_the_rate_and_more_is_noticed() {
        assert!(alarms(Level::new(0.125).unwrap(), 0.3, 200) > 0.95);
        assert!(alarms(Level::new(1e-4).unwrap(), 0.02, 200) > 0.95);
    }

    #[test]
    fn a_single_false_claim_of_one_in_ten_thousand_is_an_alarm_and_the_alarm_stands() {
        let mut bets = RateBets::new(Level::ONE_IN_TEN_THOUSAND);
        bets.observe(true);
        assert!(bets.highest() >= 100.0);
        (0..10_000).for_each(|_| bets.observe(false));
        assert!(bets.e_value() < 100.0 && bets.highest() >= 100.0);
        assert_eq!((bets.trials(), bets.successes()), (10_001, 1));
    }
}
