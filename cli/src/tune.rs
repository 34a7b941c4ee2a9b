//! `tilewright tune`: wires a campaign to this machine, its journal and the registry.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tilewright_evaluator::{DeviceRunner, Runner};
use tilewright_ir::{WorkloadKey, legalise, lower};
use tilewright_journal::{
    CAMPAIGN_FILE, CAMPAIGN_VERSION, CampaignRequest, EndReason, Event, JOURNAL_FILE, Plateau, Requested,
    Subject,
};
use tilewright_registry::{Digest, Incumbent, Origin, Registry};
use tilewright_results::{Campaign as Results, Summary};
use tilewright_search::{CampaignResult, External, strategies, strategy};

use crate::arguments::{Cache, Tune};
use crate::conduct::{Host, ISA_SETTING, conduct, stop_flag, tool};
use crate::progress::Progress;
use crate::proposer::Proposer;
use crate::publish::{Measured, Publication, publish};
use crate::remeasure::task;
use crate::target::Target;
use crate::{Ending, UsageError, advice, device, output, place, unusable};

const DEFAULT_STRATEGY: &str = "auto";

/// Seconds of search when the user sets no limit.
const DEFAULT_SECONDS: f64 = 60.0;

/// Relative gain that counts as progress, as in the margin of a claim.
const PLATEAU_GAIN: f64 = 0.01;

/// Setting of a request that names the command of the external strategy.
const PROPOSER_SETTING: &str = "proposer";

/// Everything that a campaign is carried out with.
struct Setup {
    folder: PathBuf,
    request: CampaignRequest,
    host: Host,
    key: WorkloadKey,
    /// The program of the external strategy.
    proposer: Option<Proposer>,
    quiet: bool,
}

/// Runs the command.
pub(crate) fn tune(arguments: &Tune) -> Result<Ending> {
    let quiet = arguments.quiet;
    let stop = stop_flag()?;
    let mut setup = setup(arguments, &stop)?;
    let registry = Registry::open(&place::registry(arguments.registry.as_deref())?);
    registry
        .check_writable()
        .context("what is found could not be kept; --registry DIR names another folder")?;
    let begun = setup.folder.join(JOURNAL_FILE).exists();
    // A campaign goes on with the advice it began with, whatever is asked now.
    let advice = if setup.proposer.is_some() || (arguments.no_heuristics && !begun) {
        Vec::new()
    } else {
        advice::choose(&registry, &mut setup.request, &setup.key, begun)?
    };
    let request = setup.request.clone();
    let mut plan = setup.host.plan(setup.folder.clone(), request, &setup.key, setup.proposer.take())?;
    plan.advice.clone_from(&advice);
    let mut runner = setup.host.runner(&setup.key, setup.request.seed)?;
    let mut progress = Progress::new(setup.quiet, &plan.started);
    let mut watch = |event: &Event| progress.note(event);
    let result = conduct(plan, &mut runner, setup.quiet, &mut watch, &stop);
    progress.clear();
    let result = result?;
    let published = publish_winner(&setup, &registry, &result, &mut runner);
    let record = published.as_ref().ok().copied().flatten();
    let results = Results::read(&setup.folder)?;
    let summary = Summary::of(&results);
    let outcomes = advice::outcomes(&advice, &results);
    print(&setup, &summary, record, outcomes, arguments.json)?;
    published.with_context(|| {
        format!("the winner was not published; --resume --out {} tries again", setup.folder.display())
    })?;
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
    let asked = arguments.strategy.as_deref().unwrap_or(DEFAULT_STRATEGY);
    if strategy(asked).is_none() && asked != External::ID {
        let known: Vec<&str> = strategies().iter().map(|entry| entry.id).collect();
        bail!(UsageError(format!("unknown strategy `{asked}`; there are: external, {}", known.join(", "))));
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
    let stored = match arguments.resume {
        true if !file.exists() => bail!(UsageError(format!(
            "{} holds no campaign to go on with: leave --resume out to begin one there",
            folder.display()
        ))),
        true => Some(CampaignRequest::read(&file).map_err(unusable)?),
        false => None,
    };
    let report = device::report(false, arguments.quiet)?;
    let isa =
        arguments.isa.as_deref().or_else(|| stored.as_ref()?.settings.get(ISA_SETTING).map(String::as_str));
    let host = Host::new(report, isa)?;
    let external = stored.as_ref().map_or(asked, |stored| &stored.strategy) == External::ID;
    let known = stored.as_ref().and_then(|stored| stored.settings.get(PROPOSER_SETTING).map(String::as_str));
    let proposer = Proposer::of(&arguments.proposer, external, known, stop)?;
    let mut request = match stored {
        Some(mut stored) => {
            if stored.workload.workload() != Some(workload) || stored.threads != arguments.threads {
                bail!(UsageError(format!(
                    "{} is a campaign of {} with {} threads: give the same workload and --threads to resume it",
                    folder.display(),
                    stored.workload,
                    stored.threads
                )));
            }
            check_unchanged(arguments, &stored, &folder)?;
            if arguments.time.is_some() || arguments.trials.is_some() {
                (stored.seconds, stored.trials) = (arguments.time, arguments.trials);
            }
            stored.plateau = plateau(arguments).or(stored.plateau);
            stored
        }
        None => new_request(arguments, &folder, host.target.isa.id())?,
    };
    if let Some(command) = &arguments.proposer.proposer {
        request.settings.insert(PROPOSER_SETTING.to_owned(), command.clone());
    }
    let key = host.key(workload, request.threads, request.cache);
    let quiet = arguments.quiet || arguments.json;
    Ok(Setup { folder, request, host, key, proposer, quiet })
}

fn new_request(arguments: &Tune, folder: &Path, isa: &str) -> Result<CampaignRequest> {
    // One that is empty was begun and killed at once.
    if std::fs::metadata(folder.join(JOURNAL_FILE)).is_ok_and(|journal| journal.len() > 0) {
        bail!(UsageError(format!(
            "{} holds a campaign already: give --resume to go on with it, or another --out",
            folder.display()
        )));
    }
    let plateau = plateau(arguments);
    let seconds = match (arguments.time, arguments.trials) {
        (None, None) if plateau.is_none() => Some(DEFAULT_SECONDS),
        (time, _) => time,
    };
    Ok(CampaignRequest {
        version: CAMPAIGN_VERSION,
        workload: Requested::Workload(arguments.workload.clone()),
        threads: arguments.threads,
        cache: arguments.cache.unwrap_or(Cache::Warm).into(),
        seconds,
        trials: arguments.trials,
        seed: arguments.seed.unwrap_or(0),
        strategy: arguments.strategy.as_deref().unwrap_or(DEFAULT_STRATEGY).to_owned(),
        plateau,
        settings: [(ISA_SETTING.to_owned(), isa.to_owned())].into(),
    })
}

/// Whether a campaign is to go on as it began: what decides which candidates it tries stays as it is.
fn check_unchanged(arguments: &Tune, stored: &CampaignRequest, folder: &Path) -> Result<()> {
    let text = |given: &Option<u64>| given.map(|seed| seed.to_string());
    let cache = arguments.cache.map(tilewright_ir::CacheState::from);
    let isa = stored.settings.get(ISA_SETTING).cloned().unwrap_or_default();
    for (option, given, begun) in [
        ("--seed", text(&arguments.seed), stored.seed.to_string()),
        ("--strategy", arguments.strategy.clone(), stored.strategy.clone()),
        ("--cache", cache.map(|cache| cache.to_string()), stored.cache.to_string()),
        ("--isa", arguments.isa.clone(), isa),
    ] {
        if let Some(given) = given.filter(|given| *given != begun) {
            bail!(UsageError(format!(
                "{option} {given}: {0} began with `{begun}`, and goes on with it: leave {option} out, or begin anew \
                 in another folder",
                folder.display()
            )));
        }
    }
    Ok(())
}

/// When the search ends for want of progress.
fn plateau(arguments: &Tune) -> Option<Plateau> {
    arguments.plateau.map(|trials| Plateau { trials, gain: PLATEAU_GAIN })
}

/// Publishes the winner where it is better than what is kept.
fn publish_winner(
    setup: &Setup,
    registry: &Registry,
    result: &CampaignResult,
    runner: &mut DeviceRunner,
) -> Result<Option<Digest>> {
    let Some(confirmation) = &result.confirmation else { return Ok(None) };
    let limits = setup.host.target.limits(setup.request.threads);
    let workload = &setup.key.workload;
    let schedule = &confirmation.winner.schedule;
    let program = legalise(&lower(workload, schedule, &limits)?, &limits)?;
    let artifact = setup.host.target.isa.compile(&program)?;
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
        return publish(registry, &publication, &measured);
    };
    let kept = current.kernel.subject();
    if kept.artifact.sha256 == Digest::of(&artifact.code) {
        return Ok(Some(current.id));
    }
    // It must be faster than what is kept, not only than the default.
    let subject = Arc::new(Subject::Workload(setup.key.clone()));
    let kept_target = Target::of_host(&setup.host.report.host, Some(&kept.artifact.isa))?;
    if kept_target.isa.id() != setup.host.target.isa.id() {
        if !setup.quiet {
            output::note(&format!(
                "note: the kept kernel is of {} and was not compared; `tilewright registry retract {}` withdraws \
                 it, --registry DIR names another registry",
                kept.artifact.isa, current.id
            ));
        }
        return Ok(None);
    }
    let winner = task(&subject, workload, schedule.clone(), &limits, setup.request.seed)?;
    let record = task(&subject, workload, kept.schedule.clone(), &limits, setup.request.seed)?;
    publication.incumbent = Incumbent::Record(current.id);
    match runner.confirm(&winner, &record) {
        Ok(Some(report)) => {
            let published = publish(registry, &publication, &report.into())?;
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
    /// What advised, and what came of it.
    heuristics: Vec<advice::Outcome>,
}

fn print(
    setup: &Setup,
    summary: &Summary,
    record: Option<Digest>,
    heuristics: Vec<advice::Outcome>,
    json: bool,
) -> Result<()> {
    let record = record.map(|record| record.to_string());
    if json {
        return output::json(&Printed { summary, campaign: &setup.folder, record, heuristics });
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
            let default_kept = default.as_ref().is_some_and(|default| default.schedule == winner.schedule);
            if default_kept {
                line("speedup", "none: nothing was judged faster than the default schedule".to_owned());
            } else if let Some(speedup) = summary.speedup {
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
    for outcome in &heuristics {
        line("advice", outcome.text());
    }
    line("campaign", setup.folder.display().to_string());
    line("record", record.unwrap_or_else(|| "none".to_owned()));
    output::result(&text)
}
