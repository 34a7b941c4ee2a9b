//! Campaigns on a described chip: nothing is run and no clock is read.

use std::path::PathBuf;

use anyhow::{Context, Result};
use tilewright_codegen::{CacheSizes, isas};
use tilewright_evaluator::SimulatedRunner;
use tilewright_genome::SearchSpace;
use tilewright_ir::{Limits, WorkloadKey, default_schedule};
use tilewright_journal::{CampaignRequest, CampaignStarted, Fidelity, Subject};
use tilewright_search::{Lowering, ProposalOrder};
use tilewright_simulator::{Chip, chip_named, chips};

use super::{Plan, started, work};
use crate::UsageError;

/// The chip of this name.
pub(crate) fn simulated_chip(name: &str) -> Result<&'static Chip> {
    let known = || chips().iter().map(|chip| &*chip.id).collect::<Vec<_>>().join(", ");
    let unknown = || UsageError(format!("unknown chip `{name}`; there are: {}", known()));
    Ok(chip_named(name).ok_or_else(unknown)?)
}

/// The plan of a campaign on this chip, and its runner. Proposals are not ranked: the ranker would be the
/// very model that answers.
pub(crate) fn simulated(
    folder: PathBuf,
    request: CampaignRequest,
    key: &WorkloadKey,
    chip: &Chip,
) -> Result<(Plan, SimulatedRunner)> {
    let limits = limits(chip, key.threads)?;
    let default = default_schedule(&key.workload, &limits);
    let space = SearchSpace::of(&key.workload, &limits)?;
    let work = work(&key.workload)?;
    let mut started = CampaignStarted { ..started(request, Subject::Workload(key.clone()), work) };
    started.host.processor = format!("{}, simulated", chip.name);
    started.host.fingerprint.clone_from(&key.target);
    let prepare = Box::new(Lowering { workload: key.workload.clone(), limits });
    let (ranker, fidelity) = (Box::new(ProposalOrder), Fidelity::Simulated);
    let plan = Plan {
        folder,
        started,
        space,
        default,
        ranker,
        prepare,
        fidelity,
        proposer: None,
        advice: Vec::new(),
    };
    Ok((plan, SimulatedRunner::new(chip.clone(), key.cache)))
}

/// Limits of programs for so many threads of a chip: those of the instruction set with its vectors.
fn limits(chip: &Chip, threads: u32) -> Result<Limits> {
    let bytes = |name: &str| {
        let level = chip.levels.iter().find(|level| level.name == name);
        level.and_then(|level| level.bytes.as_ref()).map_or(0, |bytes| bytes.v as u64)
    };
    let caches = CacheSizes { l1: bytes("L1"), l2: bytes("L2"), l3: bytes("L3") };
    let of_isas = isas().iter().map(|isa| isa.limits(threads, &caches));
    let fits = |limits: &Limits| limits.vector_bytes == chip.vectors.bytes.v as u64;
    of_isas.into_iter().find(fits).with_context(|| {
        format!("no code generator has the {}-byte vectors of chip `{}`", chip.vectors.bytes.v, chip.id)
    })
}
