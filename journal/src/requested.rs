use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tilewright_ir::Workload;

/// What stands before the name of a recorded space.
const RECORDED: &str = "recorded:";

/// What a campaign makes fast. As text a workload, or `recorded:` and the name of a recorded space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requested {
    /// A workload that is lowered and run, or simulated.
    Workload(Workload),
    /// A space that somebody measured elsewhere, by the name it has here.
    Recorded(String),
}

impl Requested {
    /// The workload, where it is one.
    pub fn workload(&self) -> Option<&Workload> {
        match self {
            Self::Workload(workload) => Some(workload),
            Self::Recorded(_) => None,
        }
    }
}

impl fmt::Display for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workload(workload) => workload.fmt(f),
            Self::Recorded(name) => write!(f, "{RECORDED}{name}"),
        }
    }
}

impl FromStr for Requested {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(RECORDED) {
            Some("") => Err(format!("`{RECORDED}` is not followed by the name of a recorded space")),
            Some(name) => Ok(Self::Recorded(name.to_owned())),
            None => text
                .parse()
                .map(Self::Workload)
                .map_err(|error: tilewright_ir::WorkloadError| error.to_string()),
        }
    }
}

impl Serialize for Requested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Requested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_survive_as_text() {
        for text in ["matmul:m=64,n=64,k=64,dtype=f32", "recorded:convolution-A100"] {
            let requested: Requested = text.parse().unwrap();
            assert_eq!(requested.to_string(), text);
        }
        assert!("recorded:".parse::<Requested>().is_err() && "nothing:m=1".parse::<Requested>().is_err());
    }
}
