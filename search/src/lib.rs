//! The search: strategies propose genomes, a campaign has the most promising ones evaluated, gates judge, and
//! only what was judged is learned from.
//!
//! Nothing here reads a clock or opens a file. A [`Campaign`] is a state machine: it is asked for the next
//! [`Step`], given the answers, and emits journal events to a [`Sink`]. With the same seed and the same
//! answers it proposes the same candidates, which is how it is resumed: recorded trials are its answers.
//! [`score`] tells how good a strategy is, on spaces that others have measured.
#![forbid(unsafe_code)]

mod bandit;
mod campaign;
mod cost_model;
mod credit;
mod digest;
#[cfg(test)]
mod fuzz;
mod heuristics;
mod linear;
pub mod policy;
mod prepare;
mod ranker;
pub mod score;
mod scoreboard;
mod state;
mod strategy;
mod streams;
#[cfg(test)]
mod synthetic;

pub use bandit::{
    AreaUnderCurve, Bandit, BanditEntry, DiscountedUcb, Exp3, LinUcb, SearchContext, Thompson, Ucb, Uniform,
    bandit, bandits,
};
pub use campaign::{
    Budget, Campaign, CampaignError, CampaignParts, CampaignResult, CampaignSettings, Sink, SinkError, Step,
};
pub use cost_model::{
    BoostedTrees, CostModel, CostModelEntry, Prediction, ProgramFeatures, Ridge, Scored, SpaceFeatures,
    Table, cost_model, cost_models,
};
pub use credit::credit;
pub use heuristics::{
    Advised, Advisor, HEURISTIC_VERSION, Heuristic, HeuristicError, OperatorRecord, Remembered, advice_of,
};
pub use prepare::{ByValues, Lowering, Prepare, Prepared};
pub use ranker::{ModelRanker, ModelRankerParts, ProposalOrder, Ranked, Ranker, Skill};
pub use scoreboard::Scoreboard;
pub use state::StateError;
pub use strategy::{
    Evolution, EvolutionPolicy, EvolutionSettings, External, ExternalError, Parameters, Proposal, Strategy,
    StrategyEntry, strategies, strategy,
};
