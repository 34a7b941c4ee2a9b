use crate::Campaign;

/// What a search has spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Trials that were verified and timed.
    Evaluations,
    /// Seconds since the start.
    Seconds,
}

/// How good the search was after so much.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Convergence {
    /// Every timed trial: spent, 10⁹ operations a second.
    pub trials: Vec<(f64, f64)>,
    /// The incumbent's rate from each move on, and at the end: spent, 10⁹ operations a second.
    pub best: Vec<(f64, f64)>,
}

/// The course of a campaign.
pub fn convergence(campaign: &Campaign, axis: Axis) -> Convergence {
    let spent = |count: usize, at_ns: u64| match axis {
        Axis::Evaluations => count as f64,
        Axis::Seconds => at_ns as f64 / 1e9,
    };
    let timed: Vec<_> = campaign.timed().collect();
    let trials: Vec<(f64, f64)> = timed
        .iter()
        .zip(1..)
        .map(|((trial, median_ns), count)| (spent(count, trial.at_ns), campaign.gflops(*median_ns)))
        .collect();
    let mut best: Vec<(f64, f64)> = campaign
        .moves
        .iter()
        .map(|moved| {
            let count = timed.partition_point(|(trial, _)| trial.index <= moved.trial);
            (spent(count.max(1), moved.at_ns), campaign.gflops(moved.median_ns))
        })
        .collect();
    if let (Some(&(_, rate)), Some(&(end, _))) = (best.last(), trials.last()) {
        best.push((end, rate));
    }
    Convergence { trials, best }
}
