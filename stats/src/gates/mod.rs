//! The sealed list of gates: one file each, one line in [`gates`].

mod claim;
mod confirmed_claim;
mod exact;
mod finding;
mod racing;
mod replication;
mod sequential_claim;
mod sign_e_process;
mod two_sample;

pub use claim::Claim;
pub use confirmed_claim::ConfirmedClaim;
pub use exact::Exact;
pub use racing::Racing;
pub use replication::Replication;
pub use sequential_claim::SequentialClaim;
pub use sign_e_process::SignEProcess;
pub use two_sample::TwoSample;

use crate::{Decision, Evidence, Reason, Settings, SettingsError, Verdict};
use std::fmt::Debug;

/// A rule that turns evidence into a decision.
///
/// Gates are pure: the same evidence and settings give the same verdict, so a
/// stored verdict can be checked. No gate panics, whatever the numbers.
pub trait Gate: Debug + Sync + sealed::Sealed {
    /// Name of the gate, as stored in [`Verdict::gate`].
    fn id(&self) -> &'static str;

    /// The numbers this gate is set to.
    fn settings(&self) -> Settings;

    /// A gate of the same kind set to other numbers.
    ///
    /// # Errors
    /// When a setting is missing, unknown or outside its range.
    fn with(&self, settings: &Settings) -> Result<Box<dyn Gate>, SettingsError>;

    /// Decides about the candidate.
    ///
    /// A failure is [`Decision::Failed`] for every gate if it was reproduced, else
    /// inconclusive. Evidence of a kind that the gate does not judge, and samples
    /// that cannot be worked on, are inconclusive.
    fn judge(&self, evidence: &Evidence) -> Verdict {
        let finding = match evidence {
            Evidence::Failure { kind, reproduced: true } => {
                finding::Finding::without_effect(Decision::Failed, Reason::Reproduced(kind.clone()))
            }
            Evidence::Failure { kind, reproduced: false } => {
                finding::Finding::without_effect(Decision::Inconclusive, Reason::NotReproduced(kind.clone()))
            }
            evidence => self.decide(evidence).unwrap_or_else(|error| {
                finding::Finding::without_effect(Decision::Inconclusive, Reason::Invalid(error))
            }),
        };
        // Times at both ends of what a number can hold have a ratio that it cannot.
        let interval = finding.interval.filter(|interval| interval.high.is_finite());
        Verdict {
            kind: finding.kind,
            ratio: finding.ratio.filter(|ratio| ratio.is_finite()),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            margin: self.settings().get("margin").unwrap_or(0.0),
            gate: self.id().to_owned(),
            reason: finding.reason,
        }
    }
}

/// All gates with their default settings.
pub fn gates() -> &'static [&'static dyn Gate] {
    &[
        &Racing::DEFAULT,
        &SequentialClaim::DEFAULT,
        &Replication::DEFAULT,
        &ConfirmedClaim::DEFAULT,
        &Claim::DEFAULT,
        &SignEProcess::DEFAULT,
        &TwoSample::DEFAULT,
        &Exact,
    ]
}

/// The gate of that name with its default settings, or `None`.
pub fn gate(id: &str) -> Option<&'static dyn Gate> {
    gates().iter().copied().find(|gate| gate.id() == id)
}

mod sealed {
    use super::finding::Finding;
    use crate::{Evidence, SampleError};

    /// What a gate is inside; out of reach, so that no other crate can add a lenient one.
    pub trait Sealed {
        /// Judges evidence that holds times.
        fn decide(&self, evidence: &Evidence) -> Result<Finding, SampleError>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gate_is_found_by_its_name_and_restored_from_its_settings() {
        for listed in gates() {
            let found = gate(listed.id()).unwrap();
            let restored = found.with(&listed.settings()).unwrap();
            assert_eq!((restored.id(), restored.settings()), (listed.id(), listed.settings()));
            let unknown = Settings::of([("margn", 0.5)]);
            assert_eq!(listed.with(&unknown).unwrap_err(), SettingsError::Unknown("margn".to_owned()));
        }
        assert!(gate("lenient").is_none());
    }
}
