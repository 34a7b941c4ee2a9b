//! A test that may be looked at after every pair: betting on the sign of log-ratios.
//!
//! Claim: in each pair the candidate is at most as likely to win as to lose.
//! A gambler who doubts it stakes a fraction λ of the wealth on a win each time;
//! under the claim the wealth is not expected to grow, so it reaches 1/α with
//! probability at most α, *whenever* one stops (Ville 1939; Ramdas, Grünwald,
//! Vovk & Shafer 2023, "Game-theoretic statistics and safe anytime-valid inference").
//!
//! Which λ is best depends on the unknown share of wins, so the wealth here is
//! the average over all λ in [0, 1]; it then has a closed form.

mod clipped;
mod rate;

pub use clipped::{ClippedBets, ClippedBetting};
pub use rate::RateBets;

use crate::distributions::fair_at_most;
use crate::interval::Interval;
use crate::pairs::SAME;
use crate::samples::sorted;
use crate::{Decision, Level, Margin};
use statrs::function::beta::ln_beta;

/// Wins among bets, and the wealth that betting on wins has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bets {
    /// Bets won.
    pub wins: usize,
    /// Bets placed, at least `wins`.
    pub placed: usize,
}

impl Bets {
    /// Counts one more bet.
    pub fn place(&mut self, won: bool) {
        self.placed += 1;
        self.wins += usize::from(won);
    }

    /// Natural logarithm of the wealth, which began at 1.
    ///
    /// With s wins in n bets and the win probability p = (1+λ)/2 that stake λ is
    /// best for, the wealth is 2ⁿ ∫ pˢ(1−p)ⁿ⁻ˢ 2dp over [½, 1]
    /// = 2ⁿ⁺¹ B(s+1, n−s+1) P(X ≤ s), X binomial(n+1, ½).
    pub fn ln_wealth(self) -> f64 {
        let wins = self.wins.min(self.placed);
        let (won, lost) = (wins as f64, (self.placed - wins) as f64);
        (self.placed as f64 + 1.0) * std::f64::consts::LN_2
            + ln_beta(won + 1.0, lost + 1.0)
            + fair_at_most(wins, self.placed + 1).ln()
    }

    fn refutes(self, level: Level) -> bool {
        self.ln_wealth() >= level.e_threshold().ln() - SAME
    }
}

/// A running comparison of pairs with a margin, to be stopped as soon as it decides.
///
/// ```
/// use tilewright_stats::{Decision, Level, Margin, e_process::Betting};
/// let mut betting = Betting::new(Margin::ONE_PERCENT, Level::ONE_IN_A_THOUSAND);
/// let pairs = (1..).find(|_| betting.observe((0.9_f64).ln()) != Decision::Inconclusive);
/// assert_eq!((pairs, betting.decision()), (Some(13), Decision::Faster));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Betting {
    margin: Margin,
    level: Level,
    faster: Bets,
    slower: Bets,
    decision: Decision,
}

impl Betting {
    /// Starts with wealth 1 on each side; each side is wrong with probability at most `level`.
    pub fn new(margin: Margin, level: Level) -> Self {
        let (faster, slower) = (Bets::default(), Bets::default());
        Self { margin, level, faster, slower, decision: Decision::Inconclusive }
    }

    /// Takes in the log-ratio of one more pair; the first decision stands.
    ///
    /// A log-ratio within the margin, or not a number, is a lost bet for both sides.
    pub fn observe(&mut self, log_ratio: f64) -> Decision {
        let bound = self.margin.log() + SAME;
        self.faster.place(log_ratio < -bound);
        self.slower.place(log_ratio > bound);
        if self.decision == Decision::Inconclusive {
            if self.faster.refutes(self.level) {
                self.decision = Decision::Faster;
            } else if self.slower.refutes(self.level) {
                self.decision = Decision::Slower;
            }
        }
        self.decision
    }

    /// The decision so far: faster, slower or inconclusive.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Bets on the candidate being faster by more than the margin.
    pub fn faster(&self) -> Bets {
        self.faster
    }

    /// Bets on the candidate being slower by more than the margin.
    pub fn slower(&self) -> Bets {
        self.slower
    }
}

/// Interval of the median of `values` that holds at whatever length one stops.
///
/// All θ that neither side's bets against "the median is θ" refute at level/2:
/// from the k-th highest to the k-th lowest value, k the fewest wins of n that
/// refute (a confidence sequence; Howard & Ramdas 2022, "Sequential estimation of
/// quantiles"). `None` where not even n wins refute: below 8 values at 95 %, and
/// where a value is not a number.
pub fn median_sequence(values: &[f64], level: Level) -> Option<Interval> {
    let placed = values.len();
    let half = Level::new(level.get() / 2.0).ok()?;
    let refutes = |wins: usize| Bets { wins, placed }.refutes(half);
    if values.iter().any(|value| value.is_nan()) || placed == 0 || !refutes(placed) {
        return None;
    }
    let (mut weak, mut strong) = (0, placed);
    while strong - weak > 1 {
        let middle = usize::midpoint(weak, strong);
        if refutes(middle) {
            strong = middle;
        } else {
            weak = middle;
        }
    }
    let sorted = sorted(values);
    Some(Interval { low: sorted[placed - strong], high: sorted[strong - 1] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wealth(wins: usize, placed: usize) -> f64 {
        Bets { wins, placed }.ln_wealth().exp()
    }

    #[test]
    fn the_closed_form_is_the_average_over_stakes() {
        for (wins, placed) in [(0, 0), (1, 1), (0, 3), (7, 9), (13, 31), (28, 31)] {
            let steps = 20_000;
            let average: f64 = (0..steps)
                .map(|i| {
                    let stake = (f64::from(i) + 0.5) / f64::from(steps);
                    (1.0 + stake).powi(wins as i32) * (1.0 - stake).powi((placed - wins) as i32)
                })
                .sum::<f64>()
                / f64::from(steps);
            assert!((wealth(wins, placed) / average - 1.0).abs() < 1e-4, "{wins} of {placed}");
        }
    }

    #[test]
    fn a_fair_game_leaves_the_wealth_as_it_is() {
        for placed in 0..40 {
            for wins in 0..=placed {
                let fair = f64::midpoint(wealth(wins + 1, placed + 1), wealth(wins, placed + 1));
                assert!((fair / wealth(wins, placed) - 1.0).abs() < 1e-9, "{wins} of {placed}");
            }
        }
    }

    #[test]
    fn decisions_stand_and_ties_are_lost_bets() {
        let mut betting = Betting::new(Margin::ONE_PERCENT, Level::ONE_PERCENT);
        for _ in 0..200 {
            betting.observe(f64::NAN);
            betting.observe(-0.005);
        }
        assert_eq!(betting.decision(), Decision::Inconclusive);
        let mut betting = Betting::new(Margin::ONE_PERCENT, Level::ONE_PERCENT);
        for _ in 0..9 {
            betting.observe(0.1);
        }
        assert_eq!(betting.decision(), Decision::Slower);
        for _ in 0..100 {
            betting.observe(-0.1);
        }
        assert_eq!(betting.decision(), Decision::Slower);
    }

    #[test]
    fn the_sequence_starts_at_eight_values_and_narrows() {
        let values = |n: usize| -> Vec<f64> { (0..n).map(|i| i as f64 / n as f64).collect() };
        assert_eq!(median_sequence(&values(7), Level::FIVE_PERCENT), None);
        let few = median_sequence(&values(8), Level::FIVE_PERCENT).unwrap();
        assert_eq!(few, Interval { low: 0.0, high: 0.875 });
        let many = median_sequence(&values(1000), Level::FIVE_PERCENT).unwrap();
        assert!(many.contains(0.5) && many.high - many.low < 0.2, "{many:?}");
    }
}
