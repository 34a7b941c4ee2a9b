//! What all charts share: size, colours, title and legend, axes.

use plotters::backend::SVGBackend;
use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::ReportError;

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(crate) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Coordinates are whole numbers, so everything is drawn at twice its size and shown at half.
const SCALE: i32 = 2;
/// Width of every chart as shown, pixels.
const WIDTH: i32 = 760;
const FONT: &str = "sans-serif";

pub(crate) const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);
pub(crate) const INK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
pub(crate) const MUTED: RGBColor = RGBColor(0x69, 0x72, 0x7D);
pub(crate) const GRID: RGBColor = RGBColor(0xE4, 0xE7, 0xEB);
pub(crate) const FAINT: RGBColor = RGBColor(0x9A, 0xA4, 0xB0);
pub(crate) const WINNER: RGBColor = RGBColor(0x0B, 0x6B, 0xCB);
pub(crate) const DEFAULT: RGBColor = RGBColor(0xC2, 0x57, 0x0C);
pub(crate) const CEILING: RGBColor = RGBColor(0x7A, 0x3F, 0xD0);
pub(crate) const GOOD: RGBColor = RGBColor(0x1A, 0x7F, 0x4B);
pub(crate) const BAD: RGBColor = RGBColor(0xC9, 0x36, 0x3E);

/// The colours above, and the names that the page's style sheet gives their roles.
const THEME: [(RGBColor, &str); 10] = [
    (PAPER, "paper"),
    (INK, "ink"),
    (MUTED, "muted"),
    (GRID, "grid"),
    (FAINT, "faint"),
    (WINNER, "winner"),
    (DEFAULT, "default"),
    (CEILING, "ceiling"),
    (GOOD, "good"),
    (BAD, "bad"),
];

/// How a series looks, for the legend.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark {
    Line(RGBColor),
    Dashed(RGBColor),
    Dot(RGBColor),
    Band(RGBColor),
}

/// Gives grid and axes their lines, colours and sizes of text.
pub(crate) fn style<'b, X, Y, DB>(mesh: &mut MeshStyle<'_, 'b, X, Y, DB>)
where
    X: Ranged,
    Y: Ranged,
    DB: DrawingBackend + 'b,
{
    mesh.bold_line_style(GRID.stroke_width(px(1) as u32))
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .label_style(text(11, MUTED))
        .axis_desc_style(text(12, INK));
}

/// Pixels of the drawing for pixels as shown.
pub(crate) const fn px(shown: i32) -> i32 {
    shown * SCALE
}

/// Text of a size as shown, pixels.
pub(crate) fn text(size: i32, color: RGBColor) -> TextStyle<'static> {
    // Plotters divides sizes by 1.24 on their way into the file.
    (FONT, f64::from(px(size)) * 1.24).into_font().color(&color)
}

/// Text that is anchored at its middle left, middle or middle right.
pub(crate) fn anchored(size: i32, color: RGBColor, at: HPos) -> TextStyle<'static> {
    text(size, color).pos(Pos::new(at, VPos::Center))
}

/// A chart with title and legend above whatever `plot` draws.
pub(crate) fn chart(
    title: &str,
    height: i32,
    legend: &[(Mark, String)],
    plot: impl FnOnce(&Area<'_>) -> Drawn,
) -> Result<String, ReportError> {
    let mut svg = String::new();
    let drawn = {
        let root =
            SVGBackend::with_string(&mut svg, (px(WIDTH) as u32, px(height) as u32)).into_drawing_area();
        let head = if legend.is_empty() { 32 } else { 60 };
        root.fill(&PAPER)
            .and_then(|()| draw_head(&root, title, legend))
            .and_then(|()| plot(&root.split_vertically(px(head)).1))
            .and_then(|()| root.present())
    };
    drawn.map_err(|error| ReportError::Chart(error.to_string()))?;
    let size = |scale: i32| format!("width=\"{}\" height=\"{}\"", WIDTH * scale, height * scale);
    let label = format!("role=\"img\" aria-label=\"{}\" {}", crate::format::escape(title), size(1));
    Ok(svg.replacen(&size(SCALE), &label, 1).replace(
        &format!("font-family=\"{FONT}\""),
        "font-family=\"Inter, system-ui, -apple-system, Segoe UI, Roboto, sans-serif\"",
    ))
}

/// Exchanges fixed colours for the variables of a style sheet, and leaves size and font to it.
pub(crate) fn themed(svg: &str) -> String {
    let start = svg.find("<svg").unwrap_or(0);
    let mut themed = svg[start..].to_owned();
    for (color, name) in THEME {
        let RGBColor(red, green, blue) = color;
        themed = themed.replace(&format!("#{red:02X}{green:02X}{blue:02X}"), &format!("var(--{name})"));
    }
    themed.replace(" font-family=\"Inter, system-ui, -apple-system, Segoe UI, Roboto, sans-serif\"", "")
}

/// At most `most` of the points, evenly taken, so that a long campaign makes no huge file.
pub(crate) fn thin<T: Clone>(points: &[T], most: usize) -> Vec<T> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    points.iter().cloned().step_by(step).collect()
}

/// The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is not below `value`.
pub(crate) fn round_up(value: f64) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|&step| step >= value).unwrap_or(10.0 * power)
}

fn draw_head(root: &Area<'_>, title: &str, legend: &[(Mark, String)]) -> Drawn {
    let bold = (FONT, f64::from(px(14)) * 1.24, FontStyle::Bold).into_font().color(&INK);
    root.draw(&Text::new(title.to_owned(), (px(10), px(10)), bold))?;
    let mut x = px(10);
    for (mark, label) in legend {
        let (y, width) = (px(42), px(18));
        let stroke = |color: RGBColor| color.stroke_width(px(2) as u32);
        match *mark {
            Mark::Line(color) => {
                root.draw(&PathElement::new(vec![(x, y), (x + width, y)], stroke(color)))?;
            }
            Mark::Dashed(color) => {
                let dash = px(7);
                for start in [x, x + px(11)] {
                    root.draw(&PathElement::new(vec![(start, y), (start + dash, y)], stroke(color)))?;
                }
            }
            Mark::Dot(color) => root.draw(&Circle::new((x + width / 2, y), px(4), color.filled()))?,
            Mark::Band(color) => {
                root.draw(&Rectangle::new(
                    [(x, y - px(5)), (x + width, y + px(5))],
                    color.mix(0.2).filled(),
                ))?;
            }
        }
        root.draw(&Text::new(label.clone(), (x + width + px(6), y), anchored(12, MUTED, HPos::Left)))?;
        // No font metrics are at hand: an average character is a little over half its height wide.
        x += width + px(24) + (label.chars().count() as f64 * f64::from(px(12)) * 0.54) as i32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_a_label_and_its_colours_are_exchanged() {
        let legend = [(Mark::Dot(WINNER), "a < b".to_owned())];
        let svg = chart("Title & more", 100, &legend, |_| Ok(())).unwrap();
        assert!(svg.contains("aria-label=\"Title &amp; more\""), "{svg}");
        let inline = themed(&svg);
        assert!(inline.contains("var(--winner)") && !inline.contains('#'), "{inline}");
    }

    // U153
    #[test]
    fn points_are_thinned_evenly() {
        let points: Vec<usize> = (0..1000).collect();
        let thinned = thin(&points, 100);
        assert_eq!((thinned.len(), thinned[0], thinned[1]), (100, 0, 10));
        assert_eq!(thin(&points[..5], 100).len(), 5);
    }

    #[test]
    fn axes_end_on_round_numbers() {
        for (value, round) in [(0.9, 1.0), (103.0, 120.0), (1.0, 1.0), (f64::NAN, 1.0), (0.0, 1.0)] {
            assert!((round_up(value) - round).abs() < 1e-12, "{value}");
        }
    }
}
