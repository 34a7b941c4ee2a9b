//! No file, no network, no signal to others: a Landlock domain.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::{Confinement, Measure};

/// The newest rules that are asked for; older kernels enforce those that they know.
const NEWEST: ABI = ABI::V6;

/// Forbids this thread and those that it starts to open files other than to read beneath `readable`, to use TCP, and
/// to reach processes outside.
///
/// To be called before threads are started: Landlock confines threads one by one.
pub(super) fn confine_files(readable: &[PathBuf], confinement: &mut Confinement) {
    match restrict(readable) {
        Ok(RulesetStatus::NotEnforced) => {
            confinement.refused.push((Measure::NoFiles, "this kernel has no Landlock".to_owned()));
        }
        Ok(_) => confinement.applied.push(Measure::NoFiles),
        Err(error) => confinement.refused.push((Measure::NoFiles, error.to_string())),
    }
}

fn restrict(readable: &[PathBuf]) -> Result<RulesetStatus, RulesetError> {
    let created = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(readable, AccessFs::from_read(NEWEST)))?;
    Ok(created.restrict_self()?.ruleset)
}
