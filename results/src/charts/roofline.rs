use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{CEILING, DEFAULT, FAINT, INK, MUTED, Mark, PAPER, WINNER, chart, px, style, text, thin};
use crate::format::{number, tick};
use crate::roofline::COMPUTE;
use crate::{Bound, Campaign, ReportError, Summary};

const MOST_POINTS: usize = 600;

/// Roofs of the device, with the default, the winner and every timed trial beneath them.
///
/// All kernels of a workload have the same compulsory traffic, hence the same place on the x axis; trials are
/// spread a little round it so that they can be seen.
pub(crate) fn draw(campaign: &Campaign, bound: &Bound) -> Result<String, ReportError> {
    let ceilings = campaign.current_ceilings();
    let summary = Summary::of(campaign);
    let rates: Vec<f64> = campaign.timed().map(|(_, median_ns)| campaign.gflops(median_ns)).collect();
    let fastest_byte = ceilings.bandwidths.iter().map(|level| level.gbps).fold(1.0, f64::max);
    let slowest_byte = ceilings.bandwidths.iter().map(|level| level.gbps).fold(fastest_byte, f64::min);
    let ridge = (ceilings.gflops / slowest_byte).max(f64::MIN_POSITIVE);
    let (left, right) =
        ((ceilings.gflops / fastest_byte / 8.0).min(bound.intensity / 4.0), ridge.max(bound.intensity) * 4.0);
    let lowest = rates.iter().copied().filter(|rate| *rate > 0.0).fold(ceilings.gflops / 50.0, f64::min);
    let (bottom, top) = ((lowest / 1.5).max(ceilings.gflops / 1e4), ceilings.gflops * 2.2);
    let mut legend = vec![
        (Mark::Line(CEILING), "what binds".to_owned()),
        (Mark::Line(FAINT), "other roofs".to_owned()),
        (Mark::Dot(FAINT), "measured trials".to_owned()),
    ];
    if let Some(default) = &summary.default {
        legend.push((Mark::Dot(DEFAULT), format!("default, {}", number(default.gflops))));
    }
    if let Some(winner) = &summary.winner {
        legend.push((Mark::Dot(WINNER), format!("winner, {} GFLOP/s", number(winner.gflops))));
    }
    chart("Roofline", 400, &legend, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_right(px(12))
            .margin_bottom(px(4))
            .x_label_area_size(px(42))
            .y_label_area_size(px(62))
            .build_cartesian_2d((left..right).log_scale(), (bottom..top).log_scale())?;
        let mut mesh = chart.configure_mesh();
        style(&mut mesh);
        mesh.x_desc("operations for each compulsory byte (logarithmic)")
            .y_desc("GFLOP/s (logarithmic)")
            .x_label_formatter(&|value| tick(*value))
            .y_label_formatter(&|value| tick(*value))
            .draw()?;
        let plain =
            |color: RGBColor, binds: bool| color.stroke_width(px(if binds { 5 } else { 2 }) as u32 / 2);
        let rising = |name: &str| bound.level.as_ref().is_some_and(|level| level.level == name);
        for (level, place) in ceilings.bandwidths.iter().zip(0_u32..) {
            let meets = ceilings.gflops / level.gbps;
            let start = left.max(bottom / level.gbps);
            let binds = bound.name == level.level;
            let color = if binds { CEILING } else { FAINT };
            chart.draw_series(LineSeries::new(
                [(start, start * level.gbps), (meets, ceilings.gflops)],
                plain(color, binds),
            ))?;
            // Each further up its line than the one before, since lines of like bandwidth nearly coincide.
            let along = 0.1 + 0.17 * f64::from(place % 5);
            let x = start * (meets / start).powf(along);
            let label = format!("{} {} GB/s", level.level, number(level.gbps));
            let ink = if rising(&level.level) { INK } else { MUTED };
            let width = (label.chars().count() as f64 * f64::from(px(11)) * 0.56) as i32;
            let back = Rectangle::new([(px(7), px(1)), (px(11) + width, px(16))], PAPER.mix(0.85).filled());
            let style = text(11, ink).pos(Pos::new(HPos::Left, VPos::Top));
            chart.draw_series([EmptyElement::at((x, x * level.gbps))
                + back
                + Text::new(label, (px(9), px(3)), style)])?;
        }
        let binds = bound.name == COMPUTE;
        let flat_from = ceilings.gflops / fastest_byte;
        chart.draw_series(LineSeries::new(
            [(flat_from, ceilings.gflops), (right, ceilings.gflops)],
            plain(if binds { CEILING } else { FAINT }, binds),
        ))?;
        let style = text(11, INK).pos(Pos::new(HPos::Right, VPos::Bottom));
        let label = format!("arithmetic, {} GFLOP/s", number(ceilings.gflops));
        chart.draw_series([
            EmptyElement::at((right, ceilings.gflops)) + Text::new(label, (-px(4), -px(5)), style)
        ])?;
        chart.draw_series(
            thin(&rates, MOST_POINTS).into_iter().zip(0_u32..).filter(|(rate, _)| *rate > bottom).map(
                |(rate, place)| {
                    // Golden-ratio steps spread evenly without a random number.
                    let spread = (f64::from(place) * 0.618_033_988_75).fract() - 0.5;
                    let x = bound.intensity * (right / left).powf(0.02 * spread);
                    Circle::new((x, rate), px(2), FAINT.mix(0.4).filled())
                },
            ),
        )?;
        for (kernel, color) in [(&summary.default, DEFAULT), (&summary.winner, WINNER)] {
            if let Some(kernel) = kernel {
                let at = (bound.intensity, kernel.gflops.max(bottom));
                chart.draw_series([Circle::new(at, px(7), PAPER.filled())])?;
                chart.draw_series([Circle::new(at, px(11) / 2, color.filled())])?;
            }
        }
        Ok(())
    })
}
