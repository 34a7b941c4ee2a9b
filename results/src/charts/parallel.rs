//! Parallel coordinates: one axis a parameter, one line a kernel (Inselberg 1985).

use std::collections::BTreeMap;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use tilewright_ir::ScheduleValue;

use super::canvas::{BAD, FAINT, INK, MUTED, Mark, WINNER, anchored, chart, px};
use crate::ReportError;

/// A kernel: its parameters, and its quality from 0 to 1.
pub(crate) type Kernel<'a> = (&'a BTreeMap<String, ScheduleValue>, f64);

/// Values of an axis that are named; of more only the ends.
const MOST_NAMED: usize = 9;
/// Quality from which on a kernel is drawn as a good one.
const GOOD: f64 = 0.95;

/// Draws kernels over these parameters, the good ones on top.
pub(crate) fn draw(
    title: &str,
    parameters: &[String],
    kernels: &[Kernel<'_>],
) -> Result<String, ReportError> {
    let axes: Vec<Vec<Option<&ScheduleValue>>> = parameters
        .iter()
        .map(|name| {
            let mut values: Vec<_> = kernels.iter().map(|(parameters, _)| parameters.get(name)).collect();
            values.sort_unstable();
            values.dedup();
            values
        })
        .collect();
    let (top, bottom) = (px(16), px(236));
    let x = |at: usize| px(60) + (px(640) * at as i32) / (parameters.len().max(2) - 1) as i32;
    let y = |axis: &[Option<&ScheduleValue>], value: Option<&ScheduleValue>| {
        let at = axis.iter().position(|known| *known == value).unwrap_or(0);
        let share = if axis.len() < 2 { 0.5 } else { at as f64 / (axis.len() - 1) as f64 };
        bottom - (share * f64::from(bottom - top)) as i32
    };
    let mut sorted: Vec<&Kernel<'_>> = kernels.iter().collect();
    sorted.sort_by(|one, other| one.1.total_cmp(&other.1));
    let legend = [
        (Mark::Line(WINNER), format!("within {:.0} % of the best known", (1.0 - GOOD) * 100.0)),
        (Mark::Line(FAINT), "at least half as fast".to_owned()),
        (Mark::Line(BAD), "slower".to_owned()),
    ];
    chart(title, 340, &legend, |area| {
        for (at, _) in parameters.iter().enumerate() {
            let line = vec![(x(at), top), (x(at), bottom)];
            area.draw(&PathElement::new(line, MUTED.stroke_width(px(1) as u32)))?;
        }
        for (values, quality) in sorted {
            let path: Vec<(i32, i32)> = (0..)
                .zip(parameters.iter().zip(&axes))
                .map(|(at, (name, axis))| (x(at), y(axis, values.get(name))))
                .collect();
            let color = match quality {
                good if *good >= GOOD => WINNER.mix(0.6),
                half if *half >= 0.5 => FAINT.mix(0.25),
                _ => BAD.mix(0.15),
            };
            area.draw(&PathElement::new(path, color.stroke_width(px(1) as u32)))?;
        }
        for (at, (name, axis)) in parameters.iter().zip(&axes).enumerate() {
            // Names of neighbours go on two lines, so that they do not run into each other.
            let below = bottom + px(if at % 2 == 0 { 16 } else { 30 });
            area.draw(&Text::new(name.clone(), (x(at), below), anchored(11, INK, HPos::Center)))?;
            for (place, value) in axis.iter().enumerate() {
                if axis.len() > MOST_NAMED && place != 0 && place + 1 != axis.len() {
                    continue;
                }
                let label = value.map_or("–".to_owned(), ToString::to_string);
                let at = (x(at) + px(4), y(axis, *value));
                area.draw(&Text::new(label, at, anchored(10, MUTED, HPos::Left)))?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_show_their_values_in_order_and_an_absent_one_as_a_dash() {
        let parameters = |values: &[(&str, u64)]| -> BTreeMap<String, ScheduleValue> {
            values.iter().map(|(name, value)| ((*name).to_owned(), ScheduleValue::Number(*value))).collect()
        };
        let (one, other) = (parameters(&[("tile", 16), ("unroll", 4)]), parameters(&[("tile", 128)]));
        let names = ["tile".to_owned(), "unroll".to_owned()];
        let svg = draw("Kernels", &names, &[(&one, 1.0), (&other, 0.1)]).unwrap();
        for part in ["tile", "unroll", ">\n16\n<", ">\n128\n<", ">\n–\n<"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(draw("Kernels", &[], &[]).is_ok());
    }
}
