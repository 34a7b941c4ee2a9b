//! Where a kernel stands beside what the device allows and the best that is known: right is not enough.

use serde::Serialize;

use crate::format::{number, percent};
use crate::roofline::Bound;

/// Least share of the binding ceiling of a kernel that is worth using; below it, something better can be expected even
/// where nobody has measured it yet.
const LEAST_SHARE: f64 = 0.1;

/// Time over the best known from which on a kernel is called slower: the two were measured at different times, and
/// between times a machine's speed moves by about as much.
const MOST_RATIO: f64 = 1.1;

/// A kernel beside the device's ceiling and the best that is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Placement {
    /// Fraction of the binding ceiling.
    pub ceiling_fraction: f64,
    /// What binds: `compute`, or a memory level.
    pub bound: String,
    /// Least median time that is known for the workload on this device from before, ns; `None` where there is none.
    pub best_known_ns: Option<f64>,
    /// Time over the best known.
    pub best_known_ratio: Option<f64>,
    /// Whether it may take the place of what is used now.
    pub replacement: bool,
    /// Why not, one sentence each; empty for a replacement.
    pub reasons: Vec<String>,
}

/// What is known of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    /// Median time of a launch, ns.
    pub median_ns: f64,
    /// 10⁹ operations a second.
    pub gflops: f64,
    /// What bounds its workload.
    pub bound: &'a Bound,
    /// Least median time known from before, ns.
    pub best_known_ns: Option<f64>,
    /// Whether its time comes from a fresh process on fresh data.
    pub confirmed: bool,
}

impl Placement {
    /// Places a kernel.
    pub fn of(placed: &Placed<'_>) -> Self {
        let Placed { median_ns, gflops, bound, best_known_ns, confirmed } = *placed;
        let ceiling_fraction = gflops / bound.gflops;
        let best_known_ratio = best_known_ns.map(|best| median_ns / best);
        let mut reasons = Vec::new();
        if !confirmed {
            reasons.push("its time was not confirmed in a fresh process on fresh data".to_owned());
        }
        // A ceiling of 0 was never measured.
        if bound.gflops > 0.0 && ceiling_fraction < LEAST_SHARE {
            let (share, title) = (percent(ceiling_fraction), bound.title());
            reasons.push(format!(
                "it reaches {share} of the {title} ceiling, less than {}",
                percent(LEAST_SHARE)
            ));
        }
        if let Some(ratio) = best_known_ratio.filter(|ratio| *ratio > MOST_RATIO) {
            reasons.push(format!("it takes {} times as long as the best known", number(ratio)));
        }
        let (bound, replacement) = (bound.name.clone(), reasons.is_empty());
        Self { ceiling_fraction, bound, best_known_ns, best_known_ratio, replacement, reasons }
    }

    /// One line for people.
    pub fn text(&self) -> String {
        let best = match self.best_known_ratio {
            Some(ratio) => format!("{ratio:.3} of the best known time"),
            None => "nothing better known".to_owned(),
        };
        let share = format!("{} of the {} ceiling, {best}", percent(self.ceiling_fraction), self.bound);
        if self.replacement {
            share
        } else {
            format!("not a replacement: {} ({share})", self.reasons.join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(median_ns: f64, best_known_ns: Option<f64>, confirmed: bool) -> Placement {
        let bound = Bound { name: "compute".to_owned(), gflops: 100.0, intensity: 10.0, level: None };
        let gflops = 1e6 / median_ns;
        Placement::of(&Placed { median_ns, gflops, bound: &bound, best_known_ns, confirmed })
    }

    /// Right, and 300 times too slow.
    #[test]
    fn a_right_and_slow_kernel_is_no_replacement() {
        let slow = placed(3e6, Some(1e4), true);
        assert!(!slow.replacement && slow.reasons.len() == 2, "{slow:?}");
        assert!(
            slow.text().starts_with("not a replacement: ") && slow.text().contains("300 times"),
            "{slow:?}"
        );
        let alone = placed(3e6, None, true);
        assert!(!alone.replacement && alone.reasons[0].contains("ceiling"), "{alone:?}");
    }

    #[test]
    fn what_is_near_the_ceiling_and_as_fast_as_the_best_known_is_one() {
        for best in [None, Some(1.2e4), Some(1.1e4)] {
            let found = placed(1.2e4, best, true);
            assert!(found.replacement && found.reasons.is_empty(), "{found:?}");
            assert!(!found.text().contains("not a replacement"));
        }
        assert!(!placed(1.2e4, Some(1e4), true).replacement);
        assert!(!placed(1.2e4, None, false).replacement);
    }
}
