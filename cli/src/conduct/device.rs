//! Campaigns that measure on this machine.

use std::path::PathBuf;

use anyhow::{Context, Result};
use tilewright_evaluator::{DeviceRunner, DeviceSettings, Pacing};
use tilewright_genome::SearchSpace;
use tilewright_ir::{CacheState, Workload, WorkloadKey, default_schedule};
use tilewright_journal::{CampaignRequest, CampaignStarted, Fidelity, Subject};
use tilewright_runtime::DeviceReport;
use tilewright_search::{Lowering, ModelRanker, ModelRankerParts, Ranker, cost_models};
use tilewright_stats::Level;

use super::{Plan, started, work};
use crate::proposer::Proposer;
use crate::ranker::SimulatorRanker;
use crate::target::Target;
use crate::{UsageError, device, facts};

/// Setting of a request that names the instruction set.
pub(crate) const ISA_SETTING: &str = "isa";

/// Operations of a launch from which on a cost model is learned during the search: shorter launches are
/// evaluated about as fast as they are ranked.
const WORTH_LEARNING: f64 = (1_u64 << 24) as f64;

/// This machine with the instruction set that kernels are made for.
pub(crate) struct Host {
    /// What it can do.
    pub(crate) report: DeviceReport,
    /// For what kernels are made.
    pub(crate) target: Target,
}

impl Host {
    /// This machine with the instruction set named, or its widest.
    pub(crate) fn new(report: DeviceReport, isa: Option<&str>) -> Result<Self> {
        let target = Target::of_host(&report.host, isa).map_err(|error| UsageError(error.to_string()))?;
        Ok(Self { report, target })
    }

    /// Under which name results are kept.
    pub(crate) fn key(&self, workload: &Workload, threads: u32, cache: CacheState) -> WorkloadKey {
        self.target.key(workload, threads, cache)
    }

    /// The runner of a campaign, whose claims are tested at this level.
    pub(crate) fn runner(&self, key: &WorkloadKey, seed: u64, claim_level: Level) -> Result<DeviceRunner> {
        let executable = std::env::current_exe().context("cannot find this program's file")?;
        let pacing = Pacing::default();
        let settings = DeviceSettings { isa: self.target.isa, executable, seed, pacing, claim_level };
        let known = facts::ceilings(&self.report, key.threads, None).gflops;
        let runner = DeviceRunner::new(key.clone(), settings).context("cannot start a worker process")?;
        Ok(runner.with_known_ceiling(known))
    }

    /// The plan of a campaign.
    pub(crate) fn plan(
        &self,
        folder: PathBuf,
        request: CampaignRequest,
        key: &WorkloadKey,
        proposer: Option<Proposer>,
    ) -> Result<Plan> {
        let workload = &key.workload;
        let limits = self.target.limits(key.threads);
        let default = default_schedule(workload, &limits);
        let space = SearchSpace::of(workload, &limits)?;
        let work = work(workload)?;
        let chip = facts::chip(&self.report, self.target.isa, limits.vector_bytes, limits.vector_registers);
        let simulator = SimulatorRanker { chip, cache: key.cache };
        let ranker: Box<dyn Ranker> = match cost_models().first() {
            Some(model) if work.operations >= WORTH_LEARNING => {
                Box::new(ModelRanker::new(ModelRankerParts {
                    space: space.clone(),
                    prior: Box::new(simulator),
                    model: (model.create)(request.seed),
                    program: None,
                }))
            }
            _ => Box::new(simulator),
        };
        let noise = device::noise(&self.report, key.threads);
        let started = CampaignStarted {
            host: facts::host(&self.report.host),
            ceilings: facts::ceilings(&self.report, key.threads, noise),
            ..started(request, Subject::Workload(key.clone()), work)
        };
        let prepare = Box::new(Lowering { workload: workload.clone(), limits });
        let fidelity = Fidelity::Measured;
        Ok(Plan { folder, started, space, default, ranker, prepare, fidelity, proposer, advice: Vec::new() })
    }
}
