use std::cmp::Ordering;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use tilewright_ir::ScheduleValue;

/// Value of a tuning parameter as its file has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Any other finite number.
    Real(f64),
    /// A text.
    Text(String),
}

impl Value {
    /// The number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Real(number) => Some(*number),
            Self::Boolean(_) | Self::Text(_) => None,
        }
    }

    /// The whole number from 0 on, where it is one: what an ordered gene can hold.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The value as a schedule parameter: `ordered` ones as numbers, others by their text.
    pub(crate) fn parameter(&self, ordered: bool) -> ScheduleValue {
        match self.size().filter(|_| ordered) {
            Some(size) => ScheduleValue::Number(size),
            None => ScheduleValue::Name(self.to_string()),
        }
    }

    /// Numbers by size before truth values before texts.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let class = |value: &Self| match value {
            Self::Integer(_) | Self::Real(_) => 0,
            Self::Boolean(_) => 1,
            Self::Text(_) => 2,
        };
        match (self, other) {
            (Self::Integer(first), Self::Integer(second)) => first.cmp(second),
            (Self::Boolean(first), Self::Boolean(second)) => first.cmp(second),
            (Self::Text(first), Self::Text(second)) => first.cmp(second),
            _ => class(self).cmp(&class(other)).then_with(|| {
                let number = |value: &Self| value.number().unwrap_or(0.0);
                let kind = |value: &Self| matches!(value, Self::Real(_));
                // A whole and a broken number of one size stay two values.
                number(self).total_cmp(&number(other)).then(kind(self).cmp(&kind(other)))
            }),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Real(value) => write!(f, "{value:?}"),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// A value, or something that no parameter can have (a list, an object, null).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scalar(pub(crate) Option<Value>);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar(Some(Value::Boolean(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar(Some(Value::Integer(value))))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar(Some(i64::try_from(value).map_or(Value::Real(value as f64), Value::Integer))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar(value.is_finite().then_some(Value::Real(value))))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar(Some(Value::Text(value.to_owned()))))
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Scalar, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar(None))
    }
}
