//! Which schedule parameters matter.
//!
//! For each parameter the trials are grouped by its value (numbers with many values: by eighths of the
//! trials), and the share of the variance of log time that the groups explain is estimated by
//! `ε² = (S_between − (g − 1)·m_within) / S_total` with `m_within = S_within / (n − g)`, at least 0
//! (Kelley 1935, "An unbiased correlation ratio measure"; unlike η² it does not grow with the number of
//! groups). Parameters are looked at one by one: what only two of them decide together is not seen, and a
//! search that had settled on a value early leaves little to see.

use std::collections::BTreeMap;

use tilewright_ir::ScheduleValue;

use crate::Campaign;

/// How much one parameter explains.
#[derive(Debug, Clone, PartialEq)]
pub struct Importance {
    /// Its name.
    pub parameter: String,
    /// Share of the variance of log time, in [0, 1].
    pub share: f64,
    /// Groups of values, at least 2.
    pub groups: usize,
    /// Values of the group with the lowest geometric mean time.
    pub best: String,
    /// Geometric mean time of the worst group over that of the best, at least 1.
    pub spread: f64,
}

/// A group with fewer trials says too little about its value.
const LEAST_IN_GROUP: usize = 3;
/// Groups that a number with many values is cut into.
const QUANTILES: usize = 8;

/// The importance of every parameter that varies, highest first.
pub fn importance(campaign: &Campaign) -> Vec<Importance> {
    let trials: Vec<_> = campaign
        .timed()
        .map(|(trial, median_ns)| (&trial.candidate.schedule.parameters, median_ns.ln()))
        .collect();
    importance_of(&trials)
}

/// The importance of every parameter that varies, from parameters and log time of each trial.
pub fn importance_of(trials: &[(&BTreeMap<String, ScheduleValue>, f64)]) -> Vec<Importance> {
    let mut names: Vec<&String> = trials.iter().flat_map(|(parameters, _)| parameters.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let mut found: Vec<Importance> = names
        .into_iter()
        .filter_map(|name| {
            let values: Vec<_> =
                trials.iter().map(|(parameters, log)| (parameters.get(name), *log)).collect();
            explain(name, &values)
        })
        .collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.parameter.cmp(&b.parameter)));
    found
}

fn explain(name: &str, values: &[(Option<&ScheduleValue>, f64)]) -> Option<Importance> {
    let groups: Vec<(String, Vec<f64>)> =
        group(values).into_iter().filter(|(_, logs)| logs.len() >= LEAST_IN_GROUP).collect();
    let count: usize = groups.iter().map(|(_, logs)| logs.len()).sum();
    if groups.len() < 2 || count <= groups.len() {
        return None;
    }
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    let grand = groups.iter().flat_map(|(_, logs)| logs).sum::<f64>() / count as f64;
    let (mut between, mut within) = (0.0, 0.0);
    for (_, logs) in &groups {
        let middle = mean(logs);
        between += logs.len() as f64 * (middle - grand).powi(2);
        within += logs.iter().map(|log| (log - middle).powi(2)).sum::<f64>();
    }
    let within_mean = within / (count - groups.len()) as f64;
    let share = (between - (groups.len() - 1) as f64 * within_mean) / (between + within);
    if !share.is_finite() {
        return None;
    }
    let by_mean = |a: &&(String, Vec<f64>), b: &&(String, Vec<f64>)| mean(&a.1).total_cmp(&mean(&b.1));
    let (best, worst) = (groups.iter().min_by(by_mean)?, groups.iter().max_by(by_mean)?);
    Some(Importance {
        parameter: name.to_owned(),
        share: share.clamp(0.0, 1.0),
        groups: groups.len(),
        best: best.0.clone(),
        spread: (mean(&worst.1) - mean(&best.1)).exp(),
    })
}

/// Log times by value, in order of value; an absent parameter is a value of its own.
fn group(values: &[(Option<&ScheduleValue>, f64)]) -> Vec<(String, Vec<f64>)> {
    let mut by_value: BTreeMap<Option<&ScheduleValue>, Vec<f64>> = BTreeMap::new();
    for (value, log) in values {
        by_value.entry(*value).or_default().push(*log);
    }
    if by_value.len() <= QUANTILES {
        let name = |value: Option<&ScheduleValue>| value.map_or("default".to_owned(), ToString::to_string);
        return by_value.into_iter().map(|(value, logs)| (name(value), logs)).collect();
    }
    // Neighbouring values together until a group has its eighth of the trials.
    let target = values.len().div_ceil(QUANTILES);
    let mut groups: Vec<(Option<&ScheduleValue>, Option<&ScheduleValue>, Vec<f64>)> = Vec::new();
    for (value, logs) in by_value {
        match groups.last_mut() {
            Some((_, last, group)) if group.len() < target => {
                *last = value;
                group.extend(logs);
            }
            _ => groups.push((value, value, logs)),
        }
    }
    let name = |value: Option<&ScheduleValue>| value.map_or("default".to_owned(), ToString::to_string);
    groups
        .into_iter()
        .map(|(first, last, logs)| {
            let label = if first == last { name(first) } else { format!("{}–{}", name(first), name(last)) };
            (label, logs)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_that_decides_explains_all_and_the_idle_one_nothing() {
        let values: Vec<ScheduleValue> = (0..64).map(|i| ScheduleValue::Number(i % 4)).collect();
        let decides = values.iter().map(|value| {
            let ScheduleValue::Number(number) = value else { unreachable!("numbers only") };
            (Some(value), *number as f64)
        });
        let decides = explain("decides", &decides.collect::<Vec<_>>()).unwrap();
        assert!(decides.share > 0.99 && decides.best == "0", "{decides:?}");
        assert!((decides.spread - 3_f64.exp()).abs() < 1e-9);
        let idle = values.iter().zip(0_u32..).map(|(value, i)| (Some(value), f64::from(i / 4 % 2)));
        assert!(explain("idle", &idle.collect::<Vec<_>>()).unwrap().share < 0.05);
    }

    #[test]
    fn many_values_are_grouped_and_a_constant_one_is_left_out() {
        let values: Vec<ScheduleValue> = (0..100).map(ScheduleValue::Number).collect();
        let sized: Vec<_> = values.iter().zip(0..).map(|(v, i)| (Some(v), f64::from(i))).collect();
        let found = explain("size", &sized);
        let found = found.unwrap();
        assert!(found.groups == 8 && found.best == "0–12", "{found:?}");
        let one = ScheduleValue::Name("n".to_owned());
        assert_eq!(explain("vector", &[(Some(&one), 1.0); 50]), None);
    }
}
