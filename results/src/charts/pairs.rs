use plotters::prelude::*;
use tilewright_journal::{Confirmation, Measurement};
use tilewright_stats::{Evidence, log_ratios, samples};

use super::canvas::{DEFAULT, FAINT, GOOD, INK, MUTED, Mark, WINNER, chart, px, style, thin};
use crate::ReportError;
use crate::format::{tick, time, time_unit};

const MOST_POINTS: usize = 800;

/// Both sides' times, pair by pair.
pub(crate) fn times(confirmation: &Confirmation) -> Option<Result<String, ReportError>> {
    let (default, winner) = sides(&confirmation.evidence)?;
    let all: Vec<f64> = default.iter().chain(winner).copied().collect();
    // Single disturbed launches would flatten everything else; they are counted in the caption instead.
    let low = samples::quantile(&all, 0.0).ok()?;
    let high = 1.15 * samples::quantile(&all, 0.98).ok()?;
    let outside = all.iter().filter(|&&sample| sample > high).count();
    let (unit, unit_name) = time_unit(low);
    let range = 0.95 * low / unit..high / unit;
    let side =
        |name: &str, measurement: &Measurement| format!("{name}, median {}", time(measurement.median_ns));
    let mut legend = vec![
        (Mark::Dot(DEFAULT), side("default", &confirmation.default.measurement)),
        (Mark::Dot(WINNER), side("winner", &confirmation.winner.measurement)),
        (Mark::Band(MUTED), "95 % intervals".to_owned()),
    ];
    if outside > 0 {
        legend.push((Mark::Dot(FAINT), format!("{outside} above the picture")));
    }
    let end = default.len() as f64;
    Some(chart("Confirmation: times of the pairs, in order of measuring", 320, &legend, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_right(px(12))
            .margin_bottom(px(4))
            .x_label_area_size(px(42))
            .y_label_area_size(px(62))
            .build_cartesian_2d(0.0..end, range.clone())?;
        let mut mesh = chart.configure_mesh();
        style(&mut mesh);
        mesh.disable_x_mesh()
            .x_desc("pair")
            .y_desc(format!("time of a launch, {unit_name}"))
            .y_labels(6)
            .x_label_formatter(&|value| tick(*value))
            .y_label_formatter(&|value| tick(*value))
            .draw()?;
        for (series, color, measurement) in [
            (default, DEFAULT, &confirmation.default.measurement),
            (winner, WINNER, &confirmation.winner.measurement),
        ] {
            if let Some(interval) = measurement.interval_ns {
                let corners = [(0.0, interval.low / unit), (end, interval.high / unit)];
                chart.draw_series([Rectangle::new(corners, color.mix(0.2).filled())])?;
            }
            let median = measurement.median_ns / unit;
            chart.draw_series(LineSeries::new(
                [(0.0, median), (end, median)],
                color.stroke_width(px(3) as u32 / 2),
            ))?;
            let points: Vec<(f64, f64)> = series
                .iter()
                .zip(0_u32..)
                .map(|(sample, pair)| (f64::from(pair) + 0.5, sample / unit))
                .collect();
            chart.draw_series(
                thin(&points, MOST_POINTS)
                    .into_iter()
                    .filter(|point| point.1 < range.end)
                    .map(|point| Circle::new(point, px(3), color.mix(0.65).filled())),
            )?;
        }
        Ok(())
    }))
}

/// Winner time over default time, pair by pair, with the interval of the verdict and the margin of its gate.
pub(crate) fn ratios(confirmation: &Confirmation) -> Option<Result<String, ReportError>> {
    let (default, winner) = sides(&confirmation.evidence)?;
    let ratios: Vec<f64> = log_ratios(default, winner).ok()?.into_iter().map(f64::exp).collect();
    let verdict = &confirmation.judgement.verdict;
    let middle = verdict.ratio?;
    let low = samples::quantile(&ratios, 0.01).ok()?.min(1.0) - 0.02;
    let high = samples::quantile(&ratios, 0.99).ok()?.max(1.0 + verdict.margin) + 0.02;
    let mut legend =
        vec![(Mark::Dot(FAINT), "one pair".to_owned()), (Mark::Line(WINNER), format!("median {middle:.3}"))];
    if let (Some(low), Some(high)) = (verdict.low, verdict.high) {
        legend.push((Mark::Band(WINNER), format!("95 % interval {low:.3}–{high:.3}")));
    }
    legend.push((Mark::Dashed(GOOD), format!("a claim must stay below {:.3}", 1.0 / (1.0 + verdict.margin))));
    let end = ratios.len() as f64;
    let points: Vec<(f64, f64)> =
        ratios.iter().zip(0_u32..).map(|(ratio, pair)| (f64::from(pair) + 0.5, *ratio)).collect();
    Some(chart("Confirmation: winner time over default time (below 1: faster)", 260, &legend, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_right(px(12))
            .margin_bottom(px(4))
            .x_label_area_size(px(42))
            .y_label_area_size(px(62))
            .build_cartesian_2d(0.0..end, low..high)?;
        let mut mesh = chart.configure_mesh();
        style(&mut mesh);
        mesh.disable_x_mesh()
            .x_desc("pair")
            .y_desc("ratio of times")
            .y_labels(5)
            .x_label_formatter(&|value| tick(*value))
            .y_label_formatter(&|value| format!("{value:.2}"))
            .draw()?;
        let level = |value: f64| [(0.0, value), (end, value)];
        chart.draw_series(LineSeries::new(level(1.0), INK.stroke_width(px(1) as u32)))?;
        chart.draw_series(DashedLineSeries::new(
            level(1.0 / (1.0 + verdict.margin)),
            px(6),
            px(4),
            GOOD.stroke_width(px(3) as u32 / 2),
        ))?;
        chart.draw_series(
            thin(&points, MOST_POINTS)
                .into_iter()
                .filter(|point| (low..high).contains(&point.1))
                .map(|point| Circle::new(point, px(5) / 2, FAINT.mix(0.7).filled())),
        )?;
        if let (Some(low), Some(high)) = (verdict.low, verdict.high) {
            chart.draw_series([Rectangle::new([(0.0, low), (end, high)], WINNER.mix(0.25).filled())])?;
        }
        chart.draw_series(LineSeries::new(level(middle), WINNER.stroke_width(px(2) as u32)))?;
        Ok(())
    }))
}

/// Times of default and winner, at least one each.
fn sides(evidence: &Evidence) -> Option<(&[f64], &[f64])> {
    evidence.sides().filter(|(incumbent, candidate)| !incumbent.is_empty() && !candidate.is_empty())
}
