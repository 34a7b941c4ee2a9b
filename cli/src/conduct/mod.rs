//! Carries out one campaign: its folder, its journal, its search. What is evaluated by whom is the plan's
//! business, one file a kind.

mod device;
mod recorded;
mod simulated;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tilewright_evaluator::Runner;
use tilewright_genome::SearchSpace;
use tilewright_ir::{Schedule, Workload};
use tilewright_journal::{
    CAMPAIGN_FILE, CampaignRequest, CampaignResumed, CampaignStarted, Event, Fidelity, JOURNAL_FILE, Journal,
    JournalWriter, ProposerAnswered, Subject, Work,
};
use tilewright_search::{
    Advised, Advisor, Budget, Campaign, CampaignError, CampaignParts, CampaignResult, CampaignSettings,
    Heuristic, Prepare, Ranker, SinkError, Strategy, strategy,
};

use crate::proposer::Proposer;
use crate::{UsageError, output};

pub(crate) use device::{Host, ISA_SETTING};
pub(crate) use recorded::recorded;
pub(crate) use simulated::{simulated, simulated_chip};

/// Name and version of this tool.
pub(crate) fn tool() -> String {
    format!("tilewright {}", env!("CARGO_PKG_VERSION"))
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// A flag that the first Ctrl-C (or SIGTERM) sets; the second ends the process at once.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let flag = Arc::clone(&stop);
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for _ in signals.forever() {
            if flag.swap(true, Ordering::Relaxed) {
                output::note("stopped at once; what was recorded is kept, and --resume goes on");
                std::process::exit(130);
            }
            output::note("\nstopping: what is under way is finished first; once more stops at once");
        }
    })?;
    Ok(stop)
}

/// Everything that a campaign is carried out with, its runner aside.
pub(crate) struct Plan {
    /// Folder of the campaign.
    pub(crate) folder: PathBuf,
    /// What the journal begins with.
    pub(crate) started: CampaignStarted,
    /// Where schedules come from.
    pub(crate) space: SearchSpace,
    /// The schedule to begin with.
    pub(crate) default: Schedule,
    /// Which proposals to evaluate.
    pub(crate) ranker: Box<dyn Ranker>,
    /// From schedule to program.
    pub(crate) prepare: Box<dyn Prepare>,
    /// How the runner evaluates.
    pub(crate) fidelity: Fidelity,
    /// The program of the external strategy.
    pub(crate) proposer: Option<Proposer>,
    /// What was learned elsewhere.
    pub(crate) advice: Vec<Heuristic>,
}

/// Runs a campaign, or goes on with it where its journal holds something already; `watch` sees every event,
/// those of the journal included.
pub(crate) fn conduct(
    plan: Plan,
    runner: &mut dyn Runner,
    quiet: bool,
    watch: &mut dyn FnMut(&Event),
    stop: &AtomicBool,
) -> Result<CampaignResult> {
    let request = &plan.started.request;
    let settings =
        CampaignSettings { seed: request.seed, budget: budget(request), ..CampaignSettings::default() };
    let (mut writer, events, damage) = open_journal(&plan.folder, &plan.started, quiet)?;
    let strategy: Box<dyn Strategy> = if let Some(proposer) = &plan.proposer {
        Box::new(proposer.start(answers(&events))?)
    } else {
        let entry = strategy(&request.strategy);
        (entry.context("the campaign's strategy is not known to this version")?.create)()
    };
    let advisors: Vec<Advisor> =
        plan.advice.iter().filter_map(|heuristic| Advisor::of(heuristic, &plan.space)).collect();
    let strategy: Box<dyn Strategy> = if advisors.is_empty() {
        strategy
    } else {
        // How much unproven advice gets was settled when the campaign began, whatever its budget is now.
        let begun = start_of(&events).map_or(request, |started| &started.request);
        Box::new(Advised::new(strategy, advisors, begun.trials))
    };
    let parts = CampaignParts {
        subject: plan.started.subject,
        space: plan.space,
        default: plan.default,
        strategy,
        ranker: plan.ranker,
        prepare: plan.prepare,
        fidelity: plan.fidelity,
    };
    for event in &events {
        watch(event);
    }
    let mut campaign = Campaign::resume(settings, parts, events);
    let mut sink = |event: &Event| -> Result<(), SinkError> {
        writer.append(event)?;
        watch(event);
        Ok(())
    };
    let result =
        campaign.run(runner, &mut sink, stop).map_err(|error| beyond_damage(error, damage.as_deref()))?;
    writer.sync()?;
    Ok(result)
}

/// Says what a campaign that left its recorded trials can do, where a damaged line is why.
fn beyond_damage(error: CampaignError, damage: Option<&str>) -> anyhow::Error {
    let found = anyhow::Error::from(error);
    match (found.downcast_ref(), damage) {
        (Some(CampaignError::Diverged { .. }), Some(damage)) => found.context(format!(
            "{JOURNAL_FILE} is damaged ({damage}), and a search is gone through again trial by trial: `report` \
             and `export` read the rest; to search on, cut the file off before the damage (`head`), or begin anew \
             in another folder"
        )),
        _ => found,
    }
}

fn budget(request: &CampaignRequest) -> Budget {
    let time_ns = request.seconds.map(|seconds| (seconds * 1e9) as u64);
    Budget { time_ns, trials: request.trials, plateau: request.plateau }
}

fn write_request(request: &CampaignRequest, folder: &Path) -> Result<()> {
    let file = folder.join(CAMPAIGN_FILE);
    request.write(&file).with_context(|| format!("cannot write to {}", folder.display()))
}

/// Opens the journal for more events; what it holds already comes back, and the first damage.
fn open_journal(
    folder: &Path,
    started: &CampaignStarted,
    quiet: bool,
) -> Result<(JournalWriter, Vec<Event>, Option<String>)> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let path = folder.join(JOURNAL_FILE);
    // The journal's lock comes before anything is written. A journal without its first line was begun and killed
    // at once: it holds nothing yet.
    if !path.exists() {
        let mut writer = JournalWriter::create(&path)?;
        write_request(&started.request, folder)?;
        writer.append(&Event::CampaignStarted(Box::new(started.clone())))?;
        return Ok((writer, Vec::new(), None));
    }
    let (mut writer, repair) = JournalWriter::resume(&path)?;
    let journal = Journal::read(&path)?;
    let begun = journal.events().find_map(|event| match event {
        Event::CampaignStarted(started) => Some(&started.subject),
        _ => None,
    });
    if let Some(begun) = begun.filter(|&begun| *begun != started.subject) {
        bail!(UsageError(format!(
            "{} is a campaign of {begun}, which is not what it would go on with ({}): use a new folder",
            folder.display(),
            started.subject
        )));
    }
    write_request(&started.request, folder)?;
    if !quiet {
        for damage in &journal.damage {
            output::note(&format!("warning: {}: {damage}; the rest is used", path.display()));
        }
        if let Some(aside) = &repair.torn_aside {
            output::note(&format!("note: a line that was cut off was moved to {}", aside.display()));
        }
    }
    let damage = journal.damage.first().map(ToString::to_string).or_else(|| lost(&journal));
    let events: Vec<Event> = journal.entries.into_iter().map(|entry| entry.event).collect();
    if events.is_empty() {
        writer.append(&Event::CampaignStarted(Box::new(started.clone())))?;
        return Ok((writer, events, damage));
    }
    let trials = events.iter().filter(|event| matches!(event, Event::TrialFinished(_))).count() as u64;
    writer.append(&Event::CampaignResumed(CampaignResumed { resumed: now(), tool: tool(), trials }))?;
    Ok((writer, events, damage))
}

/// Where lines were lost that a repair has taken out.
fn lost(journal: &Journal) -> Option<String> {
    journal.entries.iter().find_map(|entry| match &entry.event {
        Event::LinesLost(lost) => {
            Some(format!("line {}: lines before it were lost, see {}", entry.line, lost.aside))
        }
        _ => None,
    })
}

/// How the recorded campaign began.
fn start_of(events: &[Event]) -> Option<&CampaignStarted> {
    events.iter().find_map(|event| match event {
        Event::CampaignStarted(started) => Some(&**started),
        _ => None,
    })
}

/// What a program outside has answered so far.
fn answers(events: &[Event]) -> Vec<ProposerAnswered> {
    let answered = events.iter().filter_map(|event| match event {
        Event::ProposerAnswered(answered) => Some(answered.clone()),
        _ => None,
    });
    answered.collect()
}

/// The work of one launch.
fn work(workload: &Workload) -> Result<Work> {
    let computation = workload.operator().describe(workload.parameters())?;
    Ok(Work { operations: computation.operations(), compulsory_bytes: computation.compulsory_bytes() })
}

/// What a journal begins with where nothing but the request and the subject is known.
fn started(request: CampaignRequest, subject: Subject, work: Work) -> CampaignStarted {
    use tilewright_journal::{Ceilings, Host};
    CampaignStarted {
        subject,
        work,
        space_points: None,
        best_known_ns: None,
        host: Host {
            fingerprint: String::new(),
            processor: String::new(),
            cores: 1,
            threads: request.threads,
            features: Vec::new(),
            caches: Vec::new(),
            memory_bytes: 0,
            system: String::new(),
        },
        ceilings: Ceilings {
            threads: request.threads,
            gflops: 0.0,
            bandwidths: Vec::new(),
            noise_floor: None,
        },
        request,
        tool: tool(),
        command: std::env::args().collect(),
        started: now(),
    }
}
