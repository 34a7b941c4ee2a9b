use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

use super::edit::{Edit, edits};
use super::experience::Experience;
use super::features::{self, FEATURES, NAMES, STATE, View};
use super::network::{self, WEIGHTS};
use crate::digest;

/// Version of the form that policies are stored in, and of what their features mean.
const VERSION: u32 = 1;

/// Weights of a policy over edits, and of the baseline that its results are compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub(super) weights: Vec<f64>,
    /// Linear in the features of the state.
    pub(super) baseline: Vec<f64>,
}

/// Why a stored policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// It is not JSON of this form.
    #[error("no stored policy: {0}")]
    Unreadable(String),
    /// It is of another version.
    #[error("the policy has version {found}, this program reads {VERSION}; train it anew")]
    Version {
        /// Its version.
        found: u32,
    },
    /// It was trained on other features.
    #[error("the policy has other features than this program; train it anew")]
    Features,
    /// A number is missing, not finite, or not the one that was written.
    #[error("the policy is damaged: {0}")]
    Damaged(&'static str),
}

/// The form that policies are stored in.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    version: u32,
    features: Vec<String>,
    weights: Vec<f64>,
    baseline: Vec<f64>,
    /// FNV-1a of all numbers, hexadecimal.
    digest: String,
}

/// An edit that was chosen, with what is needed to learn from it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub(super) edit: Edit,
    pub(super) genome: Genome,
    pub(super) state: [f64; STATE],
    /// Of the logarithm of its probability; empty when not asked for.
    pub(super) gradient: Vec<f64>,
    /// −ln(probability) over the logarithm of the number of edits: 1 where all are alike.
    pub(super) surprise: f64,
}

impl Policy {
    /// A policy that prefers nothing: all edits are alike.
    pub fn untrained(rng: &mut dyn Rng) -> Self {
        Self { weights: network::untrained(rng), baseline: vec![0.0; STATE] }
    }

    /// As JSON with version, names of the features and digest.
    ///
    /// # Errors
    /// When a weight is not finite.
    pub fn to_json(&self) -> Result<String, PolicyError> {
        if !self.is_finite() {
            return Err(PolicyError::Damaged("a weight is not finite"));
        }
        let stored = Stored {
            version: VERSION,
            features: NAMES.iter().map(|&name| name.to_owned()).collect(),
            weights: self.weights.clone(),
            baseline: self.baseline.clone(),
            digest: self.digest(),
        };
        serde_json::to_string_pretty(&stored).map_err(|error| PolicyError::Unreadable(error.to_string()))
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// When it is of another version or damaged.
    pub fn from_json(text: &str) -> Result<Self, PolicyError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let unreadable = |error: serde_json::Error| PolicyError::Unreadable(error.to_string());
        let Version { version } = serde_json::from_str(text).map_err(unreadable)?;
        if version != VERSION {
            return Err(PolicyError::Version { found: version });
        }
        let stored: Stored = serde_json::from_str(text).map_err(unreadable)?;
        if stored.features != NAMES {
            return Err(PolicyError::Features);
        }
        let policy = Self { weights: stored.weights, baseline: stored.baseline };
        if policy.weights.len() != WEIGHTS || policy.baseline.len() != STATE {
            return Err(PolicyError::Damaged("weights are missing"));
        }
        if !policy.is_finite() {
            return Err(PolicyError::Damaged("a weight is not finite"));
        }
        if policy.digest() != stored.digest {
            return Err(PolicyError::Damaged("its digest is another"));
        }
        Ok(policy)
    }

    fn is_finite(&self) -> bool {
        self.weights.iter().chain(&self.baseline).all(|weight| weight.is_finite())
    }

    fn digest(&self) -> String {
        let numbers = self.weights.iter().chain(&self.baseline);
        let digest = numbers
            .fold(digest::EMPTY, |digest, number| digest::extend(digest, &number.to_bits().to_le_bytes()));
        format!("{digest:016x}")
    }

    /// What edits chosen in this state are expected to earn.
    pub(super) fn expected(&self, state: &[f64; STATE]) -> f64 {
        self.baseline.iter().zip(state).map(|(weight, feature)| weight * feature).sum()
    }

    /// Draws one edit; `None` where it leads nowhere, or to a genome that is not new. It is not drawn again: the
    /// search goes on from another parent, or the neighbours of the best would be tried one and all.
    pub(super) fn choose(
        &self,
        view: &View<'_>,
        experience: &Experience,
        is_new: &dyn Fn(&Genome) -> bool,
        learns: bool,
        rng: &mut dyn Rng,
    ) -> Option<Choice> {
        let state = features::state(&view.context, experience);
        let edits = edits(view.space, view.genome, view.donor, rng);
        let rows: Vec<[f64; FEATURES]> =
            edits.iter().map(|edit| features::edit(view, experience, &state, edit)).collect();
        let preferences: Vec<f64> = rows.iter().map(|row| network::preference(&self.weights, row)).collect();
        let probabilities = network::softmax(&preferences);
        let at = draw(&probabilities, rng)?;
        let genome = edits[at].apply(view.space, view.genome, rng).filter(|genome| is_new(genome))?;
        let gradient =
            if learns { network::log_gradient(&self.weights, &rows, &probabilities, at) } else { Vec::new() };
        let all = (edits.len() as f64).ln();
        let surprise = if all > 0.0 { -probabilities[at].ln() / all } else { 0.0 };
        Some(Choice { edit: edits[at], genome, state, gradient, surprise })
    }

    /// Weight of a feature in the linear part.
    #[cfg(test)]
    pub(super) fn weight_of(&self, name: &str) -> f64 {
        self.weights[NAMES.iter().position(|known| *known == name).unwrap()]
    }
}

/// A place, drawn with these probabilities; `None` of none.
fn draw(probabilities: &[f64], rng: &mut dyn Rng) -> Option<usize> {
    let mut left = rng.random::<f64>();
    let found = probabilities.iter().position(|probability| {
        left -= probability;
        left < 0.0
    });
    found.or(probabilities.len().checked_sub(1))
}
