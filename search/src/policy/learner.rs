//! A policy at work in one search: chooses, and learns from what was judged.

use std::collections::VecDeque;

use rand::Rng;
use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

use super::edit::EditKind;
use super::experience::{EditResult, Experience};
use super::features::{STATE, View};
use super::model::Policy;

/// Proposals that are remembered until they are judged; a ranker may leave most of them out.
const MOST_OPEN: usize = 256;
/// Step of the baseline towards what was earned.
const BASELINE_RATE: f64 = 0.05;
/// Length beyond which a gradient is shortened: no single result may turn a policy over.
const LONGEST: f64 = 2.0;

/// What becomes of a policy during a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Learning {
    /// It stays as it is.
    Frozen,
    /// A step of policy gradient follows each judged proposal, this long.
    Online {
        /// Factor of gradient times advantage.
        rate: f64,
    },
    /// It stays as it is, and what a trainer needs is kept.
    Recorded,
}

/// A proposal that is not judged yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Open {
    genome: Genome,
    gene: u16,
    kind: EditKind,
    direction: f64,
    step: Step,
}

/// An edit that was chosen, and what it earned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) state: [f64; STATE],
    pub(super) gradient: Vec<f64>,
    pub(super) surprise: f64,
    pub(super) earned: f64,
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Learner {
    policy: Policy,
    learning: Learning,
    experience: Experience,
    open: VecDeque<Open>,
    episode: Vec<Step>,
}

/// What became of a judged trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judgement<'a> {
    pub(crate) genome: &'a Genome,
    /// Logarithm of its time on the search's scale; `None` for a failure.
    pub(crate) score: Option<f64>,
    /// Logarithm of its parent's time over its own, where both are known.
    pub(crate) gain: Option<f64>,
    /// What its operator earned, from 0 to 1.
    pub(crate) credit: f64,
}

impl Learner {
    pub(crate) fn new(policy: Policy, learning: Learning) -> Self {
        Self {
            policy,
            learning,
            experience: Experience::default(),
            open: VecDeque::new(),
            episode: Vec::new(),
        }
    }

    /// A changed genome which `is_new`, and how it was changed.
    pub(crate) fn propose(
        &mut self,
        view: &View<'_>,
        is_new: &dyn Fn(&Genome) -> bool,
        rng: &mut dyn Rng,
    ) -> Option<(Genome, EditKind)> {
        let learns = self.learning != Learning::Frozen;
        let choice = self.policy.choose(view, &self.experience, is_new, learns, rng)?;
        let edit = choice.edit;
        self.open.push_back(Open {
            genome: choice.genome.clone(),
            gene: edit.gene as u16,
            kind: edit.kind,
            direction: edit.direction(&view.space.genes()[edit.gene], view.genome.0[edit.gene]),
            step: Step {
                state: choice.state,
                gradient: choice.gradient,
                surprise: choice.surprise,
                earned: 0.0,
            },
        });
        if self.open.len() > MOST_OPEN {
            self.open.pop_front();
        }
        Some((choice.genome, edit.kind))
    }

    /// Learns from a judged trial, which may be one that it did not propose.
    pub(crate) fn learn(&mut self, judgement: &Judgement<'_>) {
        self.experience.note_point(judgement.genome, judgement.score);
        let Some(at) = self.open.iter().position(|open| open.genome == *judgement.genome) else { return };
        let Some(open) = self.open.remove(at) else { return };
        self.experience.note_edit(EditResult {
            gene: open.gene,
            kind: open.kind,
            direction: open.direction,
            credit: judgement.credit,
            gain: judgement.gain,
        });
        let step = Step { earned: judgement.credit, ..open.step };
        match self.learning {
            Learning::Frozen => {}
            Learning::Online { rate } => self.policy.follow(&step, rate),
            Learning::Recorded => self.episode.push(step),
        }
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The steps of a recorded search, in the order of their judgement.
    pub(super) fn into_episode(self) -> Vec<Step> {
        self.episode
    }
}

impl Policy {
    /// One step of REINFORCE with a learned baseline: weights move along the gradient of what was chosen, by
    /// how much more it earned than was expected.
    fn follow(&mut self, step: &Step, rate: f64) {
        let advantage = step.earned - self.expected(&step.state);
        let length = step.gradient.iter().map(|derivative| derivative * derivative).sum::<f64>().sqrt();
        let factor = rate * advantage * (LONGEST / length.max(LONGEST));
        for (weight, derivative) in self.weights.iter_mut().zip(&step.gradient) {
            *weight += factor * derivative;
        }
        for (weight, feature) in self.baseline.iter_mut().zip(&step.state) {
            *weight += BASELINE_RATE * advantage * feature;
        }
    }
}
