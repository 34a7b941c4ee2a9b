//! Puts a confirmed winner into the registry.

use anyhow::{Context, Result};
use tilewright_codegen::Artifact;
use tilewright_evaluator::ConfirmationReport;
use tilewright_ir::{Schedule, WorkloadKey};
use tilewright_registry::{
    ArtifactFacts, CeilingFacts, Digest, DriftFacts, EntryOffset, Incumbent, Kernel, Origin, Registry,
    Timing, VerificationFacts,
};
use tilewright_runtime::HostFacts;
use tilewright_stats::{Claim, Decision, Evidence, Judged};

/// A kernel that may be published.
pub(crate) struct Publication<'a> {
    pub(crate) key: &'a WorkloadKey,
    pub(crate) schedule: &'a Schedule,
    pub(crate) program_hash: String,
    pub(crate) artifact: &'a Artifact,
    /// What it was measured beside.
    pub(crate) incumbent: Incumbent,
    pub(crate) origin: Origin,
}

/// Times and checks of the side that is published, with the pairs.
pub(crate) struct Measured {
    pub(crate) measurement: tilewright_journal::Measurement,
    pub(crate) verification: tilewright_journal::Verification,
    pub(crate) ceilings: tilewright_journal::Ceilings,
    pub(crate) evidence: Evidence,
}

impl From<ConfirmationReport> for Measured {
    fn from(report: ConfirmationReport) -> Self {
        Self {
            measurement: report.winner.measurement,
            verification: report.verification,
            ceilings: report.ceilings,
            evidence: report.evidence,
        }
    }
}

/// Publishes when the claim gate supports it; the record, or why there is none.
pub(crate) fn publish(
    registry: &Registry,
    publication: &Publication<'_>,
    measured: &Measured,
) -> Result<Option<Digest>> {
    let kernel = kernel(publication, measured);
    let judged = Judged::by(&Claim::DEFAULT, measured.evidence.clone(), kernel);
    let first_of_its_key = publication.incumbent == Incumbent::Default;
    let supported = match judged.verdict().kind {
        Decision::Faster => true,
        Decision::Inconclusive => first_of_its_key,
        Decision::Slower | Decision::Failed => false,
    };
    if !supported {
        return Ok(None);
    }
    let at = jiff::Timestamp::now().to_string();
    let digest = registry.publish(&judged, &publication.artifact.code, &at);
    digest.map(Some).with_context(|| format!("cannot publish to {}", registry.folder().display()))
}

fn kernel(publication: &Publication<'_>, measured: &Measured) -> Kernel {
    let artifact = publication.artifact;
    let (times, checks, ceilings) = (&measured.measurement, &measured.verification, &measured.ceilings);
    Kernel {
        key: publication.key.clone(),
        schedule: publication.schedule.clone(),
        program_hash: publication.program_hash.clone(),
        artifact: ArtifactFacts {
            sha256: Digest::of(&artifact.code),
            bytes: artifact.code.len() as u64,
            isa: artifact.isa.clone(),
            entries: artifact
                .entries
                .iter()
                .map(|entry| EntryOffset { name: entry.name.clone(), offset: entry.offset })
                .collect(),
            workers: artifact.workers,
            workspace_bytes: artifact.workspace_bytes,
        },
        incumbent: publication.incumbent,
        timing: Timing {
            median_ns: times.median_ns,
            low_ns: times.interval_ns.map(|interval| interval.low),
            high_ns: times.interval_ns.map(|interval| interval.high),
            p99_ns: times.p99_ns,
        },
        verification: VerificationFacts {
            method: checks.method.clone(),
            inputs: checks.inputs.clone(),
            elements: checks.elements,
            max_error: checks.max_error,
            tolerance: checks.tolerance,
            miss_probability: checks.miss_probability,
            drift: checks.drift.map(|drift| DriftFacts {
                max_ulps: drift.max_ulps,
                relative_error: drift.relative_error,
                limit: drift.limit,
            }),
        },
        ceilings: CeilingFacts {
            gflops: ceilings.gflops,
            gbps: ceilings.bandwidths.first().map_or(0.0, |bandwidth| bandwidth.gbps),
        },
        origin: publication.origin.clone(),
        conditions: Some(HostFacts::detect().conditions()),
    }
}
