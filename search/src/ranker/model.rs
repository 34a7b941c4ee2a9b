//! A learned cost model beside another ranker: the model is believed as far as it has ranked better what was
//! evaluated afterwards.

use std::collections::BTreeMap;

use tilewright_genome::SearchSpace;
use tilewright_ir::Schedule;
use tilewright_journal::Trial;
use tilewright_stats::Judged;

use super::{Ranked, Ranker, Skill};
use crate::cost_model::{CostModel, Prediction, ProgramFeatures, Scored, SpaceFeatures, Table};
use crate::scoreboard::Scoreboard;

/// Candidates whose features are kept until they are judged; a batch's proposals are far fewer.
const MOST_KEPT: usize = 4_096;

/// What a [`ModelRanker`] is made of.
pub struct ModelRankerParts {
    /// Where candidates come from.
    pub space: SearchSpace,
    /// What ranks as long as the model has shown no skill: the simulator, or the order of proposal.
    pub prior: Box<dyn Ranker>,
    /// What learns; it may have learned in earlier campaigns.
    pub model: Box<dyn CostModel>,
    /// What the model sees of programs beside the schedule; `None` for nothing.
    pub program: Option<Box<dyn ProgramFeatures>>,
}

/// Blends a prior ranker with a cost model. The prior's prediction is one of the model's features.
///
/// Each trial is predicted by both before the model learns from it. Weights are the squares of what each has
/// proven to know ([`Skill::proven`]), so the worse of two counts little, and one without skill nothing. While
/// the model has none, the prior's predictions are passed on unchanged.
pub struct ModelRanker {
    parts: ModelRankerParts,
    features: SpaceFeatures,
    scores: Scoreboard,
    /// Features and prior prediction of the candidates ranked since trials were last learned from.
    seen: BTreeMap<Schedule, (Vec<f32>, Option<f64>)>,
    prior_skill: Skill,
    model_skill: Skill,
}

/// Name of the feature that holds the logarithm of the prior's prediction.
const PRIOR: &str = "predicted.log2";

impl ModelRanker {
    /// A ranker that has seen no trial of this campaign.
    pub fn new(parts: ModelRankerParts) -> Self {
        Self {
            features: SpaceFeatures::of(&parts.space),
            parts,
            scores: Scoreboard::default(),
            seen: BTreeMap::new(),
            prior_skill: Skill::default(),
            model_skill: Skill::default(),
        }
    }

    /// The model, with what it has learned.
    pub fn model(&self) -> &dyn CostModel {
        self.parts.model.as_ref()
    }

    /// Weight of the model's word beside the prior's, from 0 to 1.
    pub fn trust(&self) -> f64 {
        let (model, prior) = (self.model_skill.proven().powi(2), self.prior_skill.proven().powi(2));
        if model > 0.0 { model / (model + prior) } else { 0.0 }
    }

    /// Rank correlations of the prior's and of the model's predictions with what was found afterwards.
    pub fn correlations(&self) -> (f64, f64) {
        (self.prior_skill.correlation(), self.model_skill.correlation())
    }

    fn table(&self, candidates: &[Ranked<'_>], prior: &[Option<f64>]) -> Table {
        let schedules = candidates.iter().map(|ranked| &ranked.candidate.schedule);
        let mut others = vec![PRIOR.to_owned()];
        let program = self.parts.program.as_ref();
        others.extend(program.into_iter().flat_map(|program| program.names()));
        let width = others.len();
        let mut table = Table::new(others.into(), candidates.len());
        for (value, prior) in table.column_mut(0).iter_mut().zip(prior) {
            *value = prior.map_or(f32::NAN, |time| time.log2() as f32);
        }
        for (row, ranked) in candidates.iter().enumerate() {
            let Some(values) = program.zip(ranked.program).and_then(|(program, of)| program.of(of)) else {
                continue;
            };
            for (column, value) in (1..width).zip(values) {
                table.column_mut(column)[row] = value;
            }
        }
        self.features.schedules(schedules).beside(&table)
    }

    /// Predicted times from both predictions, ns.
    fn blend(&self, trust: f64, prior: &[Option<f64>], model: &[Prediction]) -> Vec<Option<f64>> {
        let reference = self.scores.reference_ns().unwrap_or(1.0);
        // Time divided by the probability of success: what it takes to get one valid candidate as fast.
        let scores: Vec<f64> =
            model.iter().map(|said| said.score - (1.0 - said.failure).max(1e-3).ln()).collect();
        let logarithms: Vec<f64> =
            prior.iter().map(|time| time.map_or(f64::NAN, f64::ln)).filter(|time| time.is_finite()).collect();
        let (mean, deviation) = spread(&scores);
        let (prior_mean, prior_deviation) = spread(&logarithms);
        let blended = scores.iter().zip(prior).map(|(score, prior)| {
            // The prior's logarithm moved to where the model's scores are.
            let moved = prior
                .map(f64::ln)
                .filter(|time| time.is_finite())
                .map(|time| mean + deviation * (time - prior_mean) / prior_deviation.max(f64::MIN_POSITIVE));
            let score = moved.map_or(*score, |moved| trust * score + (1.0 - trust) * moved);
            Some(reference * score.exp())
        });
        blended.collect()
    }
}

/// Mean and standard deviation; 0 for nothing.
fn spread(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

impl Ranker for ModelRanker {
    fn rank(&mut self, candidates: &[Ranked<'_>]) -> Vec<Option<f64>> {
        let prior = self.parts.prior.rank(candidates);
        let table = self.table(candidates, &prior);
        if self.seen.len() + candidates.len() > MOST_KEPT {
            self.seen.clear();
        }
        for (row, (ranked, &prior)) in candidates.iter().zip(&prior).enumerate() {
            self.seen.insert(ranked.candidate.schedule.clone(), (table.row(row), prior));
        }
        let trust = self.trust();
        match self.parts.model.predict(&table) {
            Some(model) if trust > 0.0 => self.blend(trust, &prior, &model),
            _ => prior,
        }
    }

    fn learn(&mut self, judged: &[Judged<Trial>]) {
        self.parts.prior.learn(judged);
        let names = self.names();
        let mut table = Table::new(names, judged.len());
        let mut scored = Vec::with_capacity(judged.len());
        for (row, judged) in judged.iter().enumerate() {
            let schedule = &judged.subject().candidate.schedule;
            let score = self.scores.place(judged);
            let (features, prior) = match self.seen.get(schedule) {
                Some(known) => known.clone(),
                None => (self.features.schedules([schedule]).row(0), None),
            };
            for (column, value) in features.into_iter().enumerate() {
                table.column_mut(column)[row] = value;
            }
            if let Some((prior, score)) = prior.zip(score) {
                self.prior_skill.note(prior.ln(), score);
            }
            scored.push(Scored { judged, score });
        }
        if let Some(predictions) = self.parts.model.predict(&table) {
            for (prediction, scored) in predictions.iter().zip(&scored) {
                if let Some(score) = scored.score {
                    self.model_skill.note(prediction.score, score);
                }
            }
        }
        self.parts.model.update(&table, &scored);
        self.seen.clear();
    }

    fn discriminates(&self) -> bool {
        self.trust() > 0.0 || self.parts.prior.discriminates()
    }
}

impl ModelRanker {
    /// Names of all features, in the order of [`ModelRanker::table`].
    fn names(&self) -> std::sync::Arc<[String]> {
        let program = self.parts.program.iter().flat_map(|program| program.names());
        self.features.names().iter().cloned().chain([PRIOR.to_owned()]).chain(program).collect()
    }
}
