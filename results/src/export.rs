use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::Campaign;

const FIXED: [&str; 17] = [
    "trial",
    "outcome",
    "fidelity",
    "median_ns",
    "low_ns",
    "high_ns",
    "p99_ns",
    "gflops",
    "decision",
    "ratio",
    "predicted_ns",
    "strategy",
    "operator",
    "parent",
    "program",
    "at_seconds",
    "detail",
];

/// Writes one line a trial, comma-separated with a header (RFC 4180), parameters in columns `schedule.NAME`.
///
/// Times are in ns, rates in 10⁹ operations a second; what does not apply is empty.
///
/// # Errors
/// When `out` cannot be written.
pub fn export_csv(campaign: &Campaign, out: &mut dyn Write) -> io::Result<()> {
    let parameters: BTreeSet<&str> = campaign
        .trials
        .iter()
        .flat_map(|finished| finished.trial.candidate.schedule.parameters.keys())
        .map(String::as_str)
        .collect();
    let header = FIXED.iter().map(|&name| name.to_owned());
    line(out, header.chain(parameters.iter().map(|name| format!("schedule.{name}"))))?;
    for finished in &campaign.trials {
        let trial = &finished.trial;
        let measured = trial.outcome.as_ref().ok();
        let verdict = finished.judgement.as_ref().map(|judgement| &judgement.verdict);
        let provenance = &trial.provenance;
        let float = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let named = |value: Option<String>| value.unwrap_or_default().to_lowercase();
        let fixed: [String; FIXED.len()] = [
            trial.index.to_string(),
            trial.outcome_kind().to_owned(),
            named(Some(format!("{:?}", provenance.fidelity))),
            float(measured.map(|measured| measured.median_ns)),
            float(measured.and_then(|measured| measured.interval_ns).map(|interval| interval.low)),
            float(measured.and_then(|measured| measured.interval_ns).map(|interval| interval.high)),
            float(measured.and_then(|measured| measured.p99_ns)),
            float(measured.map(|measured| campaign.gflops(measured.median_ns))),
            named(verdict.map(|verdict| format!("{:?}", verdict.kind))),
            float(verdict.and_then(|verdict| verdict.ratio)),
            float(provenance.predicted_ns),
            provenance.strategy.clone(),
            provenance.operator.clone().unwrap_or_default(),
            provenance.parent.map(|parent| parent.to_string()).unwrap_or_default(),
            trial.program_hash.clone().unwrap_or_default(),
            (trial.at_ns as f64 / 1e9).to_string(),
            trial.outcome.as_ref().err().map(ToString::to_string).unwrap_or_default(),
        ];
        let values = parameters.iter().map(|&name| {
            trial.candidate.schedule.parameters.get(name).map(ToString::to_string).unwrap_or_default()
        });
        line(out, fixed.into_iter().chain(values))?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    let fields: Vec<String> = fields
        .map(|field| {
            if field.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field
            }
        })
        .collect();
    writeln!(out, "{}", fields.join(","))
}
