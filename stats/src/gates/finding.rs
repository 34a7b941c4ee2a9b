use crate::interval::{Interval, mean_interval, median_interval};
use crate::pairs::SAME;
use crate::samples::median;
use crate::significance::PValues;
use crate::{Decision, Evidence, Level, Margin, Reason, SampleError};

/// What a gate found, before its name is put to it.
pub struct Finding {
    pub(super) kind: Decision,
    pub(super) reason: Reason,
    pub(super) ratio: Option<f64>,
    pub(super) interval: Option<Interval>,
}

/// Size of an effect as a log-ratio, with its 95 % interval.
pub(super) struct Effect {
    pub(super) log: f64,
    pub(super) interval: Option<Interval>,
}

impl Finding {
    pub(super) fn without_effect(kind: Decision, reason: Reason) -> Self {
        Self { kind, reason, ratio: None, interval: None }
    }

    /// Answer to evidence that the gate does not judge.
    pub(super) fn unsuitable(evidence: &Evidence) -> Self {
        Self::without_effect(Decision::Inconclusive, Reason::Unsuitable(evidence.kind()))
    }

    /// `kind` if the effect agrees with it, else inconclusive.
    ///
    /// A signed-rank test follows the large differences, a median the many: they may
    /// disagree, and a verdict must not say "faster" beside a ratio above 1.
    pub(super) fn new(kind: Decision, effect: &Effect) -> Self {
        let agrees = match kind {
            Decision::Faster => effect.log < 0.0,
            Decision::Slower => effect.log > 0.0,
            Decision::Inconclusive | Decision::Failed => true,
        };
        let kind = if agrees { kind } else { Decision::Inconclusive };
        let reason = if kind == Decision::Inconclusive { Reason::NotMet } else { Reason::Met };
        Self { kind, reason, ratio: Some(effect.log.exp()), interval: effect.interval.map(Interval::exp) }
    }
}

impl Effect {
    /// Median of log-ratios of pairs.
    ///
    /// Below six pairs no order statistics enclose a median at 95 %; Student's t
    /// interval of the mean stands in, which encloses the sample median as well.
    pub(super) fn of_pairs(log_ratios: &[f64]) -> Result<Self, SampleError> {
        let level = Level::FIVE_PERCENT;
        let interval = match median_interval(log_ratios, level)? {
            Some(interval) => Some(interval),
            None => mean_interval(log_ratios, level)?,
        };
        Ok(Self { log: median(log_ratios)?, interval })
    }

    /// Whether the whole interval lies below −margin.
    pub(super) fn beats(&self, margin: Margin) -> bool {
        self.interval.is_some_and(|interval| interval.high < -margin.log() - SAME)
    }

    /// Whether the whole interval lies above +margin.
    pub(super) fn loses_by(&self, margin: Margin) -> bool {
        self.interval.is_some_and(|interval| interval.low > margin.log() + SAME)
    }
}

/// p-values of "lower than −margin" and "higher than +margin", by a test of location about 0.
pub(super) fn beyond(
    log_ratios: &[f64],
    margin: Margin,
    test: impl Fn(&[f64]) -> Result<PValues, SampleError>,
) -> Result<PValues, SampleError> {
    let moved = |by: f64| log_ratios.iter().map(|ratio| ratio + by).collect::<Vec<_>>();
    Ok(PValues { less: test(&moved(margin.log()))?.less, greater: test(&moved(-margin.log()))?.greater })
}

/// Faster or slower where the condition of that side holds.
pub(super) fn decide(faster: bool, slower: bool) -> Decision {
    match (faster, slower) {
        (true, false) => Decision::Faster,
        (false, true) => Decision::Slower,
        _ => Decision::Inconclusive,
    }
}
