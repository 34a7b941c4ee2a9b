//! One number with its interval a row.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::canvas::{FAINT, GRID, INK, MUTED, WINNER, anchored, chart, px};
use crate::ReportError;
use crate::format::{number, tick};

/// A row: a name, and a number with its ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) middle: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Draws rows over one axis, with a line at `mark`.
pub(crate) fn draw(title: &str, unit: &str, rows: &[Row], mark: f64) -> Result<String, ReportError> {
    const ROW: i32 = 26;
    let (left, right) = (px(170), px(600));
    let ends = || rows.iter().flat_map(|row| [row.low, row.high, row.middle]).filter(|end| end.is_finite());
    let (mut from, mut to) = (ends().fold(mark, f64::min), ends().fold(mark, f64::max));
    let rim = ((to - from) * 0.04).max(1e-3 * to.abs()).max(1e-9);
    (from, to) = (from - rim, to + rim);
    let x = |value: f64| left + ((value - from) / (to - from) * f64::from(right - left)) as i32;
    let height = 32 + 44 + ROW * rows.len() as i32;
    chart(title, height, &[], |area| {
        let bottom = px(4 + ROW * rows.len() as i32);
        for step in 0..=4 {
            let value = from + (to - from) * f64::from(step) / 4.0;
            let at = x(value);
            area.draw(&PathElement::new(vec![(at, 0), (at, bottom)], GRID.stroke_width(px(1) as u32)))?;
            area.draw(&Text::new(tick(value), (at, bottom + px(10)), anchored(11, MUTED, HPos::Center)))?;
        }
        let middle = (i32::midpoint(left, right), bottom + px(26));
        area.draw(&Text::new(unit.to_owned(), middle, anchored(12, INK, HPos::Center)))?;
        let line = vec![(x(mark), 0), (x(mark), bottom)];
        area.draw(&PathElement::new(line, FAINT.stroke_width(px(1) as u32)))?;
        for (row, at) in rows.iter().zip(0..) {
            let y = px(4 + ROW * at + ROW / 2);
            area.draw(&Text::new(row.name.clone(), (left - px(10), y), anchored(12, INK, HPos::Right)))?;
            if !row.middle.is_finite() {
                continue;
            }
            let whisker = vec![(x(row.low), y), (x(row.high), y)];
            area.draw(&PathElement::new(whisker, WINNER.stroke_width(px(2) as u32)))?;
            area.draw(&Circle::new((x(row.middle), y), px(4), WINNER.filled()))?;
            let note = format!("{} [{}, {}]", number(row.middle), number(row.low), number(row.high));
            area.draw(&Text::new(note, (right + px(12), y), anchored(12, MUTED, HPos::Left)))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_shows_name_and_numbers() {
        let row = |name: &str, middle| Row { name: name.to_owned(), middle, low: 0.5, high: 0.75 };
        let svg = draw("Title", "unit", &[row("first", 0.6), row("none", f64::NAN)], 1.0).unwrap();
        for part in ["Title", "unit", "first", "none", "0.600 [0.500, 0.750]"] {
            assert!(svg.contains(part), "{part}");
        }
        assert!(draw("Title", "unit", &[], 1.0).is_ok());
    }
}
