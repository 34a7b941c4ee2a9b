//! Reads the parameters of a schedule.

use crate::limits::Illegal;
use crate::schedule::{SCHEDULE_VERSION, Schedule, ScheduleValue};

/// A parameter with a value that is not allowed.
pub(super) fn allowed(parameter: &str, found: impl std::fmt::Display, allowed: impl Into<String>) -> Illegal {
    Illegal::Parameter { parameter: parameter.to_owned(), found: found.to_string(), allowed: allowed.into() }
}

/// Parameters that do not go together.
pub(super) fn conflict(parameters: &str, conflict: impl Into<String>) -> Illegal {
    Illegal::Conflict { parameters: parameters.to_owned(), conflict: conflict.into() }
}

/// A schedule whose parameters are all known.
pub(super) struct Reader<'a> {
    schedule: &'a Schedule,
}

impl<'a> Reader<'a> {
    /// Checks version and names.
    pub(super) fn new(schedule: &'a Schedule, names: &[&str]) -> Result<Self, Illegal> {
        if schedule.version != SCHEDULE_VERSION {
            return Err(allowed("version", schedule.version, SCHEDULE_VERSION.to_string()));
        }
        if let Some(name) = schedule.parameters.keys().find(|name| !names.contains(&name.as_str())) {
            return Err(allowed(name, &schedule.parameters[name], "no such parameter in this family"));
        }
        Ok(Self { schedule })
    }

    /// A number, or what its absence means.
    pub(super) fn number(&self, name: &str, default: u64) -> Result<u64, Illegal> {
        match self.schedule.parameters.get(name) {
            None => Ok(default),
            Some(ScheduleValue::Number(number)) => Ok(*number),
            Some(ScheduleValue::Name(text)) => Err(allowed(name, text, "a number")),
        }
    }

    /// A choice by name, the first one where it is absent.
    pub(super) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<T, Illegal> {
        let Some(value) = self.schedule.parameters.get(name) else { return Ok(choices[0].1) };
        let found =
            choices.iter().find(|choice| matches!(value, ScheduleValue::Name(text) if text == choice.0));
        found.map(|choice| choice.1).ok_or_else(|| {
            allowed(name, value, choices.iter().map(|choice| choice.0).collect::<Vec<_>>().join(", "))
        })
    }
}
