//! Strategies over the course of the search, as curves.

use std::collections::BTreeMap;

use tilewright_stats::interval::grouped_mean;

use super::compare::{Block, by_problem, generator, longest};
use super::course::Tried;
use super::{Course, MatrixResults};
use crate::charts::curves::{Axis, Curve, Curves};

/// Places at which a curve with a band is computed.
const POINTS: u32 = 48;
/// Parts of a search that operators are looked at in.
const PARTS: usize = 10;
/// Least regret that a logarithmic axis shows.
const LEAST_REGRET: f64 = 1e-3;

/// Numbers of evaluations from 1 to the most, evenly spread on a logarithmic axis.
fn grid(most: u64) -> Vec<f64> {
    let mut grid: Vec<f64> = (0..POINTS)
        .map(|at| (most as f64).powf(f64::from(at) / f64::from(POINTS - 1)).round().max(1.0))
        .collect();
    grid.dedup();
    grid
}

fn evaluations(most: u64) -> Axis {
    let name = "evaluations (logarithmic)".to_owned();
    Axis { name, from: 1.0, to: (most as f64).max(2.0), logarithmic: true }
}

/// Mean quality after so many evaluations with its 95 % interval, by strategy, over the blocks given.
pub(crate) fn convergence(results: &MatrixResults, blocks: &[Block<'_>], title: &str) -> Curves {
    let most = longest(blocks);
    let curve = |(at, name): (usize, &String)| {
        let mut curve = Curve { name: name.clone(), ..Curve::default() };
        for x in grid(most) {
            let groups = by_problem(blocks, |block| Some(block.quality(block.courses[at].best_after(x))));
            let Ok(found) = grouped_mean(&groups, &mut generator()) else { continue };
            curve.x.push(x);
            curve.middle.push(found.mean);
            curve.low.push(found.interval.low);
            curve.high.push(found.interval.high);
        }
        curve
    };
    let curves: Vec<Curve> = results.matrix.strategies.iter().enumerate().map(curve).collect();
    let lowest = curves.iter().flat_map(|curve| &curve.low).copied().fold(1.0, f64::min);
    Curves {
        title: title.to_owned(),
        x: evaluations(most),
        y: Axis {
            name: "quality: 1 is the best known".to_owned(),
            from: (lowest * 10.0).floor() / 10.0,
            to: 1.01,
            logarithmic: false,
        },
        curves,
        yardstick: results.baseline().to_owned(),
    }
}

/// What is missing to the best known: 1 − quality, from the curves of [`convergence`].
pub(crate) fn regret(convergence: &Curves) -> Curves {
    let missing =
        |values: &[f64]| values.iter().map(|value| (1.0 - value).max(LEAST_REGRET)).collect::<Vec<_>>();
    let curves = convergence.curves.iter().map(|curve| Curve {
        name: curve.name.clone(),
        x: curve.x.clone(),
        middle: missing(&curve.middle),
        low: missing(&curve.high),
        high: missing(&curve.low),
    });
    let name = "regret: 1 − quality (logarithmic)".to_owned();
    Curves {
        title: "Regret: share of the best known rate that is missing, mean and 95 % interval".to_owned(),
        y: Axis { name, from: LEAST_REGRET, to: 1.0, logarithmic: true },
        curves: curves.collect(),
        ..convergence.clone()
    }
}

/// Share of the blocks in which a quality was reached after so many evaluations (the data profiles of Moré & Wild
/// 2009).
pub(crate) fn reached(results: &MatrixResults, blocks: &[Block<'_>], quality: f64) -> Curves {
    let most = longest(blocks);
    let count = blocks.len().max(1) as f64;
    let curve = |(at, name): (usize, &String)| {
        let mut times: Vec<f64> = blocks
            .iter()
            .filter_map(|block| {
                let mut found = block.courses[at].found.iter();
                Some(found.find(|found| block.quality(Some(found.time_ns)) >= quality)?.evaluations as f64)
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let mut curve = Curve { name: name.clone(), x: vec![1.0], middle: vec![0.0], ..Curve::default() };
        for (time, number) in times.iter().zip(0_u32..) {
            curve.x.extend([*time, *time]);
            curve.middle.extend([f64::from(number) / count, f64::from(number + 1) / count]);
        }
        curve.x.push(most as f64);
        curve.middle.push(times.len() as f64 / count);
        curve
    };
    Curves {
        title: format!(
            "Time to quality: share of cells within {:.0} % of the best known",
            (1.0 - quality) * 100.0
        ),
        x: evaluations(most),
        y: Axis { name: "share of cells".to_owned(), from: 0.0, to: 1.01, logarithmic: false },
        curves: results.matrix.strategies.iter().enumerate().map(curve).collect(),
        yardstick: results.baseline().to_owned(),
    }
}

/// What the mutation operators of a strategy did over the course of its searches: how often each was chosen, and how
/// often what it made was judged faster than the incumbent. `None` where there are not two of them.
pub(crate) fn operators(results: &MatrixResults, strategy: &str) -> Option<[Curves; 2]> {
    let courses = results.courses.iter().filter(|course| course.strategy == strategy);
    let mut made: BTreeMap<&str, [(u32, u32); PARTS]> = BTreeMap::new();
    let mut all = [0_u32; PARTS];
    for Tried { progress, operator, faster } in courses.flat_map(|course: &Course| &course.tried) {
        let Some(operator) = operator else { continue };
        let part = ((progress * PARTS as f64) as usize).min(PARTS - 1);
        all[part] += 1;
        let (count, successes) = &mut made.entry(operator).or_default()[part];
        *count += 1;
        *successes += u32::from(*faster);
    }
    if made.len() < 2 {
        return None;
    }
    // The most used ones are drawn in colour.
    let mut names: Vec<&str> = made.keys().copied().collect();
    names.sort_by_key(|name| std::cmp::Reverse(made[name].iter().map(|part| part.0).sum::<u32>()));
    let centre = |part: usize| (part as f64 + 0.5) / PARTS as f64;
    let curves = |value: &dyn Fn(&str, usize) -> f64| -> Vec<Curve> {
        let curve = |name: &&str| Curve {
            name: (*name).to_owned(),
            x: (0..PARTS).map(centre).collect(),
            middle: (0..PARTS).map(|part| value(name, part)).collect(),
            ..Curve::default()
        };
        names.iter().map(curve).collect()
    };
    let share = curves(&|name, part| f64::from(made[name][part].0) / f64::from(all[part].max(1)));
    let success = curves(&|name, part| {
        let (count, successes) = made[name][part];
        if count == 0 { f64::NAN } else { f64::from(successes) / f64::from(count) }
    });
    let chart = |title: String, y: &str, curves: Vec<Curve>| {
        let highest = curves.iter().flat_map(|curve| &curve.middle).copied().fold(0.0, f64::max);
        Curves {
            title,
            x: Axis { name: "part of the search".to_owned(), from: 0.0, to: 1.0, logarithmic: false },
            y: Axis { name: y.to_owned(), from: 0.0, to: (highest * 1.05).max(0.01), logarithmic: false },
            curves,
            yardstick: String::new(),
        }
    };
    Some([
        chart(format!("{strategy}: how often each operator was chosen"), "share of candidates", share),
        chart(
            format!("{strategy}: how often an operator made something faster"),
            "share that was faster",
            success,
        ),
    ])
}
