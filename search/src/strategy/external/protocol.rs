//! The lines that an external proposer and the search exchange: one JSON object a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tilewright_genome::{SearchSpace, Values};
use tilewright_ir::ScheduleValue;
use tilewright_journal::Trial;
use tilewright_stats::Judged;

/// Values of a schedule's parameters by name.
pub type Parameters = BTreeMap<String, ScheduleValue>;

/// What the search says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(super) enum Request {
    /// First of all: what there is to choose from. No answer is expected.
    Space {
        /// Version of these lines, [`VERSION`].
        version: u32,
        genes: Vec<GeneLine>,
        /// A point to begin with.
        default: Parameters,
    },
    /// Wants up to `count` points; the answer is one [`Reply`].
    Ask {
        count: usize,
        /// For all random draws behind the answer.
        seed: u64,
        /// What was wrong with earlier answers.
        refused: Vec<Refused>,
    },
    /// What became of points, proposed by the program or not. No answer is expected.
    Tell { trials: Vec<TrialLine> },
}

/// Version of the protocol.
pub(super) const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GeneLine {
    name: String,
    /// Whether neighbouring values are alike.
    ordered: bool,
    values: Vec<ScheduleValue>,
}

/// A proposal that is not evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Refused {
    pub(super) parameters: Parameters,
    pub(super) reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TrialLine {
    trial: u64,
    parameters: Parameters,
    /// Median time of a launch, ns; absent for a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_ns: Option<f64>,
    /// Kind of failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// What the program answers to [`Request::Ask`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply {
    pub(super) proposals: Vec<Parameters>,
}

impl Request {
    pub(super) fn space(space: &SearchSpace) -> Self {
        let genes = space
            .genes()
            .iter()
            .map(|gene| GeneLine {
                name: gene.name.clone(),
                ordered: gene.is_ordered(),
                values: match &gene.values {
                    Values::Ordered(numbers) => numbers.iter().copied().map(ScheduleValue::Number).collect(),
                    Values::Categorical(names) => names.iter().cloned().map(ScheduleValue::Name).collect(),
                },
            })
            .collect();
        let default = space.decode(space.default_genome()).map(|schedule| schedule.parameters);
        Self::Space { version: VERSION, genes, default: default.unwrap_or_default() }
    }

    pub(super) fn tell(judged: &[Judged<Trial>]) -> Self {
        let trials = judged
            .iter()
            .map(Judged::subject)
            .map(|trial| TrialLine {
                trial: trial.index,
                parameters: trial.candidate.schedule.parameters.clone(),
                time_ns: trial.outcome.as_ref().ok().map(|measurement| measurement.median_ns),
                failure: trial.outcome.as_ref().err().map(|error| error.kind().to_owned()),
            })
            .collect();
        Self::Tell { trials }
    }
}
