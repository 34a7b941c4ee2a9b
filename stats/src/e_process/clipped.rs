//! Betting on the size of log-ratios, clipped: what the sign alone would say, and more where noise is small.
//!
//! With yᵢ the gain of pair i beyond the margin, as a distance of logarithms, a gambler stakes the fraction λ
//! on clip(yᵢ/c, −1, 1): wealth ∏ (1 + λ·clip(yᵢ/c, −1, 1)). Where the candidate is no faster than the margin,
//! the bet is not expected to win, so the wealth reaches 1/α with probability at most α, whenever one stops
//! (Ville 1939; Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting", for
//! bets on bounded values; Huber 1964 for why a clipped mean is a good compromise of mean and median).
//!
//! Which c and λ are best depends on the unknown noise and gain, so the wealth here is the average over a grid
//! of both: an average of such processes is one again.

use crate::pairs::SAME;
use crate::{Decision, Level, Margin};

/// Where a gain stops counting for more, as log-ratios: from a very quiet machine to a busy one.
const CLIPS: [f64; 5] = [0.005, 0.01, 0.02, 0.04, 0.08];
/// Fractions of the wealth that are staked. All of it is lost at the first clear loss, but doubles until then.
const STAKES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
/// Wealth that is not added to: giving winnings away is always allowed, and no number overflows.
const MOST: f64 = 1e300;

/// The accounts of the grid, each of which began at 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ClippedBets {
    accounts: [[f64; STAKES.len()]; CLIPS.len()],
}

impl Default for ClippedBets {
    fn default() -> Self {
        Self { accounts: [[1.0; STAKES.len()]; CLIPS.len()] }
    }
}

impl ClippedBets {
    /// One more bet, which won `gain` beyond the margin (a log-ratio, negative for a loss). What is not a
    /// number is lost.
    pub fn place(&mut self, gain: f64) {
        for (accounts, clip) in self.accounts.iter_mut().zip(CLIPS) {
            let won = if gain.is_nan() { -1.0 } else { (gain / clip).clamp(-1.0, 1.0) };
            for (account, stake) in accounts.iter_mut().zip(STAKES) {
                *account = (*account * (1.0 + stake * won)).min(MOST);
            }
        }
    }

    /// The wealth: the mean of all accounts, an e-value wherever one stops.
    pub fn e_value(&self) -> f64 {
        let sum: f64 = self.accounts.iter().flatten().sum();
        sum / (STAKES.len() * CLIPS.len()) as f64
    }

    fn refutes(&self, level: Level) -> bool {
        self.e_value().ln() >= level.e_threshold().ln() - SAME
    }
}

/// A running comparison of pairs with a margin, to be stopped as soon as it decides.
///
/// ```
/// use tilewright_stats::{Decision, Level, Margin, e_process::ClippedBetting};
/// let mut betting = ClippedBetting::new(Margin::ONE_PERCENT, Level::ONE_IN_TEN_THOUSAND);
/// let pairs = (1..).find(|_| betting.observe((0.8_f64).ln()) != Decision::Inconclusive);
/// assert_eq!((pairs, betting.decision()), (Some(16), Decision::Faster));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClippedBetting {
    margin: Margin,
    level: Level,
    faster: ClippedBets,
    slower: ClippedBets,
    decision: Decision,
    pairs: usize,
}

impl ClippedBetting {
    /// Starts with wealth 1 on each side; each side is wrong with probability at most `level`.
    pub fn new(margin: Margin, level: Level) -> Self {
        let (faster, slower) = (ClippedBets::default(), ClippedBets::default());
        Self { margin, level, faster, slower, decision: Decision::Inconclusive, pairs: 0 }
    }

    /// Takes in the log-ratio of one more pair; after the first decision nothing is bet any more.
    pub fn observe(&mut self, log_ratio: f64) -> Decision {
        if self.decision == Decision::Inconclusive {
            self.pairs += 1;
            self.faster.place(-log_ratio - self.margin.log());
            self.slower.place(log_ratio - self.margin.log());
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

    /// The wealth of the bets on a gain, where the comparison stopped or stands.
    pub fn e_value(&self) -> f64 {
        self.faster.e_value()
    }

    /// Pairs until the decision, or so far.
    pub fn pairs(&self) -> usize {
        self.pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn a_fair_game_leaves_the_wealth_as_it_is() {
        let mut bets = ClippedBets::default();
        for gain in [0.003, -0.02, 0.5, 0.0, 0.007, -0.001] {
            let after = |gain| {
                let mut after = bets.clone();
                after.place(gain);
                after.e_value()
            };
            let fair = f64::midpoint(after(gain), after(-gain));
            assert!((fair / bets.e_value() - 1.0).abs() < 1e-12);
            bets.place(gain);
        }
    }

    #[test]
    fn a_symmetric_ratio_within_the_margin_is_expected_to_lose_whatever_its_shape() {
        // Two modes whose wins are all of one size and losses of another: only larger stakes on larger
        // magnitudes make such a game unfavourable, which a clipped value does.
        for (spread, centre) in [(0.05, 0.0), (0.012, 0.0), (0.3, -0.009), (0.008, -0.0099)] {
            let mut bets = ClippedBets::default();
            let before = bets.e_value();
            let margin = Margin::ONE_PERCENT.log();
            let after: Vec<f64> = [spread, -spread]
                .iter()
                .map(|mode| {
                    let mut after = bets.clone();
                    after.place(-(centre + mode) - margin);
                    after.e_value()
                })
                .collect();
            assert!(after.iter().sum::<f64>() / 2.0 <= before + 1e-12, "{spread} {centre}: {after:?}");
            bets.place(spread);
        }
    }

    #[test]
    fn decisions_stand_and_no_number_of_pairs_overflows() {
        let mut betting = ClippedBetting::new(Margin::ONE_PERCENT, Level::ONE_PERCENT);
        for _ in 0..200 {
            betting.observe(f64::NAN);
            betting.observe(-0.005);
        }
        assert_eq!(betting.decision(), Decision::Inconclusive);
        let mut bets = ClippedBets::default();
        (0..5000).for_each(|_| bets.place(1.0));
        assert!(bets.e_value() > 1e298 && bets.e_value().is_finite());
        let mut betting = ClippedBetting::new(Margin::ONE_PERCENT, Level::ONE_PERCENT);
        (0..20).for_each(|_| {
            betting.observe(0.2);
        });
        (0..90).for_each(|_| {
            betting.observe(-0.2);
        });
        assert_eq!((betting.decision(), betting.pairs()), (Decision::Slower, 9));
    }

    #[test]
    fn coins_reach_a_wealth_of_twenty_in_no_more_than_one_run_of_twenty() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let reached = (0..4000).filter(|_| {
            let mut bets = ClippedBets::default();
            (0..300).any(|_| {
                let size = 0.1 * rng.random::<f64>().powi(3);
                bets.place(if rng.random_bool(0.5) { size } else { -size });
                bets.e_value() >= 20.0
            })
        });
        let reached = reached.count();
        assert!(reached <= 4000 / 20 + 50, "{reached}");
        // The bound is nearly used up: a process that always keeps far below it would have no power.
        assert!(reached > 60, "{reached}");
    }
}
