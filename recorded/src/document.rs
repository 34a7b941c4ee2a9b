//! What a JSON file of any of the known kinds may hold at its top.

use serde::Deserialize;

use crate::cache::Entries;
use crate::problem::ConfigurationSpace;
use crate::t4::T4Result;
use crate::value::Scalar;

/// Names as the formats have them; everything else is passed over.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Document {
    pub(crate) device_name: Option<String>,
    pub(crate) kernel_name: Option<String>,
    pub(crate) objective: Option<String>,
    pub(crate) tune_params_keys: Option<Vec<String>>,
    pub(crate) cache: Option<Entries>,
    pub(crate) results: Option<Vec<T4Result>>,
    pub(crate) metadata: Option<Metadata>,
    #[serde(rename = "ConfigurationSpace")]
    pub(crate) space: Option<ConfigurationSpace>,
    #[serde(rename = "General")]
    pub(crate) general: Option<General>,
    #[serde(rename = "KernelSpecification")]
    pub(crate) kernel: Option<KernelSpecification>,
}

/// Of a T4 file: where its results come from, as far as it says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Metadata {
    pub(crate) device: Option<Scalar>,
    pub(crate) kernel: Option<Scalar>,
}

/// Of a T1 file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct General {
    #[serde(rename = "BenchmarkName")]
    pub(crate) benchmark: Option<String>,
}

/// Of a T1 file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct KernelSpecification {
    #[serde(rename = "KernelName")]
    pub(crate) name: Option<String>,
}
