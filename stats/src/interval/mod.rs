//! How well a number is known: intervals, each by the method that fits the number.

mod binomial;
mod bootstrap;
mod grouped;
mod log_ratio;
mod median;
mod shift;

pub use binomial::{proportion_interval, proportion_upper};
pub use bootstrap::{Bootstrap, bootstrap};
pub use grouped::{GroupedMean, grouped_mean};
pub(crate) use log_ratio::mean_interval;
pub use log_ratio::{MeanRatio, mean_ratio};
pub use median::median_interval;
pub use shift::{Shift, shift};

use serde::{Deserialize, Serialize};

/// Two ends, `low` ≤ `high`, in the unit of what they enclose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies between the ends, ends included.
    pub fn contains(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The interval of exp(x) where this one is of x.
    #[must_use]
    pub fn exp(self) -> Self {
        Self { low: self.low.exp(), high: self.high.exp() }
    }
}
