//! How the strategies of a matrix compare.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tilewright_results::{Comparison, Estimate, MatrixResults, QUALITIES, comparison_report};

use super::arguments::CampaignCompare;
use super::folder::Folder;
use crate::{Ending, UsageError, output};

/// What is printed as JSON.
#[derive(Serialize)]
struct Printed<'a> {
    version: u32,
    folder: &'a Path,
    #[serde(flatten)]
    comparison: &'a Comparison,
    page: &'a Path,
    charts: &'a [PathBuf],
}

/// Runs the command.
pub(super) fn compare(arguments: &CampaignCompare) -> Result<Ending> {
    let mut folder = Folder::open(&arguments.folder)?;
    if let Some(baseline) = &arguments.baseline {
        if !folder.matrix.strategies.contains(baseline) {
            let known = folder.matrix.strategies.join(", ");
            bail!(UsageError(format!("--baseline {baseline}: not in this campaign; there are: {known}")));
        }
        folder.matrix.baseline = Some(baseline.clone());
    }
    let results = MatrixResults::read(&folder.path, folder.matrix)?;
    let comparison = results.compare();
    let out = arguments.out.as_ref().unwrap_or(&folder.path);
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let written = comparison_report(&results, &comparison, out)?;
    if arguments.json {
        output::json(&Printed {
            version: 1,
            folder: &folder.path,
            comparison: &comparison,
            page: &written.page,
            charts: &written.charts,
        })?;
    } else {
        output::result(&format!("{}{}\n", text(&comparison), written.page.display()))?;
    }
    Ok(if comparison.blocks == 0 { Ending::NothingValid } else { Ending::Done })
}

fn text(comparison: &Comparison) -> String {
    let interval = |found: Option<Estimate>| {
        found.map_or("–".to_owned(), |Estimate { mean, low, high }| {
            format!("{mean:.3} [{low:.3}, {high:.3}]")
        })
    };
    let names = comparison.strategies.iter().map(|summary| summary.strategy.len());
    let width = names.max().unwrap_or(0).max("strategy".len());
    let near = QUALITIES[1];
    let mut text = format!(
        "{:width$}  {:>5}  {:>20}  {:>20}  {:>18}\n",
        "strategy",
        "rank",
        "quality",
        format!("time / {}", comparison.baseline),
        format!("evaluations to {:.0} %", near * 100.0)
    );
    for summary in &comparison.strategies {
        let rank = summary.mean_rank.map_or("–".to_owned(), |rank| format!("{rank:.2}"));
        let to = summary.time_to_quality.iter().find(|to| to.quality == near);
        let to = to.map_or(String::new(), |to| {
            let count = to.evaluations.map_or("–".to_owned(), |count| format!("{count:.0}"));
            format!("{count} ({:.0} %)", 100.0 * to.reached)
        });
        let (quality, ratio) = (interval(summary.quality), interval(summary.ratio));
        text.push_str(&format!(
            "{:width$}  {rank:>5}  {quality:>20}  {ratio:>20}  {to:>18}\n",
            summary.strategy
        ));
    }
    text.push('\n');
    if let Some(ranking) = &comparison.ranking {
        let differ = if ranking.p_value < 0.05 { "differ" } else { "are not shown to differ" };
        text.push_str(&format!(
            "The strategies {differ}: Friedman χ² {:.2}, p = {:.4}; two mean ranks differ at 5 % from {:.2} apart.\n",
            ranking.statistic, ranking.p_value, ranking.critical_difference
        ));
    }
    text.push_str(&format!(
        "{} problems × seeds compared; {} cells have not ended. Quality: best known time over time found; means with 95 % intervals.\n",
        comparison.blocks, comparison.open
    ));
    text
}
