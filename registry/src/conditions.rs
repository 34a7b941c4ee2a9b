use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What a kernel was verified and measured with, beside the processor that its key's fingerprint names: versions by
/// name, such as `tool` and `microcode`; a compiler or driver joins where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conditions(pub BTreeMap<String, String>);

impl Conditions {
    /// What differs between these and those of `now`, one phrase each; empty when a kernel that was verified under
    /// these may be served.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let names = self.0.keys().chain(now.0.keys().filter(|name| !self.0.contains_key(*name)));
        names
            .filter_map(|name| match (self.0.get(name), now.0.get(name)) {
                (Some(then), Some(now)) if then == now => None,
                (Some(then), Some(now)) => Some(format!("{name} was {then} and is {now}")),
                (Some(then), None) => Some(format!("{name} was {then} and is not known now")),
                (None, now) => {
                    Some(format!("{name} was not recorded and is {}", now.map_or("unknown", String::as_str)))
                }
            })
            .collect()
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, version)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{name} {version}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(of: &[(&str, &str)]) -> Conditions {
        Conditions(of.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect())
    }

    /// U081, U086: whatever version changes, appears or goes is a change; what stays the same is none.
    // U107
    #[test]
    fn every_change_is_named_and_nothing_else() {
        let then = conditions(&[("microcode", "0x1"), ("tool", "tilewright 0.1.0")]);
        assert_eq!(then.changes(&then), Vec::<String>::new());
        for (now, says) in [
            (
                conditions(&[("microcode", "0x2"), ("tool", "tilewright 0.1.0")]),
                "microcode was 0x1 and is 0x2",
            ),
            (conditions(&[("microcode", "0x1"), ("tool", "tilewright 0.2.0")]), "tilewright 0.2.0"),
            (conditions(&[("tool", "tilewright 0.1.0")]), "not known now"),
            (
                conditions(&[("microcode", "0x1"), ("tool", "tilewright 0.1.0"), ("driver", "12")]),
                "driver was not recorded",
            ),
        ] {
            let changes = then.changes(&now);
            assert!(changes.len() == 1 && changes[0].contains(says), "{changes:?}");
        }
        assert_eq!(then.to_string(), "microcode 0x1, tool tilewright 0.1.0");
    }
}
