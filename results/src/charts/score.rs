use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::canvas::{BAD, GOOD, INK, MUTED, PAPER, anchored, chart, px};
use super::curves::{Axis, Curve, Curves};
use crate::ReportError;

/// Performance of strategies over time on one space.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreCourse {
    /// Name of the space.
    pub space: String,
    /// Times, s of recorded cost.
    pub seconds: Vec<f64>,
    /// By strategy, the best first; the first few and the yardstick `random` are drawn in colour.
    pub curves: Vec<ScoreCurve>,
}

/// One strategy's performance at the times of a [`ScoreCourse`]: 0 as random search, 1 at the optimum.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreCurve {
    /// Name of the strategy.
    pub name: String,
    /// Mean over the runs.
    pub mean: Vec<f64>,
    /// Lower edge of its band.
    pub low: Vec<f64>,
    /// Upper edge of its band.
    pub high: Vec<f64>,
}

/// Scores of strategies on spaces.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreMap {
    /// Names of the strategies, one a row.
    pub strategies: Vec<String>,
    /// Names of the spaces, one a column.
    pub spaces: Vec<String>,
    /// By strategy, then by space.
    pub scores: Vec<Vec<f64>>,
}

const YARDSTICK: &str = "random";
/// Lowest performance that a chart shows: a run that found nothing can be far below.
const LOWEST: f64 = -1.0;

impl ScoreCourse {
    /// The chart as SVG.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn draw(&self) -> Result<String, ReportError> {
        let lowest = self.curves.iter().flat_map(|curve| &curve.mean).copied().fold(0.0, f64::min);
        let bottom = (lowest.max(LOWEST) * 5.0).floor() / 5.0;
        let curve = |curve: &ScoreCurve| Curve {
            name: curve.name.clone(),
            x: self.seconds.clone(),
            middle: curve.mean.clone(),
            low: curve.low.clone(),
            high: curve.high.clone(),
        };
        let (from, to) = (self.seconds.first().copied(), self.seconds.last().copied());
        let axis = |name: &str, from, to| Axis { name: name.to_owned(), from, to, logarithmic: false };
        let curves = Curves {
            title: format!("Performance over time on {}: mean and quartiles of the runs", self.space),
            x: axis("recorded cost, s", from.unwrap_or(0.0), to.unwrap_or(1.0)),
            y: axis("0 random search, 1 optimum", bottom, 1.02),
            curves: self.curves.iter().map(curve).collect(),
            yardstick: YARDSTICK.to_owned(),
        };
        curves.draw()
    }
}

impl ScoreMap {
    /// The chart as SVG: one cell a strategy and space, the number in it.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn draw(&self) -> Result<String, ReportError> {
        const ROW: i32 = 24;
        let columns = self.spaces.len().max(1) as i32;
        let (left, right) = (150, 750);
        let width = (right - left) / columns;
        // Names of spaces stand in a list below, numbered: they are too long for a column.
        let below = 30 + ROW * self.strategies.len() as i32;
        let height = 32 + below + 16 + 18 * self.spaces.len() as i32;
        chart("Score by strategy and space", height, &[], |area| {
            for (column, space) in (0..).zip(&self.spaces) {
                let middle = px(left + column * width + width / 2);
                let head = anchored(11, MUTED, HPos::Center);
                area.draw(&Text::new(format!("({})", column + 1), (middle, px(12)), head))?;
                let line = (px(left), px(below + 12 + 18 * column));
                area.draw(&Text::new(
                    format!("({}) {space}", column + 1),
                    line,
                    anchored(11, MUTED, HPos::Left),
                ))?;
            }
            for (row, (strategy, scores)) in (0..).zip(self.strategies.iter().zip(&self.scores)) {
                let top = 24 + ROW * row;
                let middle = px(top + ROW / 2);
                let name = anchored(12, INK, HPos::Right);
                area.draw(&Text::new(strategy.clone(), (px(left - 8), middle), name))?;
                for (column, &score) in (0..columns).zip(scores) {
                    let from = left + column * width;
                    let corners = [(px(from + 1), px(top + 1)), (px(from + width - 1), px(top + ROW - 1))];
                    area.draw(&Rectangle::new(corners, shade(score).filled()))?;
                    let ink = if score.abs() > 0.6 { PAPER } else { INK };
                    let number = Text::new(
                        format!("{score:.2}"),
                        (px(from + width / 2), middle),
                        anchored(11, ink, HPos::Center),
                    );
                    area.draw(&number)?;
                }
            }
            Ok(())
        })
    }
}

/// From paper at 0 to the colour of good at 1 and of bad at −1.
fn shade(score: f64) -> RGBColor {
    let target = if score < 0.0 { BAD } else { GOOD };
    let share = score.abs().min(1.0);
    let mix = |from: u8, to: u8| (f64::from(from) * (1.0 - share) + f64::from(to) * share) as u8;
    RGBColor(mix(PAPER.0, target.0), mix(PAPER.1, target.1), mix(PAPER.2, target.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_shows_every_curve_and_names_those_in_colour() {
        let curve = |name: &str, level: f64| ScoreCurve {
            name: name.to_owned(),
            mean: vec![-9.0, 0.0, level],
            low: vec![-9.0, -0.1, level - 0.1],
            high: vec![0.0, 0.2, level + 0.1],
        };
        let names = ["first", "second", "random", "third", "fourth", "fifth", "sixth"];
        let curves = names.iter().map(|name| curve(name, 0.5)).collect();
        let course =
            ScoreCourse { space: "kernel <on> device".to_owned(), seconds: vec![1.0, 2.0, 3.0], curves };
        let svg = course.draw().unwrap();
        for name in ["first", "fourth", "random", "2 others", "kernel &lt;on&gt; device"] {
            assert!(svg.contains(name), "{name}");
        }
        assert!(!svg.contains("fifth"));
        let momentary = ScoreCourse { seconds: vec![1.0; 3], ..course };
        assert!(momentary.draw().is_ok());
        assert!(ScoreCourse { seconds: Vec::new(), curves: Vec::new(), ..momentary }.draw().is_ok());
    }

    #[test]
    fn a_map_shows_every_number_and_name() {
        let map = ScoreMap {
            strategies: vec!["auto".to_owned(), "random".to_owned()],
            spaces: vec!["one".to_owned(), "two".to_owned()],
            scores: vec![vec![0.61, -3.25], vec![0.0, f64::NAN]],
        };
        let svg = map.draw().unwrap();
        for part in ["auto", "random", "(1) one", "(2) two", "0.61", "-3.25"] {
            assert!(svg.contains(part), "{part}");
        }
        let empty = ScoreMap { strategies: Vec::new(), spaces: Vec::new(), scores: Vec::new() };
        assert!(empty.draw().is_ok());
    }
}
