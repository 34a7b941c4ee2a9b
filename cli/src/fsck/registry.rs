use std::path::Path;

use anyhow::Result;
use tilewright_registry::Registry;

use super::Place;

/// Checks a registry: chain, digests, verdicts, files that nothing leads to.
pub(super) fn registry(folder: &Path, repair: bool, found: &mut Place) -> Result<()> {
    let registry = Registry::open(folder);
    let report = registry.verify_chain()?;
    for problem in report.problems {
        found.wrong(&problem.path, problem.line, problem.problem);
    }
    found.sound =
        registry.list()?.iter().filter(|listed| registry.show(listed.record).is_ok()).count() as u64;
    if !repair || found.problems.is_empty() {
        return Ok(());
    }
    let done = registry.repair(&jiff::Timestamp::now().to_string())?;
    found.aside = done.aside;
    // What is still wrong is not storage's: a verdict that comes out differently, or a later version's record.
    let left = registry.verify_chain()?.problems;
    for problem in &mut found.problems {
        problem.repaired =
            !left.iter().any(|left| left.path == problem.path && left.problem == problem.problem);
    }
    Ok(())
}
