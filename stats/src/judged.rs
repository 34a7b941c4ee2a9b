use crate::{Evidence, EvidenceKind, Gate, Settings, SettingsError, Verdict, gate};
use serde::{Deserialize, Serialize};

/// A subject that a gate has judged, with what it was judged on.
///
/// The only way to learn from a trial: whatever learns takes `&Judged<_>`, and
/// there is no other way to make one than [`Judged::by`] and [`Judged::reread`],
/// which both run a gate. The fields are private,
///
/// ```compile_fail,E0451
/// use tilewright_stats::{Evidence, Gate, Judged, Exact, Settings};
/// let evidence = Evidence::Exact { incumbent: 2.0, candidate: 1.0 };
/// let verdict = Exact.judge(&evidence);
/// let forged = Judged { subject: "kernel", evidence, settings: Settings::default(), verdict };
/// ```
///
/// it cannot be read back without being judged again,
///
/// ```compile_fail,E0277
/// let forged: tilewright_stats::Judged<String> = serde_json::from_str("{}").unwrap();
/// ```
///
/// and no other crate can add a gate:
///
/// ```compile_fail,E0277
/// use tilewright_stats::{Gate, Settings, SettingsError};
/// #[derive(Debug)]
/// struct Lenient;
/// impl Gate for Lenient {
///     fn id(&self) -> &'static str { "lenient" }
///     fn settings(&self) -> Settings { Settings::default() }
///     fn with(&self, _: &Settings) -> Result<Box<dyn Gate>, SettingsError> { Ok(Box::new(Lenient)) }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged<T> {
    subject: T,
    evidence: Evidence,
    settings: Settings,
    verdict: Verdict,
}

/// A [`Judged`] as a file holds it: not yet to be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored<T> {
    /// What was judged.
    pub subject: T,
    /// What it was judged on.
    pub evidence: Evidence,
    /// What the gate was set to.
    pub settings: Settings,
    /// What the gate decided then; its name is all that [`Judged::reread`] uses.
    pub verdict: Verdict,
}

/// Why a stored judgement cannot be judged again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RereadError {
    /// No gate of the sealed list has that name.
    #[error("there is no gate `{0}`")]
    UnknownGate(String),
    /// The gate refuses the settings.
    #[error("gate `{gate}`: {error}")]
    Settings {
        /// Name of the gate.
        gate: String,
        /// What is wrong with the settings.
        error: SettingsError,
    },
}

impl<T> Judged<T> {
    /// Has `gate` judge `subject` on its own `evidence`.
    pub fn by(gate: &dyn Gate, evidence: Evidence, subject: T) -> Self {
        let verdict = gate.judge(&evidence);
        Self { subject, evidence, settings: gate.settings(), verdict }
    }

    /// Judges a stored subject again, by the gate and settings named and on the evidence stored.
    ///
    /// The new verdict counts. Compare it with [`Stored::verdict`] to notice a file
    /// that was changed, or a gate that has since been.
    ///
    /// # Errors
    /// When the gate is not in the sealed list, or refuses the settings.
    pub fn reread(stored: Stored<T>) -> Result<Self, RereadError> {
        let id = stored.verdict.gate;
        let Some(listed) = gate(&id) else {
            return Err(RereadError::UnknownGate(id));
        };
        let gate =
            listed.with(&stored.settings).map_err(|error| RereadError::Settings { gate: id, error })?;
        Ok(Self::by(gate.as_ref(), stored.evidence, stored.subject))
    }

    /// What was judged.
    pub fn subject(&self) -> &T {
        &self.subject
    }

    /// What it was judged on.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// What the gate was set to.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the gate decided.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Where the numbers come from: measured, recorded, simulated, or none.
    pub fn kind(&self) -> EvidenceKind {
        self.evidence.kind()
    }

    /// Gives the subject back; the judgement is gone.
    pub fn into_subject(self) -> T {
        self.subject
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claim, Decision, Margin};

    fn pairs() -> Evidence {
        let incumbent: Vec<f64> = (0..20).map(|i| 1000.0 + f64::from(i)).collect();
        let candidate = incumbent.iter().map(|time| time * 0.985).collect();
        Evidence::Pairs { incumbent, candidate }
    }

    fn stored(judged: &Judged<&str>) -> Stored<String> {
        serde_json::from_str(&serde_json::to_string(judged).unwrap()).unwrap()
    }

    #[test]
    fn a_file_gives_back_the_same_judgement_with_the_settings_it_was_made_with() {
        let gate = Claim { margin: Margin::new(0.02).unwrap(), ..Claim::DEFAULT };
        for gate in [gate, Claim::DEFAULT] {
            let judged = Judged::by(&gate, pairs(), "kernel");
            let again = Judged::reread(stored(&judged)).unwrap();
            assert_eq!(again.verdict(), judged.verdict());
            assert_eq!(again.settings(), judged.settings());
            assert_eq!((again.kind(), again.subject().as_str()), (EvidenceKind::Pairs, "kernel"));
        }
    }

    #[test]
    fn a_forged_verdict_is_judged_away() {
        let mut forged = stored(&Judged::by(&Claim::DEFAULT, pairs().swapped(), "kernel"));
        forged.verdict.kind = Decision::Faster;
        assert_eq!(Judged::reread(forged).unwrap().verdict().kind, Decision::Slower);
    }

    #[test]
    fn an_unknown_gate_or_setting_is_refused() {
        let mut unknown = stored(&Judged::by(&Claim::DEFAULT, pairs(), "kernel"));
        unknown.verdict.gate = "lenient".to_owned();
        assert_eq!(Judged::reread(unknown), Err(RereadError::UnknownGate("lenient".to_owned())));
        let mut unset = stored(&Judged::by(&Claim::DEFAULT, pairs(), "kernel"));
        unset.settings = Settings::default();
        assert!(matches!(Judged::reread(unset), Err(RereadError::Settings { .. })));
    }
}
