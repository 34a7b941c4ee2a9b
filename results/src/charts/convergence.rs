use plotters::prelude::*;

use super::canvas::{CEILING, FAINT, INK, MUTED, Mark, WINNER, chart, px, round_up, style, text, thin};
use crate::format::{number, tick};
use crate::{Axis, Bound, Convergence, ReportError};

/// Points of trials beyond which a chart only gets heavier.
const MOST_POINTS: usize = 1500;

/// The incumbent's rate over what was spent, with every trial faintly behind it.
pub(crate) fn draw(course: &Convergence, axis: Axis, bound: &Bound) -> Result<String, ReportError> {
    let (title, unit) = match axis {
        Axis::Evaluations => ("Best so far, by evaluations", "evaluations (logarithmic)"),
        Axis::Seconds => ("Best so far, by time", "time since the start, s"),
    };
    let fastest = course.trials.iter().chain(&course.best).map(|point| point.1).fold(0.0, f64::max);
    let top = round_up(fastest.max(bound.gflops) * 1.04);
    let end = course.trials.iter().chain(&course.best).map(|point| point.0).fold(0.0, f64::max);
    let legend = [
        (Mark::Line(WINNER), "incumbent of the search".to_owned()),
        (Mark::Dot(FAINT), "measured trials".to_owned()),
        (Mark::Dashed(CEILING), format!("ceiling ({}), {} GFLOP/s", bound.title(), number(bound.gflops))),
    ];
    let steps = staircase(&course.best);
    let trials = thin(&course.trials, MOST_POINTS);
    let percent = top / bound.gflops * 100.0;
    // The two kinds of axis are different types, so the plot is written once for either.
    macro_rules! plot {
        ($area:expr, $range:expr, $start:expr) => {{
            let mut chart = ChartBuilder::on($area)
                .margin_right(px(4))
                .margin_bottom(px(4))
                .x_label_area_size(px(42))
                .y_label_area_size(px(56))
                .right_y_label_area_size(px(52))
                .build_cartesian_2d($range, 0.0..top)?
                .set_secondary_coord($range, 0.0..percent);
            let mut mesh = chart.configure_mesh();
            style(&mut mesh);
            mesh.disable_x_mesh()
                .x_desc(unit)
                .y_desc("GFLOP/s")
                .x_labels(8)
                .y_labels(6)
                .x_label_formatter(&|value| tick(*value))
                .y_label_formatter(&|value| tick(*value))
                .draw()?;
            chart
                .configure_secondary_axes()
                .axis_style(FAINT)
                .label_style(text(11, MUTED))
                .axis_desc_style(text(12, INK))
                .y_desc("% of the ceiling")
                .y_labels(6)
                .y_label_formatter(&|value| format!("{value:.0}"))
                .draw()?;
            chart.draw_series(
                trials.iter().map(|&point| Circle::new(point, px(2), FAINT.mix(0.35).filled())),
            )?;
            chart.draw_series(DashedLineSeries::new(
                [($start, bound.gflops), (end, bound.gflops)],
                px(7),
                px(4),
                CEILING.stroke_width(px(2) as u32),
            ))?;
            chart
                .draw_series(LineSeries::new(steps.iter().copied(), WINNER.stroke_width(px(5) as u32 / 2)))?;
            chart.draw_series(
                course
                    .best
                    .iter()
                    .take(course.best.len().saturating_sub(1))
                    .map(|&point| Circle::new(point, px(3), WINNER.filled())),
            )?;
            Ok(())
        }};
    }
    chart(title, 340, &legend, |area| match axis {
        Axis::Evaluations => {
            let end = end.max(10.0);
            plot!(area, (1.0..end).log_scale(), 1.0)
        }
        Axis::Seconds => {
            let end = if end > 0.0 { end } else { 1.0 };
            plot!(area, 0.0..end, 0.0)
        }
    })
}

/// The incumbent's rate holds until the next move.
fn staircase(best: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut steps = Vec::with_capacity(2 * best.len());
    for (place, &(spent, rate)) in best.iter().enumerate() {
        if place > 0 {
            steps.push((spent, best[place - 1].1));
        }
        steps.push((spent, rate));
    }
    steps
}
