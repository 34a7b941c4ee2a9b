//! CMA-ES on the ordered genes: a normal distribution that learns from the better half of each generation
//! where to go, how far, and which genes change together. Choices are inherited from the better half of the
//! last generation, or drawn anew.
//!
//! Hansen 2016, "The CMA evolution strategy: a tutorial"; draws by Cholesky's factor after Krause, Arbonès &
//! Igel 2016; a least width for every gene, since values are discrete, after Hamano et al. 2022, "CMA-ES with
//! margin". It starts anew when it has become too narrow.

mod gaussian;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

use super::Proposal;
use super::axes::Axis;
use super::memory::{Observation, by_score};
use super::pending::Pending;
use super::searcher::{Context, Method};
use gaussian::{Draw, Gaussian};

/// First deviation, in lengths of a dimension.
const WIDEST: f64 = 0.3;
/// Probability that a choice is drawn anew.
const REDRAW: f64 = 0.15;
/// Least width of a gene, in steps between its values.
const NARROWEST: f64 = 0.3;
/// Generations without an improvement before it starts anew.
const PATIENCE: usize = 12;
/// Known points that one proposal may draw: they teach without an evaluation.
const MOST_KNOWN: u32 = 64;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CmaEs {
    gaussian: Option<Gaussian>,
    /// Draws that wait for their judgement, with the number of their start.
    draws: Pending<(u64, Draw)>,
    judged: Vec<(Draw, Observation)>,
    /// The better half of the last generation, for choices.
    parents: Vec<Observation>,
    starts: u64,
    best: Option<f64>,
    in_vain: usize,
}

fn ordered(context: Context<'_>) -> Vec<Axis> {
    context.axes.iter().filter(|axis| axis.ordered).copied().collect()
}

impl CmaEs {
    /// Begins at the best point known, or elsewhere from the second start on.
    fn start(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<()> {
        let best = context.memory.best()?;
        let from =
            if self.starts.is_multiple_of(2) { best.genome.clone() } else { context.space.sample(rng) };
        let mean = ordered(context).iter().map(|axis| axis.place(from.0[axis.gene])).collect();
        self.gaussian = Some(Gaussian::new(mean, WIDEST));
        self.starts += 1;
        self.judged.clear();
        self.parents = vec![best.clone()];
        self.best = None;
        self.in_vain = 0;
        Some(())
    }

    /// Learns from a generation once it is whole.
    fn end_of_generation(&mut self, context: Context<'_>) {
        let Some(gaussian) = &mut self.gaussian else { return };
        if self.judged.len() < gaussian.generation() {
            return;
        }
        let mut judged = std::mem::take(&mut self.judged);
        judged.sort_by(|first, second| by_score(first.1.score, second.1.score));
        let narrowest: Vec<f64> =
            ordered(context).iter().map(|axis| NARROWEST / (axis.values - 1) as f64).collect();
        let best = judged[0].1.score;
        let (draws, mut parents): (Vec<Draw>, Vec<Observation>) = judged.into_iter().unzip();
        parents.truncate(parents.len().div_ceil(2));
        self.parents = parents;
        gaussian.learn(&draws, &narrowest);
        let improved = best.is_some_and(|best| self.best.is_none_or(|before| best < before));
        self.in_vain = if improved { 0 } else { self.in_vain + 1 };
        self.best = if improved { best } else { self.best };
        let narrow = narrowest.iter().enumerate().all(|(at, &least)| gaussian.width(at) <= 1.5 * least);
        if narrow || self.in_vain >= PATIENCE {
            self.gaussian = None;
        }
    }

    /// A genome at a place, with choices from a parent.
    fn genome(&self, context: Context<'_>, place: &[f64], rng: &mut dyn Rng) -> Option<Genome> {
        let parent = &self.parents.get(rng.random_range(0..self.parents.len().max(1)))?.genome;
        let mut places = place.iter();
        let mut genes = Vec::with_capacity(context.axes.len());
        for axis in context.axes.iter() {
            if axis.ordered {
                genes.push((axis.gene, axis.index(*places.next()?)));
            } else if rng.random::<f64>() >= REDRAW {
                genes.push((axis.gene, parent.0[axis.gene]));
            }
        }
        context.axes.complete(context.space, genes.into_iter(), rng)
    }
}

impl Method for CmaEs {
    const ID: &'static str = "cma-es";
    const SUMMARY: &'static str = "CMA-ES on the ordered genes";
    const DESIGN: usize = 10;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        if context.axes.iter().all(|axis| !axis.ordered) {
            return None;
        }
        for _ in 0..MOST_KNOWN {
            if self.gaussian.is_none() {
                self.start(context, rng)?;
            }
            let (draw, place) = self.gaussian.as_ref()?.draw(rng);
            let Some(genome) = self.genome(context, &place, rng) else { continue };
            if let Some(known) = context.memory.observation(&genome) {
                self.judged.push((draw, known));
                self.end_of_generation(context);
            } else if context.memory.is_new(&genome) {
                self.draws.note(genome.clone(), (self.starts, draw));
                let parent = self.parents.first().map(|parent| parent.trial);
                return Some(Proposal { genome, operator: Some("draw".to_owned()), parent });
            }
        }
        None
    }

    fn learn(&mut self, context: Context<'_>, observation: &Observation) {
        if let Some((start, draw)) = self.draws.take(&observation.genome)
            && start == self.starts
            && self.gaussian.is_some()
        {
            self.judged.push((draw, observation.clone()));
            self.end_of_generation(context);
        }
    }
}
