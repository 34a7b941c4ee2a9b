//! `tilewright tune`: wires a campaign to this machine, its journal and the registry.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tilewright_evaluator::{DeviceRunner, DeviceSettings, Pacing, Runner};
use tilewright_genome::SearchSpace;
use tilewright_ir::{WorkloadKey, default_schedule, legalise, lower};
use tilewright_journal::{
    CAMPAIGN_FILE, CAMPAIGN_VERSION, CampaignRequest, CampaignResumed, CampaignStarted, EndReason, Event,
    Fidelity, JOURNAL_FILE, Journal, JournalWriter, ProposerAnswered, Subject, Work,
};
use tilewright_registry::{Digest, Incumbent, Origin, Registry};
use tilewright_results::{Campaign as Results, Summary};
use tilewright_runtime::DeviceReport;
use tilewright_search::{
    Budget, Campaign, CampaignParts, CampaignResult, CampaignSettings, External, Lowering, ModelRanker,
    ModelRankerParts, Ranker, Strategy, cost_models, strategies, strategy,
};

use crate::arguments::Tune;
use crate::progress::Progress;
use crate::proposer::Proposer;
use crate::publish::{Measured, Publication, publish};
use crate::ranker::SimulatorRanker;
use crate::remeasure::task;
use crate::target::Target;
use crate::{Ending, UsageError, device, facts, output, place};

/// Seconds of search when the user sets no limit.
const DEFAULT_SECONDS: f64 = 60.0;

/// Operations of a launch from which on a cost model is learned during the search: shorter launches are
/// evaluated about as fast as they are ranked.
const WORTH_LEARNING: f64 = (1_u64 << 24) as f64;

/// Setting of a request that names the instruction set.
const ISA_SETTING: &str = "isa";

/// Setting of a request that names the command of the external strategy.
const PROPOSER_SETTING: &str = "proposer";

/// Name and version of this tool.
fn tool() -> String {
    format!("tilewright {}", env!("CARGO_PKG_VERSION"))
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// Everything that a campaign is carried out with.
struct Setup {
    folder: PathBuf,
    request: CampaignRequest,
    report: DeviceReport,
    target: Target,
    key: WorkloadKey,
    /// The program of the external strategy.
    proposer: Option<Proposer>,
    quiet: bool,
}

/// Runs the command.
pub(crate) fn tune(arguments: &Tune) -> Result<Ending> {
    let quiet = arguments.quiet;
    let stop = Arc::new(AtomicBool::new(false));
    let setup = setup(arguments, &stop)?;
    // The second Ctrl-C ends the process at once; the first only asks for the end.
    let interrupt = signal_hook::consts::SIGINT;
    signal_hook::flag::register_conditional_shutdown(interrupt, 130, Arc::clone(&stop))?;
    signal_hook::flag::register(interrupt, Arc::clone(&stop))?;
    let (mut writer, events) = open_journal(&setup, arguments.resume)?;
    let executable = std::env::current_exe().context("cannot find this program's file")?;
    let settings = DeviceSettings {
        isa: setup.target.isa,
        executable,
        seed: setup.request.seed,
        pacing: Pacing::default(),
    };
    let known = facts::ceilings(&setup.report, setup.request.threads, None).gflops;
    let mut runner = DeviceRunner::new(setup.key.clone(), settings)
        .context("cannot start a worker process")?
        .with_known_ceiling(known);
    let result = search(&setup, events, &mut writer, &mut runner, &stop)?;
    writer.sync()?;
    let record = match &result.confirmation {
        Some(_) => publish_winner(&setup, arguments, &result, &mut runner)?,
        None => None,
    };
    let results = Results::read(&setup.folder)?;
    let summary = Summary::of(&results);
    print(&setup, &summary, record, arguments.json)?;
    if !quiet && !arguments.json {
        output::note(&format!("tilewright report {}   makes a page of it", setup.folder.display()));
    }
    if let EndReason::Failed(why) = &result.why {
        let folder = setup.folder.display();
        bail!("the search ended early: {why}; its trials are kept, and --resume --out {folder} goes on");
    }
    Ok(match (&summary.winner, &result.why) {
        (_, EndReason::Interrupted) => Ending::Interrupted,
        (None, _) => Ending::NothingValid,
        (Some(_), _) => Ending::Done,
    })
}

/// Reads or makes the request, and looks at the machine.
fn setup(arguments: &Tune, stop: &Arc<AtomicBool>) -> Result<Setup> {
    if strategy(&arguments.strategy).is_none() && arguments.strategy != External::ID {
        let known: Vec<&str> = strategies().iter().map(|entry| entry.id).collect();
        bail!(UsageError(format!(
            "unknown strategy `{}`; there are: external, {}",
            arguments.strategy,
            known.join(", ")
        )));
    }
    let processors = tilewright_runtime::usable_processors().len();
    if arguments.threads as usize > processors {
        bail!(UsageError(format!(
            "--threads {}: this process may use {processors} processors",
            arguments.threads
        )));
    }
    let workload = &arguments.workload;
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => place::campaign(&workload.to_string(), arguments.threads),
    };
    let file = folder.join(CAMPAIGN_FILE);
    let stored = if arguments.resume { Some(CampaignRequest::read(&file)?) } else { None };
    let report = device::report(false, arguments.quiet)?;
    let isa =
        arguments.isa.as_deref().or_else(|| stored.as_ref()?.settings.get(ISA_SETTING).map(String::as_str));
    let target = Target::of_host(&report.host, isa).map_err(|error| UsageError(error.to_string()))?;
    let external = stored.as_ref().map_or(&arguments.strategy, |stored| &stored.strategy) == External::ID;
    let known = stored.as_ref().and_then(|stored| stored.settings.get(PROPOSER_SETTING).map(String::as_str));
    let proposer = Proposer::of(&arguments.proposer, external, known, stop)?;
    let mut request = match stored {
        Some(mut stored) => {
            if stored.workload != *workload || stored.threads != arguments.threads {
                bail!(UsageError(format!(
                    "{} is a campaign of {} with {} threads: give the same workload and --threads to resume it",
                    folder.display(),
                    stored.workload,
                    stored.threads
                )));
            }
            if arguments.time.is_some() || arguments.trials.is_some() {
                (stored.seconds, stored.trials) = (arguments.time, arguments.trials);
            }
            stored
        }
        None => new_request(arguments, &folder, target.isa.id())?,
    };
    if let Some(command) = &arguments.proposer.proposer {
        request.settings.insert(PROPOSER_SETTING.to_owned(), command.clone());
    }
    request.write(&file).with_context(|| format!("cannot write to {}", folder.display()))?;
    let key = target.key(workload, request.threads, request.cache);
    let quiet = arguments.quiet || arguments.json;
    Ok(Setup { folder, request, report, target, key, proposer, quiet })
}

fn new_request(arguments: &Tune, folder: &Path, isa: &str) -> Result<CampaignRequest> {
    if folder.join(JOURNAL_FILE).exists() {
        bail!(UsageError(format!(
            "{} holds a campaign already: give --resume to go on with it, or another --out",
            folder.display()
        )));
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let seconds = match (arguments.time, arguments.trials) {
        (None, None) => Some(DEFAULT_SECONDS),
        (time, _) => time,
    };
    Ok(CampaignRequest {
        version: CAMPAIGN_VERSION,
        workload: arguments.workload.clone(),
        threads: arguments.threads,
        cache: arguments.cache.into(),
        seconds,
        trials: arguments.trials,
        seed: arguments.seed,
        strategy: arguments.strategy.clone(),
        settings: [(ISA_SETTING.to_owned(), isa.to_owned())].into(),
    })
}

/// Opens the journal for more events; what it holds already comes back.
fn open_journal(setup: &Setup, resume: bool) -> Result<(JournalWriter, Vec<Event>)> {
    let path = setup.folder.join(JOURNAL_FILE);
    if resume && path.exists() {
        let (mut writer, repair) = JournalWriter::resume(&path)?;
        let journal = Journal::read(&path)?;
        if !setup.quiet {
            for damage in &journal.damage {
                output::note(&format!("warning: {}: {damage}; the rest is used", path.display()));
            }
            if let Some(aside) = &repair.torn_aside {
                output::note(&format!("note: a line that was cut off was moved to {}", aside.display()));
            }
        }
        let events: Vec<Event> = journal.entries.into_iter().map(|entry| entry.event).collect();
        let trials = events.iter().filter(|event| matches!(event, Event::TrialFinished(_))).count() as u64;
        writer.append(&Event::CampaignResumed(CampaignResumed { resumed: now(), tool: tool(), trials }))?;
        return Ok((writer, events));
    }
    let mut writer = JournalWriter::create(&path)?;
    let computation = setup.request.workload.operator().describe(setup.request.workload.parameters())?;
    writer.append(&Event::CampaignStarted(Box::new(CampaignStarted {
        request: setup.request.clone(),
        subject: Subject::Workload(setup.key.clone()),
        work: Work { operations: computation.operations(), compulsory_bytes: computation.compulsory_bytes() },
        space_points: None,
        host: facts::host(&setup.report.host),
        ceilings: facts::ceilings(
            &setup.report,
            setup.request.threads,
            device::noise(&setup.report, setup.request.threads),
        ),
        tool: tool(),
        command: std::env::args().collect(),
        started: now(),
    })))?;
    Ok((writer, Vec::new()))
}

fn search(
    setup: &Setup,
    events: Vec<Event>,
    writer: &mut JournalWriter,
    runner: &mut DeviceRunner,
    stop: &AtomicBool,
) -> Result<CampaignResult> {
    let request = &setup.request;
    let limits = setup.target.limits(request.threads);
    let default = default_schedule(&request.workload, &limits);
    let space = SearchSpace::of(&request.workload, &limits)?;
    let strategy: Box<dyn Strategy> = if let Some(proposer) = &setup.proposer {
        Box::new(proposer.start(answers(&events))?)
    } else {
        let entry = strategy(&request.strategy);
        (entry.context("the campaign's strategy is not known to this version")?.create)()
    };
    let chip = facts::chip(&setup.report, setup.target.isa, limits.vector_bytes, limits.vector_registers);
    let operations = request.workload.operator().describe(request.workload.parameters())?.operations();
    let simulator = SimulatorRanker { chip, cache: request.cache };
    let ranker: Box<dyn Ranker> = match cost_models().first() {
        Some(model) if operations >= WORTH_LEARNING => Box::new(ModelRanker::new(ModelRankerParts {
            space: space.clone(),
            prior: Box::new(simulator),
            model: (model.create)(request.seed),
            program: None,
        })),
        _ => Box::new(simulator),
    };
    let parts = CampaignParts {
        subject: Subject::Workload(setup.key.clone()),
        space,
        default,
        strategy,
        ranker,
        prepare: Box::new(Lowering { workload: request.workload.clone(), limits }),
        fidelity: Fidelity::Measured,
    };
    let budget =
        Budget { time_ns: request.seconds.map(|seconds| (seconds * 1e9) as u64), trials: request.trials };
    let settings = CampaignSettings { seed: request.seed, budget, ..CampaignSettings::default() };
    let ceiling = facts::ceilings(&setup.report, request.threads, None).gflops;
    let mut progress = Progress::new(setup.quiet, operations, ceiling, request.seconds, request.trials);
    for event in &events {
        progress.note(event);
    }
    let mut campaign = Campaign::resume(settings, parts, events);
    let mut sink = |event: &Event| -> Result<(), tilewright_search::SinkError> {
        writer.append(event)?;
        progress.note(event);
        Ok(())
    };
    let result = campaign.run(runner, &mut sink, stop);
    progress.clear();
    Ok(result?)
}

/// What a program outside has answered so far.
fn answers(events: &[Event]) -> Vec<ProposerAnswered> {
    let answered = events.iter().filter_map(|event| match event {
        Event::ProposerAnswered(answered) => Some(answered.clone()),
        _ => None,
    });
    answered.collect()
}

/// Publishes the winner where it is better than what is kept.
fn publish_winner(
    setup: &Setup,
    arguments: &Tune,
    result: &CampaignResult,
    runner: &mut DeviceRunner,
) -> Result<Option<Digest>> {
    let Some(confirmation) = &result.confirmation else { return Ok(None) };
    let registry = Registry::open(&place::registry(arguments.registry.as_deref())?);
    let limits = setup.target.limits(setup.request.threads);
    let workload = &setup.request.workload;
    let schedule = &confirmation.winner.schedule;
    let program = legalise(&lower(workload, schedule, &limits)?, &limits)?;
    let artifact = setup.target.isa.compile(&program)?;
    let current = registry.lookup(&setup.key)?;
    let mut publication = Publication {
        key: &setup.key,
        schedule,
        program_hash: program.hash().to_string(),
        artifact: &artifact,
        incumbent: Incumbent::Default,
        origin: Origin {
            tool: tool(),
            campaign: setup.folder.display().to_string(),
            seed: setup.request.seed,
            trial: confirmation.winner.trial,
        },
    };
    let Some(current) = current else {
        if confirmation.winner.trial == confirmation.default.trial && result.winner != Some(0) {
            return Ok(None);
        }
        let measured = Measured {
            measurement: confirmation.winner.measurement.clone(),
            verification: confirmation.verification.clone(),
            ceilings: confirmation.ceilings.clone(),
            evidence: confirmation.evidence.clone(),
        };
        return publish(&registry, &publication, &measured);
    };
    let kept = current.kernel.subject();
    if kept.artifact.sha256 == Digest::of(&artifact.code) {
        return Ok(Some(current.id));
    }
    // It must be faster than what is kept, not only than the default.
    let subject = Arc::new(Subject::Workload(setup.key.clone()));
    let kept_target = Target::of_host(&setup.report.host, Some(&kept.artifact.isa))?;
    if kept_target.isa.id() != setup.target.isa.id() {
        output::note(
            "note: the kept kernel is of another instruction set and was not compared; see registry retract",
        );
        return Ok(None);
    }
    let winner = task(&subject, workload, schedule.clone(), &limits, setup.request.seed)?;
    let record = task(&subject, workload, kept.schedule.clone(), &limits, setup.request.seed)?;
    publication.incumbent = Incumbent::Record(current.id);
    match runner.confirm(&winner, &record) {
        Ok(Some(report)) => {
            let published = publish(&registry, &publication, &report.into())?;
            if published.is_none() && !setup.quiet {
                output::note("note: not judged faster than the kernel in the registry, which stays");
            }
            Ok(published)
        }
        Ok(None) => Ok(None),
        Err(error) => {
            output::note(&format!("note: the comparison with the kernel in the registry failed: {error}"));
            Ok(None)
        }
    }
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    campaign: &'a Path,
    record: Option<String>,
}

fn print(setup: &Setup, summary: &Summary, record: Option<Digest>, json: bool) -> Result<()> {
    let record = record.map(|record| record.to_string());
    if json {
        return output::json(&Printed { summary, campaign: &setup.folder, record });
    }
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<14}{value}\n"));
    line(
        "workload",
        format!("{} on {}", setup.request.workload, output::threads(setup.request.threads as usize)),
    );
    match (&summary.winner, &summary.default) {
        (Some(winner), default) => {
            line(
                "winner",
                format!(
                    "{:.1} GFLOP/s, {:.1} % of the {} ceiling, median {:.2} µs",
                    winner.gflops,
                    100.0 * winner.ceiling_fraction,
                    winner.bound,
                    winner.median_ns / 1e3
                ),
            );
            if let Some(default) = default {
                line("default", format!("{:.1} GFLOP/s", default.gflops));
            }
            if let Some(speedup) = summary.speedup {
                line("speedup", format!("{speedup:.3}, confirmed in a fresh process on fresh data"));
            }
            line("schedule", winner.schedule.to_string());
        }
        (None, _) => line("winner", "none: no candidate was valid".to_owned()),
    }
    line("ceiling", format!("{:.1} GFLOP/s", summary.ceiling.gflops));
    let outcomes: Vec<String> =
        summary.outcomes.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    line(
        "evaluations",
        format!(
            "{} ({:.0} a second; {})",
            summary.evaluations,
            summary.evaluations_per_second,
            outcomes.join(", ")
        ),
    );
    line("campaign", setup.folder.display().to_string());
    line("record", record.unwrap_or_else(|| "none".to_owned()));
    output::result(&text)
}
