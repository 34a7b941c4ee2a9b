//! Element types of tensors and buffers, with the names used everywhere.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Type of one element, or of one element inside a block of a block type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variants are the standard names of the types")]
pub enum DataType {
    F64,
    F32,
    F16,
    Bf16,
    Int8,
    Uint8,
    Int32,
    Int64,
    #[serde(rename = "q8_0")]
    Q8_0,
    #[serde(rename = "q4_0")]
    Q4_0,
    #[serde(rename = "mxint8")]
    MxInt8,
}

/// Every type, in the order of the documentation.
pub const DATA_TYPES: [DataType; 11] = [
    DataType::F64,
    DataType::F32,
    DataType::F16,
    DataType::Bf16,
    DataType::Int8,
    DataType::Uint8,
    DataType::Int32,
    DataType::Int64,
    DataType::Q8_0,
    DataType::Q4_0,
    DataType::MxInt8,
];

/// How a block type stores consecutive elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Elements of one block, along the block axis.
    pub elements: u64,
    /// Bytes of one block, scale included.
    pub bytes: u64,
}

impl DataType {
    /// Name in workloads, programs and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
            Self::Uint8 => "uint8",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Q8_0 => "q8_0",
            Self::Q4_0 => "q4_0",
            Self::MxInt8 => "mxint8",
        }
    }

    /// Elements and bytes of a storage unit; plain types are blocks of one element.
    ///
    /// `q8_0` and `q4_0`: an f16 scale and 32 values (GGUF). `mxint8`: an e8m0 scale and 32 values
    /// (OCP Microscaling Formats 1.0).
    pub const fn block(self) -> Block {
        let (elements, bytes) = match self {
            Self::F64 | Self::Int64 => (1, 8),
            Self::F32 | Self::Int32 => (1, 4),
            Self::F16 | Self::Bf16 => (1, 2),
            Self::Int8 | Self::Uint8 => (1, 1),
            Self::Q8_0 => (32, 34),
            Self::Q4_0 => (32, 18),
            Self::MxInt8 => (32, 33),
        };
        Block { elements, bytes }
    }

    /// Bytes of `elements` consecutive elements, rounded up to whole blocks.
    pub const fn bytes(self, elements: u64) -> u64 {
        let block = self.block();
        elements.div_ceil(block.elements) * block.bytes
    }

    /// Whether values are floating-point numbers (block types are).
    pub const fn is_float(self) -> bool {
        !matches!(self, Self::Int8 | Self::Uint8 | Self::Int32 | Self::Int64)
    }

    /// Unit roundoff of a stored value: half the distance from 1 to the next number; 0 for integers.
    pub const fn unit_roundoff(self) -> f64 {
        match self {
            Self::F64 => 1.110_223_024_625_156_5e-16,
            Self::F32 => 5.960_464_477_539_063e-8,
            Self::F16 => 4.882_812_5e-4,
            Self::Bf16 => 3.906_25e-3,
            Self::Q8_0 | Self::MxInt8 => 1.0 / 254.0,
            Self::Q4_0 => 1.0 / 16.0,
            Self::Int8 | Self::Uint8 | Self::Int32 | Self::Int64 => 0.0,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no data type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown type `{found}`; known types: {}", DATA_TYPES.map(DataType::name).join(", "))]
pub struct UnknownDataType {
    /// What was written.
    pub found: String,
}

impl FromStr for DataType {
    type Err = UnknownDataType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DATA_TYPES
            .into_iter()
            .find(|data_type| data_type.name() == text)
            .ok_or_else(|| UnknownDataType { found: text.to_owned() })
    }
}
