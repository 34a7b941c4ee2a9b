//! Workloads as text: `matmul:m=512,n=512,k=512,dtype=f32`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::operator::{Operator, operator, operators};

/// Named values of an operator instance, as written.
pub type Parameters = BTreeMap<String, String>;

/// An operator with its parameters, in canonical form: every parameter that matters is present, in the
/// operator's order, and none that equals what its absence means.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Workload {
    operator: &'static str,
    canonical: String,
    parameters: Parameters,
}

/// Why a text names no workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// The operator is not known.
    #[error("unknown operator `{found}`; known operators: {}", operators().iter().map(|o| o.id()).collect::<Vec<_>>().join(", "))]
    UnknownOperator {
        /// What was written.
        found: String,
    },
    /// The text is not `operator:name=value,…`.
    #[error("cannot read `{found}`: expected operator:name=value,name=value,…")]
    Syntax {
        /// The offending part.
        found: String,
    },
    /// A parameter is not one of the operator's.
    #[error("{operator} has no parameter `{name}`; it takes: {known}")]
    UnknownParameter {
        /// The operator.
        operator: String,
        /// What was written.
        name: String,
        /// What it takes.
        known: String,
    },
    /// A parameter stands twice.
    #[error("parameter `{name}` stands twice")]
    Twice {
        /// Its name.
        name: String,
    },
    /// A parameter is missing.
    #[error("{operator} needs `{name}`; it takes: {known}")]
    Missing {
        /// The operator.
        operator: String,
        /// What is missing.
        name: String,
        /// What it takes.
        known: String,
    },
    /// A value cannot be used.
    #[error("`{name}={found}`: {wanted}")]
    Value {
        /// Parameter.
        name: String,
        /// Its value.
        found: String,
        /// What would do.
        wanted: String,
    },
}

impl Workload {
    /// Checks the parameters and brings them into canonical form.
    ///
    /// # Errors
    /// When the operator does not know a parameter, misses one, or rejects a value.
    pub fn new(operator: &'static dyn Operator, parameters: &Parameters) -> Result<Self, WorkloadError> {
        let parameters = operator.canonical(parameters)?;
        let list: Vec<String> = operator
            .parameter_names()
            .iter()
            .filter_map(|&name| parameters.get(name).map(|value| format!("{name}={value}")))
            .collect();
        let canonical = format!("{}:{}", operator.id(), list.join(","));
        let workload = Self { operator: operator.id(), canonical, parameters };
        operator.describe(&workload.parameters)?;
        Ok(workload)
    }

    /// The operator.
    pub fn operator(&self) -> &'static dyn Operator {
        operator(self.operator).expect("invariant: constructed from a listed operator")
    }

    /// Parameters in canonical form.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.canonical)
    }
}

impl FromStr for Workload {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, list) =
            text.trim().split_once(':').ok_or_else(|| WorkloadError::Syntax { found: text.to_owned() })?;
        let operator =
            operator(name).ok_or_else(|| WorkloadError::UnknownOperator { found: name.to_owned() })?;
        let mut parameters = Parameters::new();
        for item in list.split(',') {
            let (name, value) =
                item.split_once('=').ok_or_else(|| WorkloadError::Syntax { found: item.to_owned() })?;
            let (name, value) = (name.trim(), value.trim());
            if name.is_empty() || value.is_empty() {
                return Err(WorkloadError::Syntax { found: item.to_owned() });
            }
            if parameters.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err(WorkloadError::Twice { name: name.to_owned() });
            }
        }
        Self::new(operator, &parameters)
    }
}

impl Serialize for Workload {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.canonical)
    }
}

impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
