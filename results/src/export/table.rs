use std::collections::BTreeSet;

use tilewright_ir::ScheduleValue;
use tilewright_journal::{Trial, TrialFinished};

use crate::Campaign;

/// Columns of equal length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// In order; their names differ.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Values,
}

/// Values of one type; `None` is what does not apply.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Whole numbers from 0 on.
    Counts(Vec<Option<u64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<String>>),
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Counts(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Adds a column of whole numbers.
    #[must_use]
    pub fn counts(self, name: &str, values: impl IntoIterator<Item = Option<u64>>) -> Self {
        self.with(name, Values::Counts(values.into_iter().collect()))
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn numbers(self, name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.with(name, Values::Numbers(values.into_iter().collect()))
    }

    /// Adds a column of texts.
    #[must_use]
    pub fn texts(self, name: &str, values: impl IntoIterator<Item = Option<String>>) -> Self {
        self.with(name, Values::Texts(values.into_iter().collect()))
    }

    fn with(mut self, name: &str, values: Values) -> Self {
        self.columns.push(Column { name: name.to_owned(), values });
        self
    }

    /// One row a trial: what it was, what became of it, and its parameters in columns `schedule.NAME`. Times are
    /// in ns, rates in 10⁹ operations a second.
    pub fn of_trials(campaign: &Campaign) -> Self {
        let finished = || campaign.trials.iter();
        let trials = || finished().map(|finished| &finished.trial);
        let measured = || trials().map(|trial| trial.outcome.as_ref().ok());
        let verdicts = || finished().map(|finished| Some(&finished.judgement.as_ref()?.verdict));
        let table = Self::default()
            .counts("trial", trials().map(|trial| Some(trial.index)))
            .texts("outcome", trials().map(|trial| Some(trial.outcome_kind().to_owned())))
            .texts("fidelity", trials().map(|trial| Some(lower(&trial.provenance.fidelity))))
            .numbers("median_ns", measured().map(|measured| Some(measured?.median_ns)))
            .numbers("low_ns", measured().map(|measured| Some(measured?.interval_ns?.low)))
            .numbers("high_ns", measured().map(|measured| Some(measured?.interval_ns?.high)))
            .numbers("p99_ns", measured().map(|measured| measured?.p99_ns))
            .numbers("gflops", measured().map(|measured| Some(campaign.gflops(measured?.median_ns))))
            .texts("decision", verdicts().map(|verdict| Some(lower(&verdict?.kind))))
            .numbers("ratio", verdicts().map(|verdict| verdict?.ratio))
            .numbers("predicted_ns", trials().map(|trial| trial.provenance.predicted_ns))
            .texts("strategy", trials().map(|trial| Some(trial.provenance.strategy.clone())))
            .texts("operator", trials().map(|trial| trial.provenance.operator.clone()))
            .counts("parent", trials().map(|trial| trial.provenance.parent))
            .texts("program", trials().map(|trial| trial.program_hash.clone()))
            .numbers("at_seconds", trials().map(|trial| Some(trial.at_ns as f64 / 1e9)))
            .texts("detail", trials().map(|trial| trial.outcome.as_ref().err().map(ToString::to_string)));
        parameters(&campaign.trials).into_iter().fold(table, |table, name| {
            let values: Vec<Option<&ScheduleValue>> = trials().map(|trial| value(trial, name)).collect();
            let column = format!("schedule.{name}");
            if values.iter().flatten().all(|value| matches!(value, ScheduleValue::Number(_))) {
                table.counts(&column, values.into_iter().map(|value| number(value?)))
            } else {
                table.texts(&column, values.into_iter().map(|value| Some(value?.to_string())))
            }
        })
    }
}

/// Names of all parameters that a trial has.
pub(super) fn parameters(trials: &[TrialFinished]) -> BTreeSet<&str> {
    let names = trials.iter().flat_map(|finished| finished.trial.candidate.schedule.parameters.keys());
    names.map(String::as_str).collect()
}

/// The value of a trial's parameter.
pub(super) fn value<'a>(trial: &'a Trial, name: &str) -> Option<&'a ScheduleValue> {
    trial.candidate.schedule.parameters.get(name)
}

/// The number that a value is.
pub(super) fn number(value: &ScheduleValue) -> Option<u64> {
    match value {
        ScheduleValue::Number(number) => Some(*number),
        ScheduleValue::Name(_) => None,
    }
}

/// The name of a unit variant as the journal writes it.
fn lower(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}
