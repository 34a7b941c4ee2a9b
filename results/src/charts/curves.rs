//! Several named curves over one axis, each with a band.

use plotters::coord::ranged1d::{KeyPointHint, Ranged};
use plotters::prelude::*;

use super::canvas::{BAD, CEILING, DEFAULT, FAINT, GOOD, INK, Mark, WINNER, chart, px, style};
use crate::ReportError;
use crate::format::tick;

/// An axis: what it shows, from where to where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Equal distances are equal ratios; `from` is above 0 then.
    pub(crate) logarithmic: bool,
}

/// A curve; all lists are of one length.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) x: Vec<f64>,
    pub(crate) middle: Vec<f64>,
    /// Lower edge of the band; empty for none.
    pub(crate) low: Vec<f64>,
    /// Upper edge of the band.
    pub(crate) high: Vec<f64>,
}

/// Curves in one chart. The first few stand out in colour, with their bands.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_field_names, reason = "the curves are what it is named for")]
pub(crate) struct Curves {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) curves: Vec<Curve>,
    /// Name of the curve that is drawn dashed, whatever its place.
    pub(crate) yardstick: String,
}

/// Colours of the curves that stand out.
const COLORS: [RGBColor; 4] = [WINNER, DEFAULT, GOOD, CEILING];

impl Axis {
    /// Where a value lies on the paper.
    fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.from, self.to);
        if self.logarithmic { value.log10() } else { value }
    }

    fn is_logarithmic(&self) -> bool {
        self.logarithmic && self.from > 0.0 && self.to > self.from
    }

    /// The axis with ends that can be drawn.
    fn sound(&self) -> Self {
        let mut axis = Self { logarithmic: self.is_logarithmic(), ..self.clone() };
        if !(axis.from.is_finite() && axis.to.is_finite() && axis.from < axis.to) {
            axis.from = if axis.from.is_finite() { axis.from } else { 0.0 };
            axis.to = axis.from + 1.0;
        }
        axis
    }

    /// The axis as plotters wants it, with ticks on round numbers.
    fn coordinate(&self) -> Ticked {
        Ticked { from: self.place(self.from), to: self.place(self.to), ticks: self.ticks() }
    }

    fn ticks(&self) -> Vec<f64> {
        if !self.logarithmic {
            let wanted = (self.to - self.from) / 7.0;
            let power = 10_f64.powf(wanted.log10().floor());
            let step = [1.0, 2.0, 5.0].map(|step| step * power).into_iter().find(|&step| step >= wanted);
            let step = step.unwrap_or(10.0 * power);
            let first = (self.from / step).ceil();
            let count = ((self.to / step + 1e-9).floor() - first).max(0.0) as u32;
            return (0..=count).map(|at| (first + f64::from(at)) * step).collect();
        }
        let (low, high) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        let within = |value: &f64| (self.from * 0.999..=self.to * 1.001).contains(value);
        let factors: &[f64] = if high - low <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let all =
            (low..=high).flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
        all.filter(within).map(|value| self.place(value)).collect()
    }

    fn label(&self, place: f64) -> String {
        tick(if self.logarithmic { 10_f64.powf(place) } else { place })
    }
}

/// A range with its own ticks.
#[derive(Debug, Clone)]
struct Ticked {
    from: f64,
    to: f64,
    ticks: Vec<f64>,
}

impl Ranged for Ticked {
    type FormatOption = plotters::coord::ranged1d::DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.from) / (self.to - self.from);
        (f64::from(limit.0) + share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.from..self.to
    }
}

impl Curves {
    /// The chart as SVG.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub(crate) fn draw(&self) -> Result<String, ReportError> {
        let others = self.curves.iter().filter(|curve| curve.name != self.yardstick);
        let leading: Vec<(&Curve, RGBColor)> = others.clone().zip(COLORS).collect();
        let rest: Vec<&Curve> = others.skip(COLORS.len()).collect();
        let yardstick = self.curves.iter().find(|curve| curve.name == self.yardstick);
        let mut legend: Vec<(Mark, String)> =
            leading.iter().map(|(curve, color)| (Mark::Line(*color), curve.name.clone())).collect();
        legend.extend(yardstick.map(|curve| (Mark::Dashed(BAD), curve.name.clone())));
        if !rest.is_empty() {
            legend.push((Mark::Line(FAINT), format!("{} others", rest.len())));
        }
        let (x, y) = (self.x.sound(), self.y.sound());
        let points = |of: &Curve, values: &[f64]| -> Vec<(f64, f64)> {
            let points = of.x.iter().zip(values).filter(|(at, value)| !at.is_nan() && !value.is_nan());
            points.map(|(&at, &value)| (x.place(at), y.place(value))).collect()
        };
        chart(&self.title, 340, &legend, |area| {
            let mut chart = ChartBuilder::on(area)
                .margin_left(px(4))
                .margin_right(px(8))
                .margin_bottom(px(4))
                .x_label_area_size(px(42))
                .y_label_area_size(px(56))
                .build_cartesian_2d(x.coordinate(), y.coordinate())?;
            let mut mesh = chart.configure_mesh();
            style(&mut mesh);
            mesh.disable_x_mesh()
                .x_desc(&*x.name)
                .y_desc(&*y.name)
                .x_label_formatter(&|value| x.label(*value))
                .y_label_formatter(&|value| y.label(*value))
                .draw()?;
            for (curve, color) in &leading {
                let (mut edge, low) = (points(curve, &curve.high), points(curve, &curve.low));
                edge.extend(low.into_iter().rev());
                if edge.len() > 2 {
                    chart.draw_series([Polygon::new(edge, color.mix(0.1).filled())])?;
                }
            }
            for curve in &rest {
                let style = FAINT.stroke_width(px(1) as u32);
                chart.draw_series(LineSeries::new(points(curve, &curve.middle), style))?;
            }
            if let Some(curve) = yardstick {
                let style = BAD.stroke_width(px(2) as u32);
                chart.draw_series(DashedLineSeries::new(
                    points(curve, &curve.middle),
                    px(6),
                    px(4),
                    style,
                ))?;
            }
            for (curve, color) in leading.iter().rev() {
                let style = color.stroke_width(px(2) as u32);
                chart.draw_series(LineSeries::new(points(curve, &curve.middle), style))?;
            }
            if self.curves.is_empty() {
                area.draw(&Text::new("nothing to show", (px(70), px(20)), super::canvas::text(12, INK)))?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        let axis = |from, to, logarithmic| Axis { name: String::new(), from, to, logarithmic };
        let labels = |axis: Axis| axis.ticks().iter().map(|tick| axis.label(*tick)).collect::<Vec<_>>();
        assert_eq!(labels(axis(0.0, 1.0, false)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(axis(1.0, 200.0, true)), ["1", "2", "5", "10", "20", "50", "100", "200"]);
        assert_eq!(labels(axis(1e-4, 1.0, true)), ["1.00e-4", "0.001", "0.01", "0.1", "1"]);
        let unsound = axis(f64::NAN, f64::NAN, true).sound();
        assert_eq!((unsound.from, unsound.to, unsound.logarithmic), (0.0, 1.0, false));
    }

    #[test]
    fn curves_of_one_point_or_none_can_be_drawn() {
        let axis = Axis { name: "x".to_owned(), from: 1.0, to: 1.0, logarithmic: true };
        let one = Curve { name: "one".to_owned(), x: vec![1.0], middle: vec![f64::NAN], ..Curve::default() };
        let curves = Curves {
            title: "a < b".to_owned(),
            x: axis.clone(),
            y: axis,
            curves: vec![one],
            yardstick: String::new(),
        };
        assert!(curves.draw().unwrap().contains("one"));
        assert!(Curves { curves: Vec::new(), ..curves }.draw().unwrap().contains("nothing to show"));
    }
}
