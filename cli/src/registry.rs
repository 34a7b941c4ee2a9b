//! `tilewright registry`: kept kernels.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::{Value, json};
use tilewright_ir::WorkloadKey;
use tilewright_journal::{Bandwidth, Ceilings, Work};
use tilewright_registry::{Kernel, Listed, Record, Registry, Standing, Verified};
use tilewright_results::{Placed, Placement, bound};
use tilewright_runtime::HostFacts;
use tilewright_stats::EvidenceKind;

use crate::arguments::RegistryCommand;
use crate::remeasure::{Remeasured, remeasure};
use crate::{output, output_file, place, unusable};

/// Runs the command.
pub(crate) fn registry(command: &RegistryCommand) -> Result<()> {
    let place = command.place();
    let folder = place::registry(place.registry.as_deref())?;
    let registry = Registry::open(&folder);
    match command {
        RegistryCommand::List { .. } => list(&registry, place.json),
        RegistryCommand::Show { id, .. } => show(&registry, id, place.json),
        RegistryCommand::Verify { hashes_only, .. } => verify(&registry, *hashes_only, place.json),
        RegistryCommand::Retract { id, reason, .. } => retract(&registry, id, reason, place.json),
        RegistryCommand::Export { file, anonymous, .. } => export(&registry, file, *anonymous, place.json),
        RegistryCommand::Import { file, .. } => import(&registry, file, place.json),
    }
}

#[derive(Serialize)]
struct Row {
    id: String,
    key: String,
    standing: &'static str,
    /// When it was last verified here after it came in.
    verified: Option<String>,
    published: String,
    from: Option<String>,
    gflops: Option<f64>,
    median_ns: Option<f64>,
    schedule: Option<String>,
    problem: Option<String>,
}

fn row(registry: &Registry, listed: &Listed) -> Row {
    let record = registry.show(listed.record);
    let kernel: Option<&Kernel> = record.as_ref().ok().map(|record| record.kernel.subject());
    Row {
        id: listed.record.to_string(),
        key: listed.key.clone(),
        standing: match listed.standing {
            Standing::Current => "current",
            Standing::Superseded => "superseded",
            Standing::Retracted => "retracted",
        },
        verified: listed.verified.as_ref().map(|verified| verified.at.clone()),
        published: listed.at.clone(),
        from: listed.from.clone(),
        gflops: kernel.map(gflops),
        median_ns: kernel.map(|kernel| kernel.timing.median_ns),
        schedule: kernel.map(|kernel| kernel.schedule.to_string()),
        problem: record.as_ref().err().map(ToString::to_string),
    }
}

/// 10⁹ operations a second of a kept kernel.
fn gflops(kernel: &Kernel) -> f64 {
    let workload = &kernel.key.workload;
    let computation = workload.operator().describe(workload.parameters());
    computation.map_or(0.0, |computation| computation.operations() / kernel.timing.median_ns)
}

fn list(registry: &Registry, json: bool) -> Result<()> {
    let listed = registry.list()?;
    warn_of_damage(registry, None)?;
    let rows: Vec<Row> = listed.iter().map(|listed| row(registry, listed)).collect();
    if json {
        return output::json(&json!({ "version": 1, "folder": registry.folder(), "records": rows }));
    }
    if rows.is_empty() && registry.passed_over(None)?.is_empty() {
        output::note(&format!(
            "no kernels in {}: tilewright tune puts them there",
            registry.folder().display()
        ));
        return Ok(());
    }
    let mut text = format!("{:<14}{:<12}{:>10}  {}\n", "record", "standing", "GFLOP/s", "workload");
    for row in rows {
        let speed = row.gflops.map_or("damaged".to_owned(), |gflops| format!("{gflops:.1}"));
        text.push_str(&format!("{:<14}{:<12}{speed:>10}  {}\n", &row.id[..12], row.standing, row.key));
    }
    output::result(&text)
}

fn show(registry: &Registry, id: &str, json: bool) -> Result<()> {
    let record = registry.show(registry.resolve(id).map_err(unusable)?)?;
    let placement = placement(registry, &record)?;
    let unverified = registry.unverified(&record, &HostFacts::detect().conditions())?;
    let value = json!({
        "version": 1,
        "id": record.id.to_string(),
        "kernel": record.kernel.subject(),
        "verdict": record.kernel.verdict(),
        "evidence": record.kernel.evidence(),
        "placement": placement,
        "unverified": unverified,
    });
    if json {
        return output::json(&value);
    }
    let kernel = record.kernel.subject();
    let verdict = record.kernel.verdict();
    let mut text = format!("record      {}\nworkload    {}\n", record.id, kernel.key);
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<12}{value}\n"));
    line("schedule", kernel.schedule.to_string());
    line("speed", format!("{:.1} GFLOP/s, median {:.1} µs", gflops(kernel), kernel.timing.median_ns / 1e3));
    line(
        "code",
        format!("{} bytes of {}, {}", kernel.artifact.bytes, kernel.artifact.isa, kernel.artifact.sha256),
    );
    line("workspace", format!("{} bytes", kernel.artifact.workspace_bytes));
    line("judged", format!("{:?} beside its incumbent by gate {}", verdict.kind, verdict.gate));
    if let (Some(ratio), Some(low), Some(high)) = (verdict.ratio, verdict.low, verdict.high) {
        line("time ratio", format!("{ratio:.4} [{low:.4}, {high:.4}]"));
    }
    let checked = &kernel.verification;
    line(
        "checked",
        format!(
            "{} on {} ({} elements, largest error {:.2} of {:.2} allowed, miss probability ≤ {:.1e})",
            checked.method,
            checked.inputs.join(", "),
            checked.elements,
            checked.max_error,
            checked.tolerance,
            checked.miss_probability
        ),
    );
    if let Some(drift) = &checked.drift {
        line(
            "drift",
            format!(
                "{:.1e} of the norm of {:.1e} accepted, at most {:.1} units in the last place",
                drift.relative_error, drift.limit, drift.max_ulps
            ),
        );
    }
    line("placement", placement.text());
    let served = if kernel.key.target != HostFacts::detect().fingerprint() {
        "no: it was measured on another machine".to_owned()
    } else if unverified.is_empty() {
        "yes, while it is the current record".to_owned()
    } else {
        format!("not before it is verified again (registry verify): {}", unverified.join("; "))
    };
    line("served", served);
    if let Some(conditions) = &kernel.conditions {
        line("verified by", conditions.to_string());
    }
    line("from", format!("{}, seed {}, {}", kernel.origin.campaign, kernel.origin.seed, kernel.origin.tool));
    output::result(&text)
}

/// The kernel beside the ceiling measured with it and the fastest record of its key.
fn placement(registry: &Registry, record: &Record) -> Result<Placement> {
    let kernel = record.kernel.subject();
    let workload = &kernel.key.workload;
    let computation = workload.operator().describe(workload.parameters())?;
    let work =
        Work { operations: computation.operations(), compulsory_bytes: computation.compulsory_bytes() };
    let level = Bandwidth { level: "traffic".to_owned(), gbps: kernel.ceilings.gbps, capacity_bytes: None };
    let ceilings = Ceilings {
        threads: kernel.key.threads,
        gflops: kernel.ceilings.gflops,
        bandwidths: if kernel.ceilings.gbps > 0.0 { vec![level] } else { Vec::new() },
        noise_floor: None,
    };
    let key = kernel.key.to_string();
    let listed = registry.list()?;
    let others = listed.iter().filter(|other| {
        other.key == key && other.record != record.id && other.standing != Standing::Retracted
    });
    let best = others
        .filter_map(|other| registry.show(other.record).ok())
        .map(|other| other.kernel.subject().timing.median_ns)
        .reduce(f64::min);
    Ok(Placement::of(&Placed {
        median_ns: kernel.timing.median_ns,
        gflops: gflops(kernel),
        bound: &bound(&work, &ceilings, kernel.key.cache),
        best_known_ns: best,
        confirmed: record.kernel.kind() == EvidenceKind::Pairs,
    }))
}

fn verify(registry: &Registry, hashes_only: bool, json: bool) -> Result<()> {
    let report = registry.verify_chain()?;
    let mut problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    let mut measured: Vec<Remeasured> = Vec::new();
    if !hashes_only {
        let host = HostFacts::detect();
        let fingerprint = host.fingerprint();
        for listed in registry.list()?.iter().filter(|listed| listed.standing == Standing::Current) {
            let Ok(record) = registry.show(listed.record) else { continue };
            if record.kernel.subject().key.target != fingerprint {
                continue;
            }
            let again = remeasure(registry, &record, &host)?;
            match (&again.problem, again.median_ns) {
                (Some(problem), _) => problems.push(format!("record {}: {problem}", record.id)),
                (None, median_ns) => {
                    let median_ns = median_ns.unwrap_or_default() as u64;
                    let at = jiff::Timestamp::now().to_string();
                    let verified = Verified { at, conditions: host.conditions(), median_ns };
                    registry.note_verified(record.id, &verified)?;
                }
            }
            measured.push(again);
        }
    }
    if json {
        let value: Value = json!({
            "version": 1,
            "folder": registry.folder(),
            "lines": report.lines,
            "records": report.records,
            "head": report.head.to_string(),
            "measured": measured,
            "problems": problems,
        });
        output::json(&value)?;
    } else {
        let mut text = format!(
            "{} lines of the audit log and {} records checked; head {}\n",
            report.lines, report.records, report.head
        );
        for again in &measured {
            text.push_str(&format!("{}\n", again.text()));
        }
        for problem in &problems {
            text.push_str(&format!("problem: {problem}\n"));
        }
        output::result(&text)?;
    }
    if problems.is_empty() {
        Ok(())
    } else {
        bail!("{} problems in {}", problems.len(), registry.folder().display())
    }
}

fn retract(registry: &Registry, id: &str, reason: &str, json: bool) -> Result<()> {
    let record = registry.resolve(id).map_err(unusable)?;
    registry.retract(record, reason, &jiff::Timestamp::now().to_string())?;
    if json {
        return output::json(&json!({ "version": 1, "retracted": record.to_string() }));
    }
    output::result(&format!("record {record} is no longer used; its files stay\n"))
}

/// Says that there is damage which readers pass over, and what lists it.
pub(crate) fn warn_of_damage(registry: &Registry, key: Option<&WorkloadKey>) -> Result<()> {
    let damage = registry.passed_over(key)?;
    if let Some(first) = damage.first() {
        output::note(&format!(
            "warning: {} problems in the registry, the first: {first}; `tilewright registry verify \
             --hashes-only --registry {}` lists all",
            damage.len(),
            registry.folder().display()
        ));
    }
    Ok(())
}

fn export(registry: &Registry, file: &Path, anonymous: bool, json: bool) -> Result<()> {
    warn_of_damage(registry, None)?;
    let exported = if anonymous { registry.export_anonymous()? } else { registry.export()? };
    output_file::write(file, |out| Ok(out.write_all(&exported.archive)?))?;
    let damaged: Vec<Value> = exported
        .damaged
        .iter()
        .map(|(record, reason)| json!({ "record": record.to_string(), "reason": reason }))
        .collect();
    if json {
        return output::json(
            &json!({ "version": 1, "file": file, "records": exported.records, "damaged": damaged }),
        );
    }
    for (record, reason) in &exported.damaged {
        output::note(&format!("left out: {record}: {reason}"));
    }
    output::result(&format!("{} records written to {}\n", exported.records, file.display()))
}

fn import(registry: &Registry, file: &Path, json: bool) -> Result<()> {
    let at = jiff::Timestamp::now().to_string();
    let imported = registry.import(file, &at).map_err(unusable)?;
    let records: Vec<String> = imported.records.iter().map(ToString::to_string).collect();
    if json {
        return output::json(
            &json!({ "version": 1, "file": file, "records": records, "known": imported.known }),
        );
    }
    output::result(&format!(
        "{} records taken from {}, {} known already\n",
        records.len(),
        file.display(),
        imported.known
    ))
}
