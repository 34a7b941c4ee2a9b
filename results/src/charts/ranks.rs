//! The critical-difference diagram of Demšar 2006: mean ranks on a line, and bars over those that do not differ.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::canvas::{FAINT, INK, MUTED, WINNER, anchored, chart, px};
use crate::ReportError;

/// Draws mean ranks; `ranked` is in ascending order of rank.
pub(crate) fn draw(ranked: &[(&str, f64)], critical_difference: f64) -> Result<String, ReportError> {
    const ROW: i32 = 20;
    let count = ranked.len();
    let (left, right) = (px(200), px(560));
    let span = (count.max(2) - 1) as f64;
    let x = |rank: f64| left + ((rank - 1.0) / span * f64::from(right - left)) as i32;
    let groups = groups(&ranked.iter().map(|entry| entry.1).collect::<Vec<_>>(), critical_difference);
    let line = px(62);
    let names = 80 + 9 * groups.len() as i32;
    let half = count.div_ceil(2);
    let height = 32 + names + ROW * half as i32 + 8;
    let title = "Mean ranks (1 is best); bars join strategies that do not differ at 5 %";
    chart(title, height, &[], |area| {
        let ink = |width: i32, color: RGBColor| color.stroke_width(px(width) as u32);
        // The length that two ranks must differ by.
        let reach = (critical_difference / span * f64::from(right - left)) as i32;
        let shown = reach.min(px(740) - left);
        area.draw(&PathElement::new(vec![(left, px(14)), (left + shown, px(14))], ink(2, INK)))?;
        let label = format!("critical difference {critical_difference:.2}");
        area.draw(&Text::new(label, (left, px(26)), anchored(11, MUTED, HPos::Left)))?;
        area.draw(&PathElement::new(vec![(left, line), (right, line)], ink(1, FAINT)))?;
        for rank in 1..=count {
            let at = x(rank as f64);
            area.draw(&PathElement::new(vec![(at, line - px(4)), (at, line)], ink(1, FAINT)))?;
            area.draw(&Text::new(rank.to_string(), (at, line - px(12)), anchored(11, MUTED, HPos::Center)))?;
        }
        for ((first, last), at) in groups.iter().zip(0..) {
            let y = line + px(10 + 9 * at);
            let ends = vec![(x(ranked[*first].1) - px(3), y), (x(ranked[*last].1) + px(3), y)];
            area.draw(&PathElement::new(ends, ink(3, WINNER)))?;
        }
        for ((name, rank), at) in ranked.iter().zip(0..) {
            let is_left = at < half;
            let row = if is_left { at } else { count - 1 - at };
            let y = px(names + ROW * row as i32 + ROW / 2);
            let (end, side) =
                if is_left { (left - px(20), HPos::Right) } else { (right + px(20), HPos::Left) };
            area.draw(&PathElement::new(vec![(x(*rank), line), (x(*rank), y), (end, y)], ink(1, FAINT)))?;
            let gap = if is_left { -px(5) } else { px(5) };
            let label = format!("{name} {rank:.2}");
            area.draw(&Text::new(label, (end + gap, y), anchored(12, INK, side)))?;
        }
        Ok(())
    })
}

/// First and last of every longest run of ranks that lie within the critical difference, of two at least.
fn groups(ranks: &[f64], critical_difference: f64) -> Vec<(usize, usize)> {
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for first in 0..ranks.len() {
        let within = |rank: &&f64| **rank - ranks[first] <= critical_difference;
        let last = first + ranks[first..].iter().take_while(within).count() - 1;
        if last > first && groups.last().is_none_or(|group| last > group.1) {
            groups.push((first, last));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_join_the_longest_runs_only() {
        assert_eq!(groups(&[1.0, 1.5, 3.0, 3.4, 4.1], 1.0), [(0, 1), (2, 3), (3, 4)]);
        assert_eq!(groups(&[1.0, 1.5, 2.0], 5.0), [(0, 2)]);
        assert_eq!(groups(&[1.0, 3.0], 1.0), []);
    }

    #[test]
    fn every_strategy_is_named_with_its_rank() {
        let svg = draw(&[("auto", 1.25), ("evolution", 2.0), ("random", 2.75)], 0.9).unwrap();
        for part in ["auto 1.25", "evolution 2.00", "random 2.75", "critical difference 0.90"] {
            assert!(svg.contains(part), "{part}");
        }
        assert!(draw(&[("alone", 1.0)], 1.0).is_ok() && draw(&[], 1.0).is_ok());
    }
}
