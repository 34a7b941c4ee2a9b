//! Charts of scores: performance over time for each space, and a map of strategy by space.

use std::path::Path;

use anyhow::{Context, Result};
use tilewright_results::{ScoreCourse, ScoreCurve, ScoreMap};
use tilewright_search::score::{ScoreReport, StrategyScore};

/// Writes all charts into a folder, and gives their files.
pub(super) fn write(folder: &Path, report: &ScoreReport) -> Result<Vec<String>> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut ranked: Vec<&StrategyScore> = report.strategies.iter().collect();
    ranked.sort_by(|first, second| second.aggregate.score.total_cmp(&first.aggregate.score));
    let spaces: Vec<&str> = report
        .strategies
        .first()
        .map_or(Vec::new(), |of| of.spaces.iter().map(|space| &*space.space).collect());
    let mut files = Vec::new();
    let mut add = |name: &str, svg: String| -> Result<()> {
        let file = folder.join(format!("{name}.svg"));
        std::fs::write(&file, svg).with_context(|| format!("cannot write {}", file.display()))?;
        files.push(file.display().to_string());
        Ok(())
    };
    let map = ScoreMap {
        strategies: ranked.iter().map(|of| of.strategy.clone()).collect(),
        spaces: spaces.iter().map(|&space| space.to_owned()).collect(),
        scores: ranked
            .iter()
            .map(|of| of.spaces.iter().map(|space| space.estimate.score).collect())
            .collect(),
    };
    add("score-map", map.draw()?)?;
    for (at, space) in spaces.iter().enumerate() {
        let curves = ranked.iter().map(|of| {
            let course = &of.spaces[at].course;
            ScoreCurve {
                name: of.strategy.clone(),
                mean: course.mean.clone(),
                low: course.low.clone(),
                high: course.high.clone(),
            }
        });
        let seconds = ranked.first().map_or(Vec::new(), |of| of.spaces[at].course.seconds.clone());
        let course = ScoreCourse { space: (*space).to_owned(), seconds, curves: curves.collect() };
        add(&format!("performance-{space}"), course.draw()?)?;
    }
    Ok(files)
}
