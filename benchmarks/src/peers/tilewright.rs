//! Tilewright's own kernels: the registered one of the workload, this processor and the number of threads, or,
//! where none is registered, the default schedule, and [`Contender::describe_kernel`] says which.

use tilewright_codegen::{Artifact, Isa, isas};
use tilewright_evaluator::device_limits;
use tilewright_ir::{CacheState, Workload, WorkloadKey, default_schedule, legalise, lower};
use tilewright_registry::Registry;
use tilewright_runtime::{Dispatched, HostFacts, LoadedKernel, Operands, Pool, dispatch};

use super::{Absent, Contender, Entry, Problem, Role, Setup, Unsupported};

pub(super) const ENTRY: Entry = Entry {
    name: "tilewright",
    about: "Tilewright's registered kernel, else its default schedule",
    role: Role::Subject,
    library: None,
    open,
};

fn open(setup: &Setup) -> Result<Box<dyn Contender>, Absent> {
    let isa = isas().iter().copied().rfind(|isa| isa.available()).ok_or_else(|| Absent {
        why: "this processor has no instruction set with a code generator".to_owned(),
        remedy: "use a processor with AVX2 and FMA".to_owned(),
    })?;
    let registry = setup.registry.as_deref().map(Registry::open);
    let pool = Pool::new(setup.threads).map_err(|error| Absent {
        why: format!("no worker threads: {error}"),
        remedy: "use fewer threads".to_owned(),
    })?;
    let host = HostFacts::detect();
    Ok(Box::new(Tilewright { isa, registry, host, threads: setup.threads as u32, pool, kernel: None }))
}

struct Tilewright {
    isa: &'static dyn Isa,
    registry: Option<Registry>,
    host: HostFacts,
    threads: u32,
    pool: Pool,
    kernel: Option<Ready>,
}

struct Ready {
    loaded: LoadedKernel,
    operands: Operands,
    description: String,
}

impl Tilewright {
    fn registered(&self, workload: &Workload) -> Result<Option<(Artifact, String)>, Unsupported> {
        let Some(registry) = &self.registry else { return Ok(None) };
        let key = WorkloadKey {
            workload: workload.clone(),
            target: self.host.fingerprint(),
            threads: self.threads,
            cache: CacheState::Warm,
        };
        let found = dispatch(registry, &key, &self.host.conditions());
        match found.map_err(|error| Unsupported(error.to_string()))? {
            Dispatched::Nothing => Ok(None),
            Dispatched::Unverified { record, reasons } => Err(Unsupported(format!(
                "record {record} must be verified again (tilewright registry verify): {}",
                reasons.join("; ")
            ))),
            Dispatched::Kernel(record, artifact) => {
                let schedule = &record.kernel.subject().schedule;
                let description = format!("registered, {}: {schedule}", artifact.isa);
                Ok(Some((artifact, description)))
            }
        }
    }

    fn default(&self, workload: &Workload) -> Result<(Artifact, String), Unsupported> {
        let unsupported = |error: &dyn std::fmt::Display| Unsupported(error.to_string());
        let limits = device_limits(self.isa, self.threads, &self.host);
        let schedule = default_schedule(workload, &limits);
        let program = lower(workload, &schedule, &limits).map_err(|error| unsupported(&error))?;
        let program = legalise(&program, &limits).map_err(|error| unsupported(&error))?;
        let artifact = self.isa.compile(&program).map_err(|error| unsupported(&error))?;
        let description = format!("default schedule (none registered), {}: {schedule}", artifact.isa);
        Ok((artifact, description))
    }
}

impl Contender for Tilewright {
    fn describe_kernel(&self) -> String {
        self.kernel.as_ref().map_or_else(|| "no kernel".to_owned(), |kernel| kernel.description.clone())
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        self.kernel = None;
        let text = problem.shape().to_string();
        let workload: Workload = text.parse().map_err(|error| Unsupported(format!("{text}: {error}")))?;
        let (artifact, description) = match self.registered(&workload)? {
            Some(found) => found,
            None => self.default(&workload)?,
        };
        let loaded = LoadedKernel::load(&artifact).map_err(|error| Unsupported(error.to_string()))?;
        let tensors = vec![problem.a().cast_mut().cast(), problem.b().cast_mut().cast(), problem.c().cast()];
        self.kernel =
            Some(Ready { loaded, operands: Operands { tensors, extents: Vec::new() }, description });
        Ok(())
    }

    fn run(&mut self) {
        let Some(kernel) = &self.kernel else { return };
        // SAFETY: `Problem` guarantees operands of the workload's extents, in its order, as long as it is
        // prepared; the kernel was compiled for that workload and this processor.
        let ran = unsafe { self.pool.launch(&kernel.loaded, &kernel.operands) };
        ran.expect("invariant: the pool has at least the workers that the kernel was compiled for");
    }
}
