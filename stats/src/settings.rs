use crate::{Level, Margin, RangeError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The numbers a gate was set to, by name, as they are stored beside a verdict.
///
/// Names in use: `margin` (relative effect), `level` (probability).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, f64>);

/// Why a gate cannot be set up from stored settings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// A setting the gate needs is not there.
    #[error("setting `{0}` is missing")]
    Missing(String),
    /// A setting the gate does not know.
    #[error("setting `{0}` is unknown")]
    Unknown(String),
    /// A setting that asks for less than this gate must ask for.
    #[error("setting `{name}` is {value}, more lenient than this gate may be")]
    Lenient {
        /// The setting.
        name: &'static str,
        /// What it was set to.
        value: f64,
    },
    /// A setting outside its range.
    #[error(transparent)]
    Range(#[from] RangeError),
}

impl Settings {
    /// The value of one setting, or `None` where there is none of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// All settings in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, &value)| (name.as_str(), value))
    }

    pub(crate) fn of<const N: usize>(values: [(&str, f64); N]) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Refuses names that the gate does not know: a misspelt one would be a default in disguise.
    pub(crate) fn only(&self, known: &[&str]) -> Result<&Self, SettingsError> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(SettingsError::Unknown(name.clone())),
            None => Ok(self),
        }
    }

    pub(crate) fn margin(&self) -> Result<Margin, SettingsError> {
        Ok(Margin::new(self.need("margin")?)?)
    }

    pub(crate) fn level(&self) -> Result<Level, SettingsError> {
        Ok(Level::new(self.need("level")?)?)
    }

    fn need(&self, name: &str) -> Result<f64, SettingsError> {
        self.get(name).ok_or_else(|| SettingsError::Missing(name.to_owned()))
    }
}
