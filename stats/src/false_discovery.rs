//! How often claims may be false, over all of them together.
//!
//! A claim at level 10⁻⁴ is false with that probability, but many are made. Two rules keep the expected share
//! of false ones among all claims (the false discovery rate) at a level, both for e-values however they depend
//! on one another: [`e_bh`] for a set that is there at once (Wang & Ramdas 2022, "False discovery rate control
//! with e-values"), and [`OnlineClaims`] for claims that come one after another, each decided before the next
//! (e-LOND; Xu & Ramdas 2024, "Online multiple testing with e-values").

use crate::Level;

/// Upper bound of Σ 1/(n ln² n) over n ≥ 2, by which the shares of all tests ever add up to no more than 1.
const SHARES: f64 = 2.11;

/// Which of these e-values may be claimed so that no more than `level` of the claims are expected to be false.
///
/// The k highest, k the largest number such that each of them is at least n/(k·level).
pub fn e_bh(e_values: &[f64], level: Level) -> Vec<bool> {
    let mut sorted: Vec<f64> = e_values.iter().copied().filter(|e| !e.is_nan()).collect();
    sorted.sort_by(|first, second| second.total_cmp(first));
    let needed = |k: usize| e_values.len() as f64 / (k as f64 * level.get());
    let claimed = (1..=sorted.len()).rev().find(|&k| sorted[k - 1] >= needed(k));
    let bound = claimed.map_or(f64::INFINITY, needed);
    e_values.iter().map(|&e| e >= bound).collect()
}

/// Claims that come one after another, and the level that the next one is tested at.
///
/// Test t is given the share γₜ = 1/(2.11 (t+1) ln²(t+1)) of the level, times one more than the claims made
/// before it. Tests that end without a claim count too: that is what makes trying often cost something.
///
/// ```
/// use tilewright_stats::{Level, false_discovery::OnlineClaims};
/// let mut claims = OnlineClaims::new(Level::FIVE_PERCENT);
/// let first = claims.next_level();
/// claims.note(false);
/// assert!(claims.next_level() < first);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnlineClaims {
    level: Level,
    tests: u64,
    claims: u64,
}

impl OnlineClaims {
    /// Nothing was tested yet; no more than `level` of all claims ever made are expected to be false.
    pub fn new(level: Level) -> Self {
        Self { level, tests: 0, claims: 0 }
    }

    /// The level for the next test: it is claimed when its e-value reaches the inverse.
    pub fn next_level(&self) -> Level {
        let number = self.tests as f64 + 2.0;
        let share = 1.0 / (SHARES * number * number.ln().powi(2));
        let level = self.level.get() * share * (self.claims as f64 + 1.0);
        Level::new(level.min(self.level.get())).unwrap_or(self.level)
    }

    /// Takes note of a test that is over.
    pub fn note(&mut self, claimed: bool) {
        self.tests += 1;
        self.claims += u64::from(claimed);
    }

    /// Tests so far.
    pub fn tests(&self) -> u64 {
        self.tests
    }

    /// Claims among them.
    pub fn claims(&self) -> u64 {
        self.claims
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn e_bh_agrees_with_a_hand_calculation() {
        // n = 4, 5 %: one needs 80, two 40, three 26.7, four 20.
        assert_eq!(e_bh(&[90.0, 30.0, 45.0, 1.0], Level::FIVE_PERCENT), [true, true, true, false]);
        assert_eq!(e_bh(&[79.0, 30.0, 1.0, 1.0], Level::FIVE_PERCENT), [false; 4]);
        assert_eq!(e_bh(&[20.0; 4], Level::FIVE_PERCENT), [true; 4]);
        assert_eq!(e_bh(&[f64::NAN, f64::INFINITY], Level::FIVE_PERCENT), [false, true]);
        assert!(e_bh(&[], Level::FIVE_PERCENT).is_empty());
    }

    #[test]
    fn the_shares_of_all_tests_add_up_to_no_more_than_the_level() {
        let mut claims = OnlineClaims::new(Level::FIVE_PERCENT);
        let mut sum = 0.0;
        let tests = 1_000_000;
        for _ in 0..tests {
            sum += claims.next_level().get();
            claims.note(false);
        }
        // What is left of the series behind is about 1/ln n.
        let rest = 0.05 / (SHARES * f64::from(tests).ln());
        assert!(sum + rest <= 0.05 + 1e-6 && sum + rest > 0.0495, "{sum} {rest}");
    }

    #[test]
    fn claims_made_pay_for_more() {
        let mut all = OnlineClaims::new(Level::FIVE_PERCENT);
        (0..1000).for_each(|_| all.note(true));
        // Where most tests are claims, 10⁻⁴ stays enough for a registry's life.
        assert!(all.next_level() > Level::ONE_IN_TEN_THOUSAND);
        let mut none = OnlineClaims::new(Level::FIVE_PERCENT);
        (0..1000).for_each(|_| none.note(false));
        assert!(none.next_level() < Level::new(1e-6).unwrap());
        assert_eq!((all.tests(), all.claims()), (1000, 1000));
    }

    #[test]
    fn the_share_of_false_claims_stays_below_the_level() {
        // e-values that use up what Markov allows: 1/p with p uniform is not one, but 1{p<a}/a is.
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let (runs, mut share) = (400, 0.0);
        for _ in 0..runs {
            let mut claims = OnlineClaims::new(Level::new(0.2).unwrap());
            let mut wrong = 0_u64;
            for _ in 0..200 {
                let level = claims.next_level();
                let real = rng.random_bool(0.3);
                let e = if real || rng.random_bool(level.get()) { level.e_threshold() } else { 0.0 };
                let claimed = e >= level.e_threshold();
                wrong += u64::from(claimed && !real);
                claims.note(claimed);
            }
            share += wrong as f64 / claims.claims().max(1) as f64 / f64::from(runs);
        }
        assert!(share <= 0.2, "{share}");
    }
}
