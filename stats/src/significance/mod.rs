//! Tests of whether times differ: signed-rank and sign test on pairs, Mann–Whitney on two samples.
//!
//! They take logarithms of times, in which a relative gain is a shift. Values
//! closer than 1e-12 count as equal, so that a change of unit breaks no tie.

mod mann_whitney;
mod sign;
mod wilcoxon;

pub use mann_whitney::mann_whitney;
pub use sign::sign_test;
pub use wilcoxon::wilcoxon_signed_rank;

/// One-sided p-values of a test, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PValues {
    /// Probability of data at least as low where in truth nothing differs.
    pub less: f64,
    /// Probability of data at least as high where in truth nothing differs.
    pub greater: f64,
}

impl PValues {
    /// Nothing differs.
    pub const NOTHING: Self = Self { less: 1.0, greater: 1.0 };

    /// Twice the smaller one, at most 1.
    pub fn two_sided(self) -> f64 {
        (2.0 * self.less.min(self.greater)).min(1.0)
    }
}

/// Normal approximation with continuity correction of half a rank; `variance` > 0.
fn normal_approximation(statistic: f64, mean: f64, variance: f64) -> PValues {
    let below = crate::distributions::normal_below;
    let deviation = variance.sqrt();
    PValues {
        less: below((statistic - mean + 0.5) / deviation),
        greater: below((mean - statistic + 0.5) / deviation),
    }
}

/// Exact p-values from `counts[s]`, the number of equally likely arrangements with statistic s.
fn exact(counts: &[f64], statistic: usize) -> PValues {
    let total: f64 = counts.iter().sum();
    PValues {
        less: counts[..=statistic].iter().sum::<f64>() / total,
        greater: counts[statistic..].iter().sum::<f64>() / total,
    }
}
