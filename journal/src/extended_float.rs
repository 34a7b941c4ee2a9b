//! Numbers that may be infinite or not a number, which JSON has no way to write.
//!
//! A wrong answer is often exactly such a number, so it must survive the journal: finite values are
//! plain numbers, the others the words `nan`, `inf` and `-inf`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Word(String),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() || !serializer.is_human_readable() {
        serializer.serialize_f64(*value)
    } else {
        serializer.serialize_str(match value {
            value if value.is_nan() => "nan",
            value if *value > 0.0 => "inf",
            _ => "-inf",
        })
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    if !deserializer.is_human_readable() {
        return f64::deserialize(deserializer);
    }
    match Written::deserialize(deserializer)? {
        Written::Number(number) => Ok(number),
        Written::Word(word) => match word.as_str() {
            "nan" => Ok(f64::NAN),
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            _ => Err(serde::de::Error::custom(format!("`{word}` is no number, expected nan, inf or -inf"))),
        },
    }
}
