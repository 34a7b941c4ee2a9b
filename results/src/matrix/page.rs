//! One self-contained page and the charts in it as files.

use std::fs;
use std::path::{Path, PathBuf};

use super::compare::Block;
use super::{Comparison, Course, MatrixResults, ProblemSummary, QUALITIES, StrategySummary, curves};
use crate::ReportError;
use crate::charts::{Chart, bars, intervals, parallel, ranks};
use crate::format::{count, escape, number, percent, time};
use crate::importance::importance_of;
use crate::page::STYLE;
use crate::page::markup::{details, paragraph, table};

/// Quality whose profile is drawn.
const DRAWN_QUALITY: f64 = QUALITIES[1];
/// Problems that get charts of their own: a page with more is not read.
const MOST_PROBLEMS: usize = 12;
/// Parameters with an axis in parallel coordinates.
const MOST_AXES: usize = 9;
/// Kernels in parallel coordinates.
const MOST_KERNELS: usize = 600;
/// Rows of a Pareto front that are shown.
const MOST_ROWS: usize = 24;

/// What [`comparison_report`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparisonReport {
    /// The page.
    pub page: PathBuf,
    /// The charts in it, each as a file.
    pub charts: Vec<PathBuf>,
}

/// Writes `compare.html` and `compare/*.svg` into a folder. The same results give the same bytes; the page needs no
/// script and no other file.
///
/// # Errors
/// When a chart cannot be drawn or a file cannot be written.
pub fn comparison_report(
    results: &MatrixResults,
    comparison: &Comparison,
    folder: &Path,
) -> Result<ComparisonReport, ReportError> {
    let (body, charts) = page(results, comparison)?;
    let place = folder.join("compare");
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| ReportError::Io { path, error }
    };
    fs::create_dir_all(&place).map_err(io(&place))?;
    let mut written = Vec::new();
    for chart in &charts {
        let path = place.join(format!("{}.svg", chart.name));
        fs::write(&path, &chart.svg).map_err(io(&path))?;
        written.push(path);
    }
    let path = folder.join("compare.html");
    fs::write(&path, body).map_err(io(&path))?;
    Ok(ComparisonReport { page: path, charts: written })
}

/// A page under construction: its text, and the charts that were put into it.
#[derive(Default)]
struct Page {
    body: String,
    charts: Vec<Chart>,
}

impl Page {
    fn heading(&mut self, title: &str) {
        self.body.push_str(&format!("<h2>{}</h2>\n", escape(title)));
    }

    fn figure(&mut self, name: &str, svg: String, caption: &str) {
        let chart = Chart { name: name.to_owned(), svg };
        let caption = escape(caption);
        self.body
            .push_str(&format!("<figure>{}<figcaption>{caption}</figcaption></figure>\n", chart.inline()));
        self.charts.push(chart);
    }
}

fn page(results: &MatrixResults, comparison: &Comparison) -> Result<(String, Vec<Chart>), ReportError> {
    let blocks = results.blocks();
    let mut page = Page::default();
    page.body.push_str(&opening(results, comparison));
    page.body.push_str(&strategies(comparison));
    strategy_charts(&mut page, comparison)?;
    if !blocks.is_empty() {
        page.heading("Over the course of the search");
        course_charts(&mut page, results, &blocks)?;
    }
    for strategy in &results.matrix.strategies {
        let Some([chosen, faster]) = curves::operators(results, strategy) else { continue };
        page.heading(&format!("Operators of {strategy}"));
        let caption = "Candidates that a mutation operator made, in tenths of the search, all cells together; what a bandit learns shows as lines that part.";
        page.figure(&format!("operators-chosen-{strategy}"), chosen.draw()?, caption);
        let caption = "Share of an operator's candidates that the gate judged faster than the incumbent: it falls as the search gets on.";
        page.figure(&format!("operators-faster-{strategy}"), faster.draw()?, caption);
    }
    for (at, problem) in comparison.problems.iter().enumerate().take(MOST_PROBLEMS) {
        page.heading(&problem.problem);
        let of_problem: Vec<&Course> =
            results.courses.iter().filter(|course| course.problem == problem.problem).collect();
        let mut own = results.blocks();
        own.retain(|block| block.problem == problem.problem);
        problem_section(&mut page, &(at + 1).to_string(), problem, &of_problem, results, &own)?;
    }
    if comparison.problems.len() > MOST_PROBLEMS {
        let left = comparison.problems.len() - MOST_PROBLEMS;
        page.body
            .push_str(&paragraph(&format!("{left} more problems are in the numbers above, without charts.")));
    }
    let Page { body, charts } = page;
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>Tilewright: strategies compared</title>\
         <style>{STYLE}</style></head>\n<body><main>\n{body}\
         <footer>Made from the cells' journals alone; method in docs/campaigns.md.</footer></main></body></html>\n"
    );
    Ok((html, charts))
}

fn opening(results: &MatrixResults, comparison: &Comparison) -> String {
    let matrix = &results.matrix;
    let verdict = match &comparison.ranking {
        None => "Too little has ended to compare strategies: it takes two of them with a cell of the same problem and seed.".to_owned(),
        Some(ranking) if ranking.p_value < 0.05 => format!(
            "The strategies differ (Friedman χ² {}, p = {}): {} has the best mean rank, {}.",
            number(ranking.statistic),
            number(ranking.p_value),
            comparison.strategies[0].strategy,
            comparison.strategies[0].mean_rank.map_or_else(String::new, number),
        ),
        Some(ranking) => format!(
            "No difference between the strategies is established (Friedman χ² {}, p = {}).",
            number(ranking.statistic),
            number(ranking.p_value)
        ),
    };
    let good = comparison.ranking.as_ref().is_some_and(|ranking| ranking.p_value < 0.05);
    let open = match comparison.open {
        0 => String::new(),
        open => format!(
            "<p class=\"note bad\">{open} cells have not ended; the problems and seeds that they belong to are compared for no strategy.</p>"
        ),
    };
    format!(
        "<p class=\"brand\">Tilewright</p><h1>Strategies compared</h1>\
         <p class=\"where\">{} strategies, {} problems, {} seeds; {} of {} problems × seeds complete</p>\
         <p class=\"verdict{}\">{}</p>{open}\n",
        matrix.strategies.len(),
        comparison.problems.len(),
        matrix.seeds.len(),
        comparison.blocks,
        comparison.problems.len() * matrix.seeds.len(),
        if good { " good" } else { "" },
        escape(&verdict),
    )
}

fn strategies(comparison: &Comparison) -> String {
    let estimate = |estimate: Option<super::Estimate>| {
        estimate.map_or("–".to_owned(), |found| {
            format!("{:.3} [{:.3}, {:.3}]", found.mean, found.low, found.high)
        })
    };
    let row = |summary: &StrategySummary| {
        let mut row = vec![
            summary.strategy.clone(),
            summary.mean_rank.map_or("–".to_owned(), |rank| format!("{rank:.2}")),
            estimate(summary.quality),
            estimate(summary.area),
            estimate(summary.ratio),
        ];
        row.extend(summary.time_to_quality.iter().map(|to| {
            let evaluations = to.evaluations.map_or("–".to_owned(), |count| format!("{count:.0}"));
            format!("{evaluations} ({})", percent(to.reached))
        }));
        row
    };
    let ratio = format!("time / {}", comparison.baseline);
    let qualities = QUALITIES.map(|quality| format!("evaluations to {:.0} %", quality * 100.0));
    let mut head = vec!["strategy", "mean rank", "quality at the end", "mean quality", &ratio];
    head.extend(qualities.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = comparison.strategies.iter().map(row).collect();
    let text = "Quality is the best known time over the time found: 1 for the best known. Intervals are 95 % bootstrap \
                intervals over seeds, paired where two strategies are compared. Evaluations to a quality: median, and \
                in how many cells it was reached.";
    table(&head, &rows) + &paragraph(text)
}

fn strategy_charts(page: &mut Page, comparison: &Comparison) -> Result<(), ReportError> {
    if let Some(ranking) = &comparison.ranking {
        let ranked: Vec<(&str, f64)> = comparison
            .strategies
            .iter()
            .filter_map(|summary| Some((&*summary.strategy, summary.mean_rank?)))
            .collect();
        let caption = "Ranks of the times found, over problems and seeds. Bars by Nemenyi's critical difference (Demšar 2006).";
        page.figure("ranks", ranks::draw(&ranked, ranking.critical_difference)?, caption);
    }
    let rows = |of: fn(&StrategySummary) -> Option<super::Estimate>| -> Vec<intervals::Row> {
        let row = |summary: &StrategySummary| {
            let super::Estimate { mean, low, high } = of(summary)?;
            Some(intervals::Row { name: summary.strategy.clone(), middle: mean, low, high })
        };
        comparison.strategies.iter().filter_map(row).collect()
    };
    let quality = rows(|summary| summary.quality);
    if !quality.is_empty() {
        let svg = intervals::draw("Quality at the end, mean and 95 % interval", "quality", &quality, 1.0)?;
        page.figure("quality", svg, "Each problem counts alike; the interval is over seeds.");
    }
    let ratio = rows(|summary| summary.ratio);
    if !ratio.is_empty() {
        let title =
            format!("Time found over that of {}, geometric mean and 95 % interval", comparison.baseline);
        let svg = intervals::draw(&title, "ratio of times (below 1: faster kernels)", &ratio, 1.0)?;
        page.figure("ratio", svg, "Paired: the same problem and seed.");
    }
    Ok(())
}

fn course_charts(page: &mut Page, results: &MatrixResults, blocks: &[Block<'_>]) -> Result<(), ReportError> {
    let title = "Convergence: quality after so many evaluations, mean and 95 % interval";
    let convergence = curves::convergence(results, blocks, title);
    page.figure("convergence", convergence.draw()?, "A cell that ended early stays where it ended.");
    let regret = curves::regret(&convergence).draw()?;
    page.figure("regret", regret, "The same, seen from the best known.");
    let reached = curves::reached(results, blocks, DRAWN_QUALITY).draw()?;
    page.figure("time-to-quality", reached, "How many cells had come so near after so many evaluations.");
    Ok(())
}

fn problem_section(
    page: &mut Page,
    name: &str,
    problem: &ProblemSummary,
    courses: &[&Course],
    results: &MatrixResults,
    blocks: &[Block<'_>],
) -> Result<(), ReportError> {
    let best = problem.best_ns.map_or("nothing valid".to_owned(), time);
    page.body.push_str(&paragraph(&format!(
        "Best known {best}; {} cells ended, {} seeds complete.",
        problem.cells, problem.blocks
    )));
    if !blocks.is_empty() {
        let title = "Convergence on this problem, mean and 95 % interval";
        let svg = curves::convergence(results, blocks, title).draw()?;
        page.figure(&format!("convergence-{name}"), svg, &problem.problem);
    }
    let sampled: Vec<_> = courses.iter().flat_map(|course| &course.sampled).collect();
    let logs: Vec<_> = sampled.iter().map(|sample| (&sample.parameters, sample.time_ns.ln())).collect();
    let ranking = importance_of(&logs);
    if let (false, Some(best_ns)) = (ranking.is_empty(), problem.best_ns) {
        let caption = format!("From {} valid candidates of all strategies.", count(sampled.len() as u64));
        page.figure(&format!("importance-{name}"), bars::importance(&ranking)?, &caption);
        let axes: Vec<String> = ranking.iter().take(MOST_AXES).map(|found| found.parameter.clone()).collect();
        let kernels: Vec<parallel::Kernel<'_>> = crate::charts::thin(&sampled, MOST_KERNELS)
            .into_iter()
            .map(|sample| (&sample.parameters, best_ns / sample.time_ns))
            .collect();
        let title = "Schedules of the candidates, the most important parameters first";
        let caption = "One line a candidate; the values of a parameter in order, evenly spread.";
        page.figure(&format!("parallel-{name}"), parallel::draw(title, &axes, &kernels)?, caption);
    }
    if results.matrix.objectives.len() > 1 {
        page.body.push_str(&front(problem));
    }
    Ok(())
}

/// Kernels that no other beats in every objective.
fn front(problem: &ProblemSummary) -> String {
    if problem.front.is_empty() {
        let names = problem.objectives.join(", ");
        return paragraph(&format!(
            "No candidate has all of the objectives {names} measured, so there is no Pareto front."
        ));
    }
    let mut head = problem.objectives.clone();
    head.extend(["strategy", "seed", "trial", "schedule"]);
    let row = |kernel: &super::Front| {
        let mut row: Vec<String> = problem
            .objectives
            .iter()
            .zip(&kernel.values)
            .map(|(objective, value)| match *objective {
                "workspace" => crate::format::bytes(*value as u64),
                _ => time(*value),
            })
            .collect();
        row.extend([
            kernel.strategy.clone(),
            kernel.seed.to_string(),
            kernel.trial.to_string(),
            kernel.schedule.clone(),
        ]);
        row
    };
    let rows: Vec<Vec<String>> = problem.front.iter().take(MOST_ROWS).map(row).collect();
    let title =
        format!("Pareto front: {} kernels that no other beats in every objective", problem.front.len());
    details(&title, &table(&head, &rows))
}
