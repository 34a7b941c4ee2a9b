//! Optuna's journal storage: one JSON object a line, each an operation
//! (<https://github.com/optuna/optuna/blob/master/optuna/storages/journal/_storage.py>).

use std::collections::BTreeMap;
use std::io::{self, Write};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use tilewright_ir::ScheduleValue;
use tilewright_journal::Trial;

use super::table::{number, parameters, value};
use crate::Campaign;

/// Operations of the journal.
const CREATE_STUDY: u32 = 0;
const SET_STUDY_USER_ATTRIBUTE: u32 = 2;
const CREATE_TRIAL: u32 = 4;
/// Direction of a study.
const MINIMISE: u32 = 1;
/// States of a trial.
const COMPLETE: u32 = 1;
const FAILED: u32 = 3;

/// Writes a campaign as a study named by its workload, for Optuna's `JournalStorage` and what builds on it.
///
/// The value of a trial is its median time, ns, to be minimised; how one failed is among its attributes. A
/// parameter without effect is absent from a trial. The ranges of parameters are those that the trials have.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_optuna_journal(campaign: &Campaign, out: &mut dyn Write) -> io::Result<()> {
    let started = &campaign.started;
    let mut line = |operation: u32, fields: Value| {
        let mut whole = json!({ "op_code": operation, "worker_id": "tilewright" });
        if let (Value::Object(whole), Value::Object(fields)) = (&mut whole, fields) {
            whole.extend(fields);
        }
        writeln!(out, "{whole}")
    };
    line(CREATE_STUDY, json!({ "study_name": started.subject.to_string(), "directions": [MINIMISE] }))?;
    for (name, text) in [
        ("unit", json!("ns, median time of a launch")),
        ("processor", json!(started.host.processor)),
        ("strategy", json!(started.request.strategy)),
        ("seed", json!(started.request.seed)),
        ("tool", json!(started.tool)),
    ] {
        line(SET_STUDY_USER_ATTRIBUTE, json!({ "study_id": 0, "user_attr": { name: text } }))?;
    }
    let distributions = distributions(campaign);
    let start: Option<Timestamp> = started.started.parse().ok();
    for trial in campaign.trials.iter().map(|finished| &finished.trial) {
        let date = |at_ns: u64| {
            let at = start?.checked_add(SignedDuration::from_nanos(i64::try_from(at_ns).ok()?)).ok()?;
            Some(at.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string())
        };
        let time_ns = trial.outcome.as_ref().ok().map(|measurement| measurement.median_ns);
        let present = distributions.iter().filter_map(|(&name, of)| Some((name, of, value(trial, name)?)));
        let (mut ranges, mut values) = (Map::new(), Map::new());
        for (name, distribution, value) in present {
            ranges.insert(name.to_owned(), json!(distribution.text));
            values.insert(name.to_owned(), distribution.internal(value));
        }
        let mut fields = json!({
            "study_id": 0,
            "state": if time_ns.is_some() { COMPLETE } else { FAILED },
            "value": time_ns,
            "values": null,
            "datetime_start": date(trial.at_ns - trial.elapsed_ns.min(trial.at_ns)),
            "distributions": ranges,
            "params": values,
            "user_attrs": attributes(trial),
            "system_attrs": {},
            "intermediate_values": {},
        });
        // A finished trial without a date of its end is left out of Optuna's charts over time.
        if let Some(end) = date(trial.at_ns) {
            fields["datetime_complete"] = json!(end);
        }
        line(CREATE_TRIAL, fields)?;
    }
    Ok(())
}

fn attributes(trial: &Trial) -> Map<String, Value> {
    let mut attributes = Map::new();
    let mut note = |name: &str, value: Option<Value>| {
        attributes.extend(value.map(|value| (name.to_owned(), value)));
    };
    note("outcome", Some(json!(trial.outcome_kind())));
    note("detail", trial.outcome.as_ref().err().map(|error| json!(error.to_string())));
    note("operator", trial.provenance.operator.as_ref().map(|operator| json!(operator)));
    note("parent", trial.provenance.parent.map(|parent| json!(parent)));
    note("predicted_ns", trial.provenance.predicted_ns.map(|predicted| json!(predicted)));
    note("program", trial.program_hash.as_ref().map(|program| json!(program)));
    attributes
}

/// The values that a parameter has.
struct Distribution {
    /// As Optuna writes it.
    text: String,
    /// The choices; `None` for whole numbers.
    choices: Option<Vec<ScheduleValue>>,
}

impl Distribution {
    fn of(mut values: Vec<ScheduleValue>) -> Self {
        values.sort();
        values.dedup();
        let numbers: Option<Vec<u64>> = values.iter().map(number).collect();
        let named =
            |name: &str, attributes: Value| json!({ "name": name, "attributes": attributes }).to_string();
        if let Some([low, .., high] | [low @ high]) = numbers.as_deref() {
            let attributes = json!({ "log": false, "step": 1, "low": low, "high": high });
            Self { text: named("IntDistribution", attributes), choices: None }
        } else {
            let choices: Vec<String> = values.iter().map(ToString::to_string).collect();
            let text = named("CategoricalDistribution", json!({ "choices": choices }));
            Self { text, choices: Some(values) }
        }
    }

    /// How Optuna keeps a value: a choice by its position.
    fn internal(&self, value: &ScheduleValue) -> Value {
        match &self.choices {
            Some(choices) => json!(choices.iter().position(|choice| choice == value)),
            None => json!(number(value)),
        }
    }
}

fn distributions(campaign: &Campaign) -> BTreeMap<&str, Distribution> {
    let all = |name| campaign.trials.iter().filter_map(move |finished| value(&finished.trial, name).cloned());
    parameters(&campaign.trials)
        .into_iter()
        .map(|name| (name, Distribution::of(all(name).collect())))
        .collect()
}
