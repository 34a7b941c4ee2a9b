use tilewright_journal::{Judgement, Trial};
use tilewright_stats::{ConfirmedClaim, Evidence, EvidenceKind, Exact, Gate, Judged, Racing, TwoSample};

/// The gate that judges within a search, for the kind of numbers there are.
pub(super) fn gate(evidence: &Evidence) -> &'static dyn Gate {
    match evidence.kind() {
        EvidenceKind::Pairs | EvidenceKind::Failure => &Racing::DEFAULT,
        // No trial has such evidence; the gate that judges it is as strict as there is.
        EvidenceKind::Claim => &ConfirmedClaim::DEFAULT,
        EvidenceKind::Samples => &TwoSample::DEFAULT,
        EvidenceKind::Exact => &Exact,
    }
}

/// Judges a trial on its own evidence.
pub(crate) fn judge(trial: Trial) -> (Judged<Trial>, Judgement) {
    let judged = Judged::by(gate(&trial.evidence), trial.evidence.clone(), trial);
    let judgement = Judgement::of(&judged);
    (judged, judgement)
}
