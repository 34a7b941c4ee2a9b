//! The report as text.

use std::fmt::Write;

use super::{Cell, Outcome, Report, Row};
use crate::peers::{Role, find};

/// The table of percentages of the ceiling, with `ratios` that of speeds beside the reference, and
/// below them which kernels were chosen and who is missing.
pub fn render(report: &Report, ratios: bool) -> String {
    let mut text = format!(
        "{}, seed {}\nceiling: GFLOP/s; others: % of it; – no such product, . absent, ! see below\n\n",
        report.processor, report.seed
    );
    text.push_str(&grid(report, "", |cell| match &cell.outcome {
        Outcome::Measured { percent_of_ceiling: Some(percent), .. } if !is_ceiling(&cell.contender) => {
            format!("{percent:.1}")
        }
        Outcome::Measured { gflops, .. } => format!("{gflops:.0} G"),
        other => mark(other).to_owned(),
    }));
    if ratios {
        text.push_str("\nspeed beside the reference (median of paired ratios, 95 % interval)\n\n");
        text.push_str(&grid(report, "  ", |cell| match &cell.outcome {
            Outcome::Measured { versus: Some(versus), .. } => {
                let ratio = versus.ratio;
                format!("{:.2} [{:.2} {:.2}]", ratio.estimate, ratio.low, ratio.high)
            }
            Outcome::Measured { .. } => String::new(),
            other => mark(other).to_owned(),
        }));
    }
    text.push_str(&notes(report));
    text
}

fn is_ceiling(contender: &str) -> bool {
    find(contender).is_some_and(|entry| entry.role == Role::Ceiling)
}

fn mark(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Unsupported(_) => "–",
        Outcome::Absent { .. } => ".",
        Outcome::Measured { .. } | Outcome::Wrong(_) | Outcome::Broken(_) => "!",
    }
}

fn grid(report: &Report, gap: &str, show: impl Fn(&Cell) -> String) -> String {
    let Some(first) = report.rows.first() else { return String::new() };
    let mut lines = vec![vec!["shape (m x n x k)".to_owned(), "threads".to_owned()]];
    lines[0].extend(first.cells.iter().map(|cell| cell.contender.clone()));
    lines[0].extend(["best peer".to_owned(), "tilewright / best".to_owned()]);
    for row in &report.rows {
        let mut line = vec![row.shape.short(), row.threads.to_string()];
        line.extend(row.cells.iter().map(&show));
        line.push(row.best_peer.clone().unwrap_or_default());
        line.push(over_best(row));
        lines.push(line);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let padded = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{gap} {cell:>width$}"),
        });
        text.push_str(padded.collect::<String>().trim_end());
        text.push('\n');
    }
    text
}

fn over_best(row: &Row) -> String {
    row.subject_over_best.map_or_else(
        || "–".to_owned(),
        |ratio| format!("{:.3} [{:.3} {:.3}]", ratio.estimate, ratio.low, ratio.high),
    )
}

/// Per contender the kernels that it named, and what went wrong.
fn notes(report: &Report) -> String {
    let mut text = String::from("\nkernels\n");
    let names = report.rows.first().map(|row| row.cells.iter().map(|cell| cell.contender.as_str()));
    for name in names.into_iter().flatten() {
        let mut said: Vec<String> = Vec::new();
        for row in &report.rows {
            let at = format!("{} on {}", row.shape.short(), row.threads);
            let line = match row.cell(name).map(|cell| &cell.outcome) {
                Some(Outcome::Measured { kernel, .. }) => kernel.clone(),
                Some(Outcome::Absent { why, remedy }) => format!("absent: {why}; {remedy}"),
                Some(Outcome::Unsupported(why)) => format!("– {why}"),
                Some(Outcome::Wrong(why)) => format!("! wrong result, {at}: {why}"),
                Some(Outcome::Broken(why)) => format!("! broken, {at}: {why}"),
                None => continue,
            };
            if !said.contains(&line) {
                said.push(line);
            }
        }
        for (index, line) in said.iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            // Writing to a text cannot fail.
            let _ = writeln!(text, "  {name:<14} {line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Interval;

    #[test]
    fn the_table_shows_percentages_marks_and_the_final_ratio() {
        let measured = Outcome::Measured {
            kernel: "zen".to_owned(),
            launches: 1,
            seconds: vec![1.0],
            median: 1.0,
            gflops: 50.0,
            percent_of_ceiling: Some(51.25),
            versus: None,
        };
        let absent = Outcome::Absent { why: "not there".to_owned(), remedy: "install it".to_owned() };
        let cell =
            |name: &str, outcome: &Outcome| Cell { contender: name.to_owned(), outcome: outcome.clone() };
        let shape = "matmul:m=2,n=3,k=4".parse().unwrap();
        let row = Row {
            shape,
            workload: shape.to_string(),
            threads: 2,
            rounds: 1,
            cells: vec![cell("one", &measured), cell("two", &absent)],
            best_peer: Some("one".to_owned()),
            subject_over_best: Some(Interval { estimate: 1.25, low: 1.2, high: 1.3 }),
        };
        let text = render(&Report { processor: "p".to_owned(), seed: 1, rows: vec![row] }, true);
        for part in ["2x3x4 nn", "51.2", "1.250 [1.200 1.300]", "absent: not there; install it", "zen"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}
