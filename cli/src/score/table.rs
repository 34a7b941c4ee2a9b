//! Scores as tables: for people one line a strategy, the best first; for other tools one row a run.

use tilewright_results::Table;
use tilewright_search::score::{ScoreReport, ScoredSpace, StrategyScore};

/// The whole result.
pub(super) fn text(report: &ScoreReport, spaces: &[ScoredSpace]) -> String {
    let mut text = format!(
        "Score: 0 is random search, 1 the optimum from the first moment; mean of {} runs [95 % interval].\n\n",
        report.settings.runs
    );
    let mut ranked: Vec<&StrategyScore> = report.strategies.iter().collect();
    ranked.sort_by(|first, second| second.aggregate.score.total_cmp(&first.aggregate.score));
    let width = ranked.iter().map(|of| of.strategy.chars().count()).max().unwrap_or(0).max("strategy".len());
    text.push_str(&format!("{:width$}  {:>22}", "strategy", "all spaces"));
    for number in 1..=spaces.len() {
        text.push_str(&format!("  {:>6}", format!("({number})")));
    }
    text.push('\n');
    for of in ranked {
        let estimate = of.aggregate;
        let interval = format!("{:.3} [{:.3}, {:.3}]", estimate.score, estimate.low, estimate.high);
        text.push_str(&format!("{:width$}  {interval:>22}", of.strategy));
        for space in &of.spaces {
            text.push_str(&format!("  {:>6.2}", space.estimate.score));
        }
        text.push('\n');
    }
    text.push('\n');
    let evaluations = |at: usize| {
        let random = report.strategies.iter().find(|of| of.strategy == super::YARDSTICK);
        random.and_then(|of| of.spaces.get(at)).map_or(0.0, |space| space.evaluations)
    };
    for (at, space) in spaces.iter().enumerate() {
        let recorded = space.recorded();
        text.push_str(&format!(
            "({}) {}: {} on {}, {} configurations, about {:.0} evaluations in {:.0} s\n",
            at + 1,
            space.name(),
            recorded.kernel(),
            recorded.device(),
            recorded.configurations().len(),
            evaluations(at),
            space.window().budget_seconds,
        ));
    }
    text
}

/// One row for each run of each strategy on each space.
pub(super) fn of_runs(report: &ScoreReport) -> Table {
    let spaces = || report.strategies.iter().flat_map(|of| of.spaces.iter().map(move |space| (of, space)));
    let runs =
        || spaces().flat_map(|(of, space)| space.scores.iter().zip(0..).map(move |run| (of, space, run)));
    Table::default()
        .texts("strategy", runs().map(|(of, ..)| Some(of.strategy.clone())))
        .texts("space", runs().map(|(_, space, _)| Some(space.space.clone())))
        .counts("run", runs().map(|(.., (_, run))| Some(run)))
        .numbers("score", runs().map(|(.., (&score, _))| Some(score)))
}
