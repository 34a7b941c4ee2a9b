//! `tilewright run`: computes with the kept kernel, or the default schedule.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tilewright_codegen::Artifact;
use tilewright_ir::computation::Operand;
use tilewright_ir::program::Role;
use tilewright_ir::{CacheState, default_schedule, legalise, lower};
use tilewright_registry::Registry;
use tilewright_runtime::{
    BufferSpec, Dispatched, GuardedBuffer, HostFacts, Launcher, LoadedKernel, Operands, Placement, Pool,
    dispatch,
};

use crate::arguments::Run;
use crate::target::Target;
use crate::{npy, output, place, unusable};

/// What is printed as JSON.
#[derive(Serialize)]
struct Printed {
    version: u32,
    workload: String,
    kernel: &'static str,
    record: Option<String>,
    /// A kept kernel that was not used.
    unverified: Option<Unverified>,
    schedule: String,
    artifact_sha256: String,
    nanoseconds: u64,
    out: PathBuf,
}

/// A kept kernel that must be verified again before it is used.
#[derive(Serialize)]
struct Unverified {
    record: String,
    reasons: Vec<String>,
}

/// A kernel with its origin.
struct Chosen {
    artifact: Artifact,
    kernel: &'static str,
    record: Option<String>,
    unverified: Option<Unverified>,
    schedule: String,
}

/// Runs the command.
pub(crate) fn run(arguments: &Run) -> Result<()> {
    let computation = arguments.workload.operator().describe(arguments.workload.parameters())?;
    let operands = computation.operands();
    let files = files(arguments, operands).map_err(unusable)?;
    let mut contents = Vec::new();
    for operand in operands {
        contents.push(match files.get(operand.name.as_str()) {
            Some(file) => npy::read(file, operand).map_err(unusable)?,
            None => vec![0; operand.layout().bytes() as usize],
        });
    }
    let chosen = choose(arguments)?;
    let mut buffers = Vec::new();
    for content in &contents {
        let mut buffer = GuardedBuffer::new(&BufferSpec::new(content.len(), Placement::AgainstStart).huge())?;
        buffer.bytes_mut().context("fresh memory is writable")?.copy_from_slice(content);
        buffers.push(buffer);
    }
    let loaded = LoadedKernel::load(&chosen.artifact)?;
    let pool = Pool::new(loaded.workers())?;
    let launcher = Launcher::new(&pool);
    let pointers = Operands { tensors: buffers.iter().map(GuardedBuffer::as_ptr).collect(), extents: vec![] };
    // SAFETY: the buffers have the size of the workload's operands, in its order, and outlive the launch; the
    // artifact was compiled for this workload, and its instruction set was found to be there.
    let nanoseconds = unsafe { launcher.time_batch(&loaded, &pointers, 1) }?;
    let result = operands
        .iter()
        .position(|operand| operand.role != Role::Input)
        .context("an operator has an output")?;
    npy::write(&arguments.out, &operands[result], buffers[result].bytes())?;
    let printed = Printed {
        version: 1,
        workload: arguments.workload.to_string(),
        kernel: chosen.kernel,
        record: chosen.record,
        unverified: chosen.unverified,
        schedule: chosen.schedule,
        artifact_sha256: chosen.artifact.sha256(),
        nanoseconds,
        out: arguments.out.clone(),
    };
    if arguments.json {
        return output::json(&printed);
    }
    output::result(&format!(
        "{} computed in {:.3} ms with the {} kernel ({}); result in {}\n",
        printed.workload,
        nanoseconds as f64 / 1e6,
        printed.kernel,
        printed.schedule,
        printed.out.display()
    ))
}

/// The file of each operand that is read, all of them and no others.
fn files<'a>(arguments: &'a Run, operands: &[Operand]) -> Result<BTreeMap<&'a str, &'a PathBuf>> {
    let short = [("a", &arguments.a), ("b", &arguments.b)];
    let short = short.into_iter().filter_map(|(name, file)| Some((name, file.as_ref()?)));
    let long = arguments.input.iter().map(|(name, file)| (name.as_str(), file));
    let mut files = BTreeMap::new();
    let read: Vec<&str> = operands
        .iter()
        .filter(|operand| operand.role != Role::Output)
        .map(|operand| operand.name.as_str())
        .collect();
    for (name, file) in short.chain(long) {
        if !read.contains(&name) {
            bail!("{} reads no operand `{name}`; it reads: {}", arguments.workload, read.join(", "));
        }
        if files.insert(name, file).is_some() {
            bail!("operand `{name}` is given twice");
        }
    }
    if let Some(missing) = read.iter().find(|name| !files.contains_key(*name)) {
        bail!("operand `{missing}` is missing: give --input {missing}=FILE.npy");
    }
    Ok(files)
}

/// The kept kernel, or the default schedule with a note.
fn choose(arguments: &Run) -> Result<Chosen> {
    let host = HostFacts::detect();
    let target = Target::of_host(&host, None)?;
    let folder = place::registry(arguments.registry.as_deref())?;
    let registry = Registry::open(&folder);
    let mut unverified = None;
    for cache in [CacheState::Warm, CacheState::Cold] {
        let key = target.key(&arguments.workload, arguments.threads, cache);
        match dispatch(&registry, &key, &host.conditions())? {
            Dispatched::Nothing => {}
            Dispatched::Unverified { record, reasons } => {
                unverified.get_or_insert(Unverified { record: record.to_string(), reasons });
            }
            Dispatched::Kernel(record, artifact) => {
                return Ok(Chosen {
                    artifact,
                    kernel: "registered",
                    schedule: record.kernel.subject().schedule.to_string(),
                    record: Some(record.id.to_string()),
                    unverified: None,
                });
            }
        }
    }
    if !arguments.quiet {
        let key = target.key(&arguments.workload, arguments.threads, CacheState::Warm);
        crate::registry::warn_of_damage(&registry, Some(&key))?;
        output::note(&match &unverified {
            Some(Unverified { record, reasons }) => format!(
                "note: the registered kernel {} must be verified again before it is used: {}; using the default \
                 schedule (`tilewright registry verify --registry {}` verifies and measures it)",
                &record[..12],
                reasons.join("; "),
                folder.display()
            ),
            None => format!(
                "note: no kernel of {} with {} is registered for this machine in {}; using the default schedule \
                 (tilewright tune finds a better one)",
                arguments.workload,
                output::threads(arguments.threads as usize),
                folder.display()
            ),
        });
    }
    let limits = target.limits(arguments.threads);
    let schedule = default_schedule(&arguments.workload, &limits);
    let program = legalise(&lower(&arguments.workload, &schedule, &limits)?, &limits)?;
    Ok(Chosen {
        artifact: target.isa.compile(&program)?,
        kernel: "default",
        record: None,
        unverified,
        schedule: schedule.to_string(),
    })
}
