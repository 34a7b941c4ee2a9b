use std::collections::{BTreeMap, BTreeSet};

use tilewright_stats::EvidenceKind;

use crate::audit::Log;
use crate::{Action, Conditions, Digest};

/// A record as the audit log knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The record.
    pub record: Digest,
    /// Its key as text.
    pub key: String,
    /// Where its times come from; only what was measured is ever served.
    pub kind: EvidenceKind,
    /// Whether it is in force.
    pub standing: Standing,
    /// When it came in.
    pub at: String,
    /// Archive that it came from, if it did.
    pub from: Option<String>,
    /// When it was last verified here since it came in, if it was.
    pub verified: Option<Verified>,
}

/// A verification after a record came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// When, RFC 3339.
    pub at: String,
    /// With what.
    pub conditions: Conditions,
    /// Median time of a launch then, ns.
    pub median_ns: u64,
}

/// Whether a record is in force for its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The one to use.
    Current,
    /// Another one is in force.
    Superseded,
    /// Withdrawn.
    Retracted,
}

/// All records of a log in order of arrival.
pub(crate) fn list(log: &Log) -> Vec<Listed> {
    let mut listed: Vec<Listed> = Vec::new();
    let mut gone = BTreeSet::new();
    let mut stacks: BTreeMap<(String, EvidenceKind), Vec<usize>> = BTreeMap::new();
    let stack = |key: &str, kind: EvidenceKind| (key.to_owned(), source(kind));
    for entry in log.entries() {
        match &entry.action {
            Action::Published { record, key, kind } => {
                let below = stacks.entry(stack(key, *kind)).or_default();
                below.push(listed.len());
                listed.push(arrival(*record, key, *kind, &entry.at, None));
            }
            Action::Imported { record, key, kind, from } => {
                // Below all others: nobody compared it with them.
                let below = stacks.entry(stack(key, *kind)).or_default();
                below.insert(0, listed.len());
                listed.push(arrival(*record, key, *kind, &entry.at, Some(from.clone())));
            }
            Action::Verified { record, conditions, median_ns } => {
                let (at, median_ns) = (entry.at.clone(), *median_ns);
                for found in listed.iter_mut().filter(|listed| listed.record == *record) {
                    let (at, conditions) = (at.clone(), conditions.clone());
                    found.verified = Some(Verified { at, conditions, median_ns });
                }
            }
            Action::Learned { .. } | Action::Tested(_) => {}
            Action::Repaired { gone: lost, .. } => {
                for stack in stacks.values_mut() {
                    stack.retain(|&place| !lost.contains(&listed[place].record));
                }
                gone.extend((0..listed.len()).filter(|&place| lost.contains(&listed[place].record)));
            }
            Action::Retracted { record, .. } => {
                for stack in stacks.values_mut() {
                    stack.retain(|&place| listed[place].record != *record);
                }
                for withdrawn in listed.iter_mut().filter(|listed| listed.record == *record) {
                    withdrawn.standing = Standing::Retracted;
                }
            }
        }
    }
    for place in stacks.values().filter_map(|stack| stack.last()) {
        listed[*place].standing = Standing::Current;
    }
    let places = 0..;
    places.zip(listed).filter(|(place, _)| !gone.contains(place)).map(|(_, listed)| listed).collect()
}

/// Records for a key that may be used, the one in force first.
///
/// Those behind it stand in when its file is damaged.
pub(crate) fn usable(listed: &[Listed], key: &str, kind: EvidenceKind) -> Vec<Digest> {
    let all =
        || listed.iter().rev().filter(|listed| listed.key == key && source(listed.kind) == source(kind));
    let with = |standing| all().filter(move |listed| listed.standing == standing);
    with(Standing::Current).chain(with(Standing::Superseded)).map(|listed| listed.record).collect()
}

/// Where times come from, claims and other pairs alike: what is measured replaces what is measured.
fn source(kind: EvidenceKind) -> EvidenceKind {
    if kind.is_measured() { EvidenceKind::Pairs } else { kind }
}

fn arrival(record: Digest, key: &str, kind: EvidenceKind, at: &str, from: Option<String>) -> Listed {
    let (key, at) = (key.to_owned(), at.to_owned());
    Listed { record, key, kind, standing: Standing::Superseded, at, from, verified: None }
}
