//! A schedule: named decisions, kept readable so that stored records outlive new parameters.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Version of the meaning of schedule parameters; raised when a stored one would mean something else.
pub const SCHEDULE_VERSION: u32 = 1;

/// Value of one parameter; where people read it, a plain number or string.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScheduleValue {
    /// A size, a count or a distance.
    Number(u64),
    /// A choice by name.
    Name(String),
}

impl fmt::Display for ScheduleValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// The two forms of a value: readable formats tell a number from a string, binary ones need a tag.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Plain {
    Number(u64),
    Name(String),
}

#[derive(Serialize, Deserialize)]
enum Tagged {
    Number(u64),
    Name(String),
}

impl Serialize for ScheduleValue {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.clone(), serializer.is_human_readable()) {
            (Self::Number(number), true) => Plain::Number(number).serialize(serializer),
            (Self::Name(name), true) => Plain::Name(name).serialize(serializer),
            (Self::Number(number), false) => Tagged::Number(number).serialize(serializer),
            (Self::Name(name), false) => Tagged::Name(name).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ScheduleValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            Ok(match Plain::deserialize(deserializer)? {
                Plain::Number(number) => Self::Number(number),
                Plain::Name(name) => Self::Name(name),
            })
        } else {
            Ok(match Tagged::deserialize(deserializer)? {
                Tagged::Number(number) => Self::Number(number),
                Tagged::Name(name) => Self::Name(name),
            })
        }
    }
}

/// An ordered map of named parameters; an absent one has the default of its family.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Schedule {
    /// Meaning of the parameters, [`SCHEDULE_VERSION`] when written by this version.
    pub version: u32,
    /// Parameters by name.
    pub parameters: BTreeMap<String, ScheduleValue>,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { version: SCHEDULE_VERSION, parameters: BTreeMap::new() }
    }
}

impl Schedule {
    /// The same schedule with a number set.
    #[must_use]
    pub fn with_number(mut self, name: &str, value: u64) -> Self {
        self.parameters.insert(name.to_owned(), ScheduleValue::Number(value));
        self
    }

    /// The same schedule with a choice set.
    #[must_use]
    pub fn with_name(mut self, name: &str, value: &str) -> Self {
        self.parameters.insert(name.to_owned(), ScheduleValue::Name(value.to_owned()));
        self
    }

    /// A number, when the parameter is there and is one.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.parameters.get(name)? {
            ScheduleValue::Number(number) => Some(*number),
            ScheduleValue::Name(_) => None,
        }
    }

    /// A choice, when the parameter is there and is one.
    pub fn name(&self, name: &str) -> Option<&str> {
        match self.parameters.get(name)? {
            ScheduleValue::Name(name) => Some(name),
            ScheduleValue::Number(_) => None,
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.parameters.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}
