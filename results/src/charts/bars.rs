use std::collections::BTreeMap;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::canvas::{Area, BAD, Drawn, FAINT, GOOD, INK, MUTED, WINNER, anchored, chart, px};
use crate::format::{count, percent};
use crate::{Importance, ReportError};

/// Parameters beyond these explain next to nothing.
const MOST_PARAMETERS: usize = 16;

struct Bar {
    label: String,
    /// Length as a share of the longest.
    share: f64,
    note: String,
    color: RGBColor,
}

/// How the candidates ended.
pub(crate) fn outcomes(outcomes: &BTreeMap<&'static str, u64>) -> Result<String, ReportError> {
    let total: u64 = outcomes.values().sum();
    let most = outcomes.values().copied().max().unwrap_or(1).max(1);
    let mut sorted: Vec<(&str, u64)> = outcomes.iter().map(|(&kind, &number)| (kind, number)).collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let bars: Vec<Bar> = sorted
        .into_iter()
        .map(|(kind, number)| Bar {
            label: kind.replace('_', " "),
            share: number as f64 / most as f64,
            note: format!("{} ({})", count(number), percent(number as f64 / total as f64)),
            color: match kind {
                "ok" => GOOD,
                "illegal" | "duplicate" | "simulated" => FAINT,
                _ => BAD,
            },
        })
        .collect();
    let title = format!("How {} candidates ended", count(total));
    chart(&title, 44 + 26 * bars.len() as i32, &[], |area| draw(area, &bars))
}

/// What the parameters explain.
pub(crate) fn importance(ranking: &[Importance]) -> Result<String, ReportError> {
    let shown = &ranking[..ranking.len().min(MOST_PARAMETERS)];
    let most = shown.first().map_or(1.0, |first| first.share).max(f64::MIN_POSITIVE);
    let bars: Vec<Bar> = shown
        .iter()
        .map(|found| Bar {
            label: found.parameter.clone(),
            share: found.share / most,
            note: format!("{} · best {}, worst ×{:.2}", percent(found.share), found.best, found.spread),
            color: WINNER,
        })
        .collect();
    let title = "Share of the variance of log time that a parameter explains alone (ε²)";
    chart(title, 44 + 26 * bars.len() as i32, &[], |area| draw(area, &bars))
}

fn draw(area: &Area<'_>, bars: &[Bar]) -> Drawn {
    let (left, longest) = (px(130), px(330));
    for (bar, row) in bars.iter().zip(0..) {
        let middle = px(6 + 26 * row + 9);
        let end = left + ((f64::from(longest) * bar.share) as i32).max(px(2));
        area.draw(&Text::new(bar.label.clone(), (left - px(10), middle), anchored(12, INK, HPos::Right)))?;
        area.draw(&Rectangle::new(
            [(left, middle - px(8)), (end, middle + px(8))],
            bar.color.mix(0.85).filled(),
        ))?;
        area.draw(&Text::new(bar.note.clone(), (end + px(8), middle), anchored(12, MUTED, HPos::Left)))?;
    }
    Ok(())
}
