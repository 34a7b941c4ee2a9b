//! One campaign of a matrix.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use tilewright_ir::{Workload, WorkloadKey};
use tilewright_journal::{
    CAMPAIGN_VERSION, CampaignRequest, Cell, Event, MatrixTarget, Requested, Source, Subject,
};
use tilewright_search::score::ScoredSpace;
use tilewright_search::{CampaignResult, Heuristic};
use tilewright_stats::Level;

use super::folder::Folder;
use crate::advice::Pool;
use crate::conduct::{Host, ISA_SETTING, Plan, conduct, recorded, simulated, simulated_chip};
use crate::score::recorded_space;
use crate::{UsageError, device};

/// Setting of a request that names the chip that is simulated.
const CHIP_SETTING: &str = "chip";

/// Everything that cells are carried out with.
pub(super) struct Bench<'a> {
    folder: &'a Folder,
    quiet: bool,
    /// Time and candidates of each cell.
    budget: (Option<f64>, Option<u64>),
    /// By name of the workload.
    spaces: BTreeMap<&'a str, ScoredSpace>,
    /// This machine, by name of the target.
    hosts: BTreeMap<&'a str, Host>,
    /// What may advise.
    pool: Pool,
}

impl<'a> Bench<'a> {
    /// Reads the recordings and looks at the machine, as far as cells need them; what cannot be carried out
    /// is an error here, before anything has run.
    pub(super) fn new(folder: &'a Folder, pool: Pool, quiet: bool) -> Result<Self> {
        let matrix = &folder.matrix;
        let mut bench = Self {
            folder,
            quiet,
            budget: matrix.budget.of_cell(matrix.cells().len()),
            spaces: BTreeMap::new(),
            hosts: BTreeMap::new(),
            pool,
        };
        for workload in &matrix.workloads {
            if let Source::Recorded(file) = &workload.source {
                let space = recorded_space(&workload.name, &folder.recording(file)?)
                    .with_context(|| format!("workload `{}`", workload.name))?;
                bench.spaces.insert(&workload.name, space);
            }
        }
        let is_lowered = |source: &Source| matches!(source, Source::Workload(_));
        let lowered = matrix.workloads.iter().any(|workload| is_lowered(&workload.source));
        let processors = tilewright_runtime::usable_processors().len();
        for target in matrix.targets.iter().filter(|target| lowered && target.chip.is_none()) {
            if target.threads as usize > processors {
                let (name, threads) = (&target.name, target.threads);
                bail!(UsageError(format!(
                    "target `{name}`: {threads} threads, and this process may use {processors} processors; give fewer `threads`"
                )));
            }
            let report = device::report(false, quiet)?;
            let host = Host::new(report, target.isa.as_deref());
            bench.hosts.insert(&target.name, host.with_context(|| format!("target `{}`", target.name))?);
        }
        for cell in matrix.cells().iter().filter(|cell| cell.seed == matrix.seeds[0]) {
            if let (Source::Workload(workload), Some(MatrixTarget { chip: Some(chip), .. })) =
                (&cell.workload.source, cell.target)
            {
                simulated(
                    folder.path.clone(),
                    bench.request(cell)?.0,
                    &key(cell, workload),
                    simulated_chip(chip)?,
                )
                .with_context(|| cell.problem())?;
            }
        }
        Ok(bench)
    }

    /// What a cell is asked, and what advises on it.
    pub(super) fn request(&self, cell: &Cell<'_>) -> Result<(CampaignRequest, Vec<Heuristic>)> {
        let (workload, mut settings) = match &cell.workload.source {
            Source::Workload(workload) => (Requested::Workload(workload.clone()), BTreeMap::new()),
            Source::Recorded(_) => (Requested::Recorded(cell.workload.name.clone()), BTreeMap::new()),
        };
        if let Some(target) = cell.target {
            let (name, value) = match &target.chip {
                Some(chip) => (CHIP_SETTING, chip.clone()),
                None => (ISA_SETTING, self.host(target)?.target.isa.id().to_owned()),
            };
            settings.insert(name.to_owned(), value);
        }
        let (seconds, trials) = self.budget;
        let mut request = CampaignRequest {
            version: CAMPAIGN_VERSION,
            workload,
            threads: cell.target.map_or(1, |target| target.threads),
            cache: cell.target.map_or(tilewright_ir::CacheState::Warm, |target| target.cache),
            seconds,
            trials,
            seed: cell.seed,
            strategy: cell.strategy.to_owned(),
            plateau: self.folder.matrix.budget.plateau,
            settings,
        };
        let advice = self.pool.advise(&mut request, &self.subject(cell)?);
        Ok((request, advice))
    }

    fn subject(&self, cell: &Cell<'_>) -> Result<Subject> {
        match (&cell.workload.source, cell.target) {
            (Source::Workload(workload), Some(target)) if target.chip.is_none() => {
                Ok(Subject::Workload(self.host(target)?.key(workload, target.threads, target.cache)))
            }
            (Source::Workload(workload), _) => Ok(Subject::Workload(key(cell, workload))),
            (Source::Recorded(_), _) => Ok((**self.space(cell)?.subject()).clone()),
        }
    }

    fn space(&self, cell: &Cell<'_>) -> Result<&ScoredSpace> {
        let space = self.spaces.get(&*cell.workload.name);
        space.with_context(|| format!("`{}` was not read", cell.workload.name))
    }

    fn host(&self, target: &MatrixTarget) -> Result<&Host> {
        self.hosts.get(&*target.name).with_context(|| format!("target `{}` was not looked at", target.name))
    }

    /// Runs a cell, or goes on with it.
    pub(super) fn carry_out(
        &self,
        cell: &Cell<'_>,
        watch: &mut dyn FnMut(&Event),
        stop: &AtomicBool,
    ) -> Result<CampaignResult> {
        let folder = self.folder.path.join(cell.folder());
        let (request, advice) = self.request(cell)?;
        let (Source::Workload(workload), Some(target)) = (&cell.workload.source, cell.target) else {
            let (plan, mut runner) = recorded(folder, request, self.space(cell)?);
            return conduct(Plan { advice, ..plan }, &mut runner, self.quiet, watch, stop);
        };
        if let Some(chip) = &target.chip {
            let chip = simulated_chip(chip)?;
            let (plan, mut runner) = simulated(folder, request, &key(cell, workload), chip)?;
            return conduct(Plan { advice, ..plan }, &mut runner, self.quiet, watch, stop);
        }
        let host = self.host(target)?;
        let key = host.key(workload, target.threads, target.cache);
        let plan = Plan { advice, ..host.plan(folder, request, &key, None)? };
        let level = Level::ONE_IN_TEN_THOUSAND;
        conduct(plan, &mut host.runner(&key, cell.seed, level)?, self.quiet, watch, stop)
    }
}

/// Under which name results of a simulated cell are kept.
fn key(cell: &Cell<'_>, workload: &Workload) -> WorkloadKey {
    let chip = cell.target.and_then(|target| target.chip.clone());
    WorkloadKey {
        workload: workload.clone(),
        target: chip.unwrap_or_default(),
        threads: cell.target.map_or(1, |target| target.threads),
        cache: cell.target.map_or(tilewright_ir::CacheState::Warm, |target| target.cache),
    }
}
