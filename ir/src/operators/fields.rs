//! Reads the parameters of an operator, with errors that say what was wanted.

use crate::data_type::DataType;
use crate::workload::{Parameters, WorkloadError};

/// Bound of every extent: offsets and operation counts stay exact in 64 bits.
pub(super) const LARGEST_EXTENT: u64 = 1 << 31;
/// Bound of one operand, elements: displacements in generated code stay within 47 address bits.
pub(super) const LARGEST_OPERAND: u128 = 1 << 40;

/// Parameters whose names are all known.
pub(super) struct Fields<'a> {
    operator: &'static str,
    names: &'static [&'static str],
    parameters: &'a Parameters,
}

/// A value that cannot be used.
pub(super) fn value_error(name: &str, found: &str, wanted: impl Into<String>) -> WorkloadError {
    WorkloadError::Value { name: name.to_owned(), found: found.to_owned(), wanted: wanted.into() }
}

impl<'a> Fields<'a> {
    /// Checks the names.
    pub(super) fn new(
        operator: &'static str,
        names: &'static [&'static str],
        parameters: &'a Parameters,
    ) -> Result<Self, WorkloadError> {
        match parameters.keys().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(WorkloadError::UnknownParameter {
                operator: operator.to_owned(),
                name: name.clone(),
                known: names.join(", "),
            }),
            None => Ok(Self { operator, names, parameters }),
        }
    }

    /// A text, if it is there.
    pub(super) fn optional(&self, name: &str) -> Option<&'a str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// A text that must be there.
    pub(super) fn required(&self, name: &str) -> Result<&'a str, WorkloadError> {
        self.optional(name).ok_or_else(|| WorkloadError::Missing {
            operator: self.operator.to_owned(),
            name: name.to_owned(),
            known: self.names.join(", "),
        })
    }

    /// A length.
    pub(super) fn extent(&self, name: &str) -> Result<u64, WorkloadError> {
        let text = self.required(name)?;
        match text.parse::<u64>() {
            Ok(value) if (1..=LARGEST_EXTENT).contains(&value) => Ok(value),
            _ => Err(value_error(name, text, format!("expected a whole number from 1 to {LARGEST_EXTENT}"))),
        }
    }

    /// Rows and columns of a matrix that is not too large.
    pub(super) fn matrix(&self, rows: &str, columns: &str) -> Result<[u64; 2], WorkloadError> {
        let extents = [self.extent(rows)?, self.extent(columns)?];
        let elements = u128::from(extents[0]) * u128::from(extents[1]);
        if elements > LARGEST_OPERAND {
            let names = format!("{rows}·{columns}");
            return Err(value_error(&names, &elements.to_string(), format!("at most {LARGEST_OPERAND}")));
        }
        Ok(extents)
    }

    /// One of some choices, the first one where it is absent.
    pub(super) fn choice(&self, name: &str, choices: &[&'static str]) -> Result<&'static str, WorkloadError> {
        let text = self.optional(name).unwrap_or(choices[0]);
        let found = choices.iter().copied().find(|choice| *choice == text);
        found.ok_or_else(|| value_error(name, text, format!("expected {}", choices.join(", "))))
    }

    /// Whether something is wanted; not, where it is absent.
    pub(super) fn flag(&self, name: &str) -> Result<bool, WorkloadError> {
        Ok(self.choice(name, &["false", "true"])? == "true")
    }

    /// A number above 0 that f32 holds.
    pub(super) fn positive(&self, name: &str, default: f32) -> Result<f32, WorkloadError> {
        let Some(text) = self.optional(name) else { return Ok(default) };
        match text.parse::<f32>() {
            Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
            _ => Err(value_error(name, text, "expected a number above 0")),
        }
    }

    /// The element type, one of those that the operator takes.
    pub(super) fn data_type(&self, taken: &[DataType]) -> Result<DataType, WorkloadError> {
        let text = self.required("dtype")?;
        taken.iter().copied().find(|data_type| data_type.name() == text).ok_or_else(|| {
            let names: Vec<&str> = taken.iter().map(|data_type| data_type.name()).collect();
            value_error("dtype", text, format!("{} takes {}", self.operator, names.join(", ")))
        })
    }

    /// The parameters that differ from what their absence means: `defaults` names those that may be absent.
    pub(super) fn canonical(&self, defaults: &[(&str, String)]) -> Parameters {
        let differs = |(name, value): &(&String, &String)| {
            !defaults.iter().any(|(default, meaning)| default == name && meaning == *value)
        };
        let kept = self.parameters.iter().filter(differs);
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}
