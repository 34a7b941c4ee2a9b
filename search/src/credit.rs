use tilewright_journal::Trial;
use tilewright_stats::{Decision, Judged};

/// Relative gain over the parent that counts; smaller ones are noise.
const GAIN: f64 = 0.01;
/// Credit for a gain over the parent that does not beat the incumbent: it keeps operators apart while
/// improvements of the best are rare.
const PARTIAL: f64 = 0.25;

/// What a mutation operator earns for a judged trial, from 0 to 1: 1 when the gate judged it faster than the
/// incumbent, a quarter when it is faster than its parent, else nothing.
///
/// `gain` is the logarithm of the parent's time over the trial's, where both are known. Rewarding only
/// improvements, rather than averages, favours operators with rare large gains (Fialho et al. 2010,
/// "Analyzing bandit-based adaptive operator selection mechanisms").
pub fn credit(judged: &Judged<Trial>, gain: Option<f64>) -> f64 {
    if judged.verdict().kind == Decision::Faster {
        1.0
    } else if gain.is_some_and(|gain| gain > GAIN) {
        PARTIAL
    } else {
        0.0
    }
}
