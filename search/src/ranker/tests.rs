use std::sync::atomic::AtomicBool;

use tilewright_journal::Event;

use super::*;
use crate::synthetic::{self, Landscape, SyntheticRunner, TimeOf};
use crate::{Budget, Campaign, CampaignSettings, SinkError, cost_models, strategy};

/// Knows the landscape.
struct Oracle;

impl Ranker for Oracle {
    fn rank(&mut self, candidates: &[Ranked<'_>]) -> Vec<Option<f64>> {
        candidates.iter().map(|ranked| Some(Landscape.time_of(&ranked.candidate.schedule))).collect()
    }
}

/// Says the opposite of what is true.
struct Wrong;

impl Ranker for Wrong {
    fn rank(&mut self, candidates: &[Ranked<'_>]) -> Vec<Option<f64>> {
        Oracle.rank(candidates).into_iter().map(|time| time.map(|time| 1e9 / time)).collect()
    }
}

/// True time of what random search finds in 120 trials.
fn found(ranker: Box<dyn Ranker>, seed: u64) -> f64 {
    let budget = Budget { trials: Some(120), time_ns: None, plateau: None };
    let settings = CampaignSettings { seed, budget, ns_per_proposal: 1_000, ..CampaignSettings::default() };
    let mut parts = synthetic::parts((strategy("random").unwrap().create)());
    parts.ranker = ranker;
    let mut best = f64::INFINITY;
    let mut sink = |event: &Event| -> Result<(), SinkError> {
        if let Event::TrialFinished(finished) = event {
            best = best.min(Landscape.time_of(&finished.trial.candidate.schedule));
        }
        Ok(())
    };
    let mut runner = SyntheticRunner::default();
    Campaign::new(settings, parts).run(&mut runner, &mut sink, &AtomicBool::new(false)).unwrap();
    best
}

/// Mean logarithm of the time found by a prior alone over that found with a model beside it.
fn gain_of_a_model(prior: fn() -> Box<dyn Ranker>) -> f64 {
    let gains = (0..6).map(|seed| {
        let model = ModelRanker::new(ModelRankerParts {
            space: synthetic::space(),
            prior: prior(),
            model: (cost_models()[0].create)(seed),
            program: None,
        });
        (found(prior(), seed) / found(Box::new(model), seed)).ln()
    });
    gains.sum::<f64>() / 6.0
}

#[test]
fn a_learned_model_helps_beside_a_prior_that_knows_nothing_and_does_no_harm_beside_one_that_knows_all() {
    let alone = gain_of_a_model(|| Box::new(ProposalOrder));
    assert!(alone > 0.05, "{alone}");
    let beside = gain_of_a_model(|| Box::new(Wrong));
    assert!(beside > 0.05, "{beside}");
    let good = gain_of_a_model(|| Box::new(Oracle));
    assert!(good > -0.01, "{good}");
}
