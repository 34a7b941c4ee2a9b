//! `tilewright heuristics`: what campaigns and recordings have taught.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tilewright_journal::{JOURNAL_FILE, Trial};
use tilewright_registry::{Digest, KeptHeuristic, Registry};
use tilewright_results::{Campaign, importance_of};
use tilewright_search::Heuristic;
use tilewright_search::score::judged;
use tilewright_stats::Judged;

use crate::arguments::HeuristicsCommand;
use crate::score::files;
use crate::{UsageError, output, output_file, place, unusable};

/// First line of an exported file.
const HEADER: &str = r#"{"tilewright_heuristics":2}"#;

/// A heuristic in an exported file. It is text, not JSON in JSON, because its bytes are its name.
#[derive(Serialize, Deserialize)]
struct Line {
    id: String,
    heuristic: String,
}
/// Points that `show` prints.
const SHOWN: usize = 5;

/// Runs the command.
pub(crate) fn heuristics(command: &HeuristicsCommand) -> Result<()> {
    let place = command.place();
    let registry = Registry::open(&place::registry(place.registry.as_deref())?);
    match command {
        HeuristicsCommand::Train { sources, .. } => {
            let learned = sources.iter().map(learn).collect::<Result<Vec<_>>>()?;
            keep(&registry, &learned, place.json)
        }
        HeuristicsCommand::Show { id: None, .. } => list(&registry, place.json),
        HeuristicsCommand::Show { id: Some(id), .. } => show(&registry, id, place.json),
        HeuristicsCommand::Export { file, .. } => export(&registry, file, place.json),
        HeuristicsCommand::Import { file, .. } => keep(&registry, &read(file)?, place.json),
    }
}

/// What a campaign's folder or a recording teaches.
fn learn(source: &PathBuf) -> Result<Heuristic> {
    let nothing =
        || UsageError(format!("{}: nothing in it was valid, so there is nothing to learn", source.display()));
    if source.is_dir() {
        if !source.join(JOURNAL_FILE).is_file() {
            let problem = format!("{} is no campaign: it has no {JOURNAL_FILE}", source.display());
            return Err(UsageError(problem).into());
        }
        let campaign = Campaign::read(source)?;
        for damage in &campaign.damage {
            output::note(&format!("warning: {}: {damage}; the rest is learned from", source.display()));
        }
        let judged = judged_again(&campaign)?;
        return Ok(Heuristic::learn(&campaign.started.subject, &judged).ok_or_else(nothing)?);
    }
    let spaces = files::spaces(std::slice::from_ref(source), &[])?;
    let learned = spaces.first().and_then(|space| Heuristic::learn(space.subject(), &judged(space)));
    Ok(learned.ok_or_else(nothing)?)
}

/// The trials of a campaign that were judged, each by its gate again; those without a judgement teach nothing.
fn judged_again(campaign: &Campaign) -> Result<Vec<Judged<Trial>>> {
    let judged = campaign.trials.iter().filter_map(|finished| {
        let judgement = finished.judgement.as_ref()?;
        Some(judgement.repeat(finished.trial.evidence.clone(), finished.trial.clone()))
    });
    judged.collect::<Result<_, _>>().context("cannot judge a trial again")
}

fn keep(registry: &Registry, learned: &[Heuristic], json: bool) -> Result<()> {
    let mut kept: Vec<Value> = Vec::new();
    let mut text = String::new();
    for heuristic in learned {
        let subject = heuristic.subject.to_string();
        let at = jiff::Timestamp::now().to_string();
        let id = registry
            .keep_heuristic(&subject, heuristic.to_json().as_bytes(), &at)
            .with_context(|| format!("cannot keep it in {}", registry.folder().display()))?;
        text.push_str(&row(id, heuristic));
        kept.push(json!({ "id": id.to_string(), "subject": subject, "evidence": heuristic.evidence }));
    }
    if json {
        return output::json(&json!({ "version": 1, "folder": registry.folder(), "heuristics": kept }));
    }
    output::result(&text)
}

fn row(id: Digest, heuristic: &Heuristic) -> String {
    format!("{:<14}{:>8} judged trials  {}\n", &id.to_string()[..12], heuristic.evidence, heuristic.subject)
}

/// A kept heuristic, read.
fn open(registry: &Registry, id: Digest) -> Result<Heuristic> {
    let bytes = registry.heuristic(id)?;
    Heuristic::from_json(&bytes).with_context(|| format!("heuristic {id}"))
}

fn list(registry: &Registry, json: bool) -> Result<()> {
    let kept = registry.heuristics()?;
    let opened: Vec<(KeptHeuristic, Result<Heuristic>)> =
        kept.into_iter().map(|kept| (kept.clone(), open(registry, kept.id))).collect();
    if json {
        let rows: Vec<Value> = opened
            .iter()
            .map(|(kept, heuristic)| {
                json!({
                    "id": kept.id.to_string(),
                    "subject": kept.subject,
                    "kept": kept.at,
                    "evidence": heuristic.as_ref().ok().map(|it| it.evidence),
                    "problem": heuristic.as_ref().err().map(|problem| format!("{problem:#}")),
                })
            })
            .collect();
        return output::json(&json!({ "version": 1, "folder": registry.folder(), "heuristics": rows }));
    }
    if opened.is_empty() {
        let folder = registry.folder().display();
        output::note(&format!("no heuristics in {folder}: tilewright heuristics train puts them there"));
        return Ok(());
    }
    let lines = opened.iter().map(|(kept, heuristic)| match heuristic {
        Ok(heuristic) => row(kept.id, heuristic),
        Err(problem) => format!("{:<14} damaged: {problem:#}\n", &kept.id.to_string()[..12]),
    });
    output::result(&lines.collect::<String>())
}

fn show(registry: &Registry, text: &str, json: bool) -> Result<()> {
    let kept: Vec<KeptHeuristic> =
        registry.heuristics()?.into_iter().filter(|kept| kept.id.to_string().starts_with(text)).collect();
    let [kept] = &kept[..] else {
        let problem = format!("`{text}` is the beginning of {} heuristics; see heuristics show", kept.len());
        return Err(UsageError(problem).into());
    };
    let heuristic = open(registry, kept.id)?;
    let importance = importance_of(&heuristic.timed().collect::<Vec<_>>());
    if json {
        let parameters = importance.iter().map(
            |it| json!({ "name": it.parameter, "share": it.share, "best": it.best, "spread": it.spread }),
        );
        return output::json(&json!({
            "version": 1,
            "id": kept.id.to_string(),
            "kept": kept.at,
            "heuristic": heuristic,
            "importance": parameters.collect::<Vec<_>>(),
        }));
    }
    let mut lines = format!("heuristic   {}\nsubject     {}\n", kept.id, heuristic.subject);
    lines.push_str(&format!("learned     {} judged trials, kept {}\n", heuristic.evidence, kept.at));
    lines.push_str("\nfastest points, time over that of the fastest\n");
    for point in heuristic.points().iter().take(SHOWN) {
        let ratio = point.score.map_or("failed".to_owned(), |score| format!("{:.3}", score.exp()));
        lines.push_str(&format!("  {ratio:<8}{}\n", point.schedule));
    }
    lines.push_str("\nparameters: share of the variance of log time, and the best values\n");
    for it in &importance {
        lines.push_str(&format!("  {:<20}{:>6.1} %  {}\n", it.parameter, 100.0 * it.share, it.best));
    }
    if !heuristic.operators.is_empty() {
        lines.push_str("\noperators: trials, and those judged faster\n");
    }
    for (name, record) in &heuristic.operators {
        lines.push_str(&format!("  {name:<20}{:>6}  {}\n", record.trials, record.faster));
    }
    output::result(&lines)
}

fn export(registry: &Registry, file: &Path, json: bool) -> Result<()> {
    let mut lines = format!("{HEADER}\n");
    let (mut written, mut damaged) = (0_u64, Vec::new());
    for kept in registry.heuristics()? {
        match open(registry, kept.id) {
            Ok(heuristic) => {
                let text = heuristic.to_json();
                let line = Line { id: Digest::of(text.as_bytes()).to_string(), heuristic: text };
                lines.push_str(&serde_json::to_string(&line)?);
                lines.push('\n');
                written += 1;
            }
            Err(problem) => damaged.push(format!("{}: {problem:#}", kept.id)),
        }
    }
    output_file::write(file, |out| Ok(out.write_all(lines.as_bytes())?))?;
    if json {
        return output::json(
            &json!({ "version": 1, "file": file, "heuristics": written, "damaged": damaged }),
        );
    }
    for problem in damaged {
        output::note(&format!("left out: {problem}"));
    }
    output::result(&format!("{written} heuristics written to {}\n", file.display()))
}

/// The heuristics of an exported file, all of them checked before any is kept.
fn read(file: &Path) -> Result<Vec<Heuristic>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()));
    let text = text.map_err(unusable)?;
    let mut lines = text.lines().zip(1_u64..);
    if lines.next().is_none_or(|(header, _)| header != HEADER) {
        let problem = format!("{}: not a file that `tilewright heuristics export` wrote", file.display());
        return Err(UsageError(problem).into());
    }
    let heuristics = lines.map(|(line, number)| {
        let wrong = |error: String| UsageError(format!("{}, line {number}: {error}", file.display()));
        let line: Line = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        if Digest::of(line.heuristic.as_bytes()).to_string() != line.id {
            return Err(wrong("changed since it was written: get the file again".to_owned()).into());
        }
        Ok(Heuristic::from_json(line.heuristic.as_bytes()).map_err(|error| wrong(error.to_string()))?)
    });
    heuristics.collect()
}
