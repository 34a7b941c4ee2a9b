//! How strategies compare over the cells of a matrix.
//!
//! The *quality* of a kernel is the best known time of its problem over its own time: 1 for the best known, 0 where
//! nothing valid was found. Best known is what the recording holds, or what any cell found. Strategies are compared
//! on *blocks*: a problem with a seed, for which every strategy has a cell that ended. What intervals and tests say
//! is about these problems and other seeds, not about other problems.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;
use tilewright_stats::interval::grouped_mean;
use tilewright_stats::ranking::{critical_difference, friedman};
use tilewright_stats::{Level, samples};

use super::course::{Tradeoff, join};
use super::{Course, MatrixResults};

/// Qualities that [`TimeToQuality`] is given for.
pub const QUALITIES: [f64; 3] = [0.9, 0.95, 0.99];

/// Seed of intervals and tests: the same results give the same numbers.
const SEED: u64 = 0x7469_6c65;

/// A mean over problems with its 95 % interval over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean, each problem counting alike.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How soon a strategy comes near the best known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimeToQuality {
    /// Quality to reach.
    pub quality: f64,
    /// Share of the blocks in which it was reached.
    pub reached: f64,
    /// Median number of evaluations; `None` where fewer than half reached it.
    pub evaluations: Option<f64>,
    /// Median time, s, as trials report it; `None` where fewer than half reached it.
    pub seconds: Option<f64>,
}

/// How a strategy did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrategySummary {
    /// Its name.
    pub strategy: String,
    /// Quality at the end.
    pub quality: Option<Estimate>,
    /// Mean quality over all evaluations of the longest cell: high for whoever is good early.
    pub area: Option<Estimate>,
    /// Mean rank of the time found, from 1; `None` without a block.
    pub mean_rank: Option<f64>,
    /// Time found over that of the baseline in the same block, geometric mean; `None` for the baseline itself.
    pub ratio: Option<Estimate>,
    /// Blocks behind `ratio`: those in which both found something.
    pub pairs: usize,
    /// How soon it came near the best known.
    pub time_to_quality: Vec<TimeToQuality>,
}

/// Whether strategies differ by more than chance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// Blocks that were ranked.
    pub blocks: usize,
    /// Friedman's χ²ᵣ, corrected for ties.
    pub statistic: f64,
    /// Probability of ranks at least as different where all strategies are alike.
    pub p_value: f64,
    /// Nemenyi's critical difference of mean ranks at 5 %.
    pub critical_difference: f64,
}

/// A problem and the best that is known for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProblemSummary {
    /// Workload and target in words.
    pub problem: String,
    /// Cells that ended.
    pub cells: usize,
    /// Blocks in which strategies are compared.
    pub blocks: usize,
    /// Least time known, ns; `None` where nothing valid was found.
    pub best_ns: Option<f64>,
    /// Objectives, in the order of the values of `front`.
    pub objectives: Vec<&'static str>,
    /// Kernels that no other beats in every objective; empty with one objective.
    pub front: Vec<Front>,
}

/// One kernel of a Pareto front.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Front {
    /// Value of each objective.
    pub values: Vec<f64>,
    /// Strategy that found it.
    pub strategy: String,
    /// Seed of its cell.
    pub seed: u64,
    /// Its number in the cell's journal.
    pub trial: u64,
    /// Its schedule.
    pub schedule: String,
}

impl From<Tradeoff> for Front {
    fn from(Tradeoff { values, strategy, seed, trial, schedule }: Tradeoff) -> Self {
        Self { values, strategy, seed, trial, schedule }
    }
}

/// How strategies compare.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Strategy that the others are compared with.
    pub baseline: String,
    /// Cells that have not ended.
    pub open: usize,
    /// Blocks: problem and seed with a cell of every strategy.
    pub blocks: usize,
    /// By strategy, the best mean rank first.
    pub strategies: Vec<StrategySummary>,
    /// Whether they differ; `None` with fewer than two strategies or without a block.
    pub ranking: Option<Ranking>,
    /// By problem, in the matrix's order.
    pub problems: Vec<ProblemSummary>,
}

/// The cells of one problem and seed, by strategy in the matrix's order.
pub(crate) struct Block<'a> {
    pub(crate) problem: String,
    pub(crate) best_ns: f64,
    pub(crate) courses: Vec<&'a Course>,
}

impl Block<'_> {
    /// Quality of a time.
    pub(crate) fn quality(&self, time_ns: Option<f64>) -> f64 {
        time_ns.map_or(0.0, |time_ns| (self.best_ns / time_ns).min(1.0))
    }
}

impl MatrixResults {
    /// Least time known for a problem, ns.
    fn best_ns(&self, problem: &str) -> Option<f64> {
        let of_problem = || self.courses.iter().filter(|course| course.problem == problem);
        let known = of_problem().filter_map(|course| course.best_known_ns);
        let found = of_problem().filter_map(Course::last_ns);
        known.chain(found).reduce(f64::min)
    }

    /// Names of the problems, in the matrix's order.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let names = self.matrix.cells().into_iter().map(|cell| cell.problem());
        names.filter(|name| seen.insert(name.clone())).collect()
    }

    /// Every block in which all strategies have a cell and something is known.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        let mut cells: BTreeMap<(String, u64), BTreeMap<&str, &Course>> = BTreeMap::new();
        for course in &self.courses {
            cells.entry((course.problem.clone(), course.seed)).or_default().insert(&course.strategy, course);
        }
        let mut blocks = Vec::new();
        for problem in self.problems() {
            let Some(best_ns) = self.best_ns(&problem) else { continue };
            for &seed in &self.matrix.seeds {
                let Some(by_strategy) = cells.get(&(problem.clone(), seed)) else { continue };
                let courses: Option<Vec<&Course>> = self
                    .matrix
                    .strategies
                    .iter()
                    .map(|strategy| by_strategy.get(&**strategy).copied())
                    .collect();
                let block = courses.map(|courses| Block { problem: problem.clone(), best_ns, courses });
                blocks.extend(block);
            }
        }
        blocks
    }

    /// The baseline: the one that was asked for, `random` where it takes part, else the first.
    pub fn baseline(&self) -> &str {
        let strategies = &self.matrix.strategies;
        let random = strategies.iter().find(|name| *name == "random");
        self.matrix.baseline.as_ref().or(random).or(strategies.first()).map_or("", String::as_str)
    }

    /// Compares the strategies.
    pub fn compare(&self) -> Comparison {
        let blocks = self.blocks();
        let times: Vec<Vec<f64>> = blocks
            .iter()
            .map(|block| {
                let times = block.courses.iter().map(|course| course.last_ns().unwrap_or(f64::INFINITY));
                times.collect()
            })
            .collect();
        let ranked = friedman(&times, &mut generator()).ok();
        let names = &self.matrix.strategies;
        let difference = critical_difference(names.len(), blocks.len(), Level::FIVE_PERCENT);
        let ranking = ranked.as_ref().zip(difference).map(|(ranked, critical_difference)| Ranking {
            blocks: ranked.blocks,
            statistic: ranked.statistic,
            p_value: ranked.p_value,
            critical_difference,
        });
        let longest = longest(&blocks);
        let baseline = names.iter().position(|name| name == self.baseline()).unwrap_or(0);
        let summary = |(at, name): (usize, &String)| {
            let quality = |block: &Block<'_>| Some(block.quality(block.courses[at].last_ns()));
            let area = |block: &Block<'_>| Some(area(block, at, longest));
            let log_ratio = |block: &Block<'_>| {
                let (own, other) = (block.courses[at].last_ns()?, block.courses[baseline].last_ns()?);
                Some((own / other).ln())
            };
            let (ratio, pairs) = if at == baseline { (None, 0) } else { estimate(&blocks, log_ratio) };
            StrategySummary {
                strategy: name.clone(),
                quality: estimate(&blocks, quality).0,
                area: estimate(&blocks, area).0,
                mean_rank: ranked.as_ref().map(|ranked| ranked.mean_ranks[at]),
                ratio: ratio.map(|Estimate { mean, low, high }| Estimate {
                    mean: mean.exp(),
                    low: low.exp(),
                    high: high.exp(),
                }),
                pairs,
                time_to_quality: QUALITIES.map(|quality| time_to(&blocks, at, quality)).to_vec(),
            }
        };
        let mut strategies: Vec<StrategySummary> = names.iter().enumerate().map(summary).collect();
        let rank = |summary: &StrategySummary| summary.mean_rank.unwrap_or(f64::INFINITY);
        strategies.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
        let problems = self.problems().into_iter().map(|problem| {
            let count = blocks.iter().filter(|block| block.problem == problem).count();
            self.problem(problem, count)
        });
        Comparison {
            baseline: self.baseline().to_owned(),
            open: self.open,
            blocks: blocks.len(),
            strategies,
            ranking,
            problems: problems.collect(),
        }
    }

    fn problem(&self, problem: String, blocks: usize) -> ProblemSummary {
        let courses: Vec<&Course> = self.courses.iter().filter(|course| course.problem == problem).collect();
        let mut front = Vec::new();
        if self.matrix.objectives.len() > 1 {
            for tradeoff in courses.iter().flat_map(|course| &course.tradeoffs) {
                join(&mut front, tradeoff.clone());
            }
            front.sort_by(|one, other| one.values[0].total_cmp(&other.values[0]));
        }
        ProblemSummary {
            cells: courses.len(),
            blocks,
            best_ns: self.best_ns(&problem),
            objectives: self.matrix.objectives.iter().map(|objective| objective.name()).collect(),
            front: front.into_iter().map(Front::from).collect(),
            problem,
        }
    }
}

/// Evaluations of the longest cell.
pub(crate) fn longest(blocks: &[Block<'_>]) -> u64 {
    blocks.iter().flat_map(|block| &block.courses).map(|course| course.evaluations).max().unwrap_or(1).max(1)
}

/// Mean quality over so many evaluations; a cell that ended earlier stays where it ended.
fn area(block: &Block<'_>, at: usize, evaluations: u64) -> f64 {
    let course = block.courses[at];
    let mut ends = course.found.iter().skip(1).map(|found| found.evaluations).chain([evaluations + 1]);
    let steps = course.found.iter().map(|found| {
        let until = ends.next().unwrap_or(evaluations + 1);
        block.quality(Some(found.time_ns)) * until.saturating_sub(found.evaluations) as f64
    });
    steps.sum::<f64>() / evaluations as f64
}

/// Mean over problems of a value of each block, and the blocks that have one.
fn estimate(blocks: &[Block<'_>], value: impl Fn(&Block<'_>) -> Option<f64>) -> (Option<Estimate>, usize) {
    let groups = by_problem(blocks, value);
    let count = groups.iter().map(Vec::len).sum();
    let found = grouped_mean(&groups, &mut generator()).ok();
    let estimate =
        found.map(|found| Estimate { mean: found.mean, low: found.interval.low, high: found.interval.high });
    (estimate, count)
}

/// A value of each block that has one, by problem.
pub(crate) fn by_problem(blocks: &[Block<'_>], value: impl Fn(&Block<'_>) -> Option<f64>) -> Vec<Vec<f64>> {
    let groups = blocks.chunk_by(|one, other| one.problem == other.problem);
    let values = groups.map(|group| group.iter().filter_map(&value).collect::<Vec<f64>>());
    values.filter(|group| !group.is_empty()).collect()
}

pub(crate) fn generator() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(SEED)
}

fn time_to(blocks: &[Block<'_>], at: usize, quality: f64) -> TimeToQuality {
    let reached: Vec<_> = blocks
        .iter()
        .filter_map(|block| {
            let found = &block.courses[at].found;
            found.iter().find(|found| block.quality(Some(found.time_ns)) >= quality)
        })
        .collect();
    // Those that did not reach it count as later than all that did.
    let median = |of: fn(&super::Found) -> f64| {
        let mut values: Vec<f64> = reached.iter().map(|found| of(found)).collect();
        values.resize(blocks.len(), f64::MAX);
        samples::median(&values).ok().filter(|&median| median < f64::MAX / 4.0)
    };
    TimeToQuality {
        quality,
        reached: reached.len() as f64 / blocks.len().max(1) as f64,
        evaluations: median(|found| found.evaluations as f64),
        seconds: median(|found| found.seconds),
    }
}
