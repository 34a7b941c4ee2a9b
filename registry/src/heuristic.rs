//! What campaigns have learned beside their winners. Its form is the search's; here it is bytes with a subject.

use std::collections::BTreeSet;

use crate::audit::Log;
use crate::{Action, Digest, Registry, RegistryError};

/// A heuristic as the audit log knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptHeuristic {
    /// Its file.
    pub id: Digest,
    /// Its subject as text.
    pub subject: String,
    /// When it was kept, RFC 3339.
    pub at: String,
}

impl Registry {
    /// Keeps a heuristic in place of the one kept before for its subject, whose file stays; `at` is the civil
    /// time of doing so, RFC 3339. Keeping the same again changes nothing.
    ///
    /// # Errors
    /// When the folder cannot be written. Nothing has changed then.
    pub fn keep_heuristic(&self, subject: &str, bytes: &[u8], at: &str) -> Result<Digest, RegistryError> {
        self.locked(
            |log, fresh| {
                let id = self.heuristics.write(bytes, fresh)?;
                let known = kept(log).iter().any(|kept| kept.id == id && kept.subject == subject);
                let learned = Action::Learned { heuristic: id, subject: subject.to_owned() };
                Ok((id, if known { Vec::new() } else { vec![learned] }))
            },
            at,
        )
    }

    /// The heuristics in force, the one last kept for each subject, in order of arrival.
    ///
    /// # Errors
    /// When the audit log cannot be read.
    pub fn heuristics(&self) -> Result<Vec<KeptHeuristic>, RegistryError> {
        Ok(kept(&self.log()?))
    }

    /// The bytes of a heuristic, in force or not, checked against its digest.
    ///
    /// # Errors
    /// When it is not there, or damaged.
    pub fn heuristic(&self, id: Digest) -> Result<Vec<u8>, RegistryError> {
        self.heuristics.read(id)
    }
}

/// The last heuristic of each subject.
fn kept(log: &Log) -> Vec<KeptHeuristic> {
    let mut kept: Vec<KeptHeuristic> = Vec::new();
    for entry in log.entries() {
        match &entry.action {
            Action::Learned { heuristic, subject } => {
                kept.retain(|before| before.subject != *subject);
                kept.push(KeptHeuristic { id: *heuristic, subject: subject.clone(), at: entry.at.clone() });
            }
            Action::Repaired { gone, .. } => kept.retain(|before| !gone.contains(&before.id)),
            _ => {}
        }
    }
    kept
}

/// Every heuristic that a log names, in force or not.
pub(crate) fn named(log: &Log) -> BTreeSet<Digest> {
    let mut named = BTreeSet::new();
    for entry in log.entries() {
        match &entry.action {
            Action::Learned { heuristic, .. } => {
                named.insert(*heuristic);
            }
            Action::Repaired { gone, .. } => named.retain(|id| !gone.contains(id)),
            _ => {}
        }
    }
    named
}
