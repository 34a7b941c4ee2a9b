//! What `tilewright judge` prints.

use anyhow::Result;
use serde::Serialize;
use tilewright_evaluator::{Isolation, JudgedSide, Judgement};
use tilewright_journal::{EvalError, Verification};
use tilewright_stats::Evidence;

use super::Judge;
use crate::output;

/// What the kernel was compared with.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Rival {
    /// `registered` or `default`.
    pub(crate) kernel: &'static str,
    pub(crate) record: Option<String>,
    pub(crate) schedule: String,
}

impl Rival {
    pub(crate) fn words(&self) -> String {
        match &self.record {
            Some(record) => format!("the registered kernel {}", &record[..record.len().min(12)]),
            None => "the default schedule".to_owned(),
        }
    }
}

/// The size of the difference: time of the kernel over time of its rival.
#[derive(Debug, Serialize)]
struct Effect {
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Side {
    median_ns: f64,
    low_ns: Option<f64>,
    high_ns: Option<f64>,
    gflops: f64,
    fresh_ns: f64,
}

impl Side {
    fn of(side: &JudgedSide, operations: f64) -> Self {
        Self {
            median_ns: side.median_ns,
            low_ns: side.interval_ns.map(|interval| interval.0),
            high_ns: side.interval_ns.map(|interval| interval.1),
            gflops: operations / side.median_ns,
            fresh_ns: side.fresh_ns,
        }
    }
}

/// All of it.
#[derive(Debug, Serialize)]
pub(crate) struct Printed<'a> {
    version: u32,
    workload: String,
    library: String,
    symbol: &'a str,
    threads: u32,
    verdict: String,
    /// Kind of failure of a rejected kernel; why the gate decided as it did otherwise.
    reason: String,
    /// The failure in words.
    detail: Option<String>,
    effect: Option<Effect>,
    gate: Option<&'a str>,
    evidence: Option<&'a Evidence>,
    kernel: Option<Side>,
    against: Rival,
    against_times: Option<Side>,
    verification: Option<&'a Verification>,
    fresh_launches: Option<u32>,
    ceiling_gflops: Option<f64>,
    isolation: &'a Isolation,
    seed: u64,
}

impl<'a> Printed<'a> {
    pub(crate) fn new(
        arguments: &'a Judge,
        against: Rival,
        seed: u64,
        judged: &'a Result<Judgement, (EvalError, Isolation)>,
    ) -> Result<Self> {
        let operations =
            arguments.workload.operator().describe(arguments.workload.parameters())?.operations();
        let found = judged.as_ref().ok();
        let verdict = found.map(|found| &found.verdict);
        let (words, reason, detail) = match judged {
            Ok(found) => (output::name_of(&found.verdict.kind), output::name_of(&found.verdict.reason), None),
            Err((error, _)) => ("rejected".to_owned(), error.kind().to_owned(), Some(error.to_string())),
        };
        Ok(Self {
            version: 1,
            workload: arguments.workload.to_string(),
            library: arguments.library.display().to_string(),
            symbol: &arguments.symbol,
            threads: arguments.threads,
            verdict: words,
            reason,
            detail,
            effect: verdict.map(|verdict| Effect {
                ratio: verdict.ratio,
                low: verdict.low,
                high: verdict.high,
            }),
            gate: verdict.map(|verdict| verdict.gate.as_str()),
            evidence: found.map(|found| &found.evidence),
            kernel: found.map(|found| Side::of(&found.kernel, operations)),
            against,
            against_times: found.map(|found| Side::of(&found.rival, operations)),
            verification: found.map(|found| &found.verification),
            fresh_launches: found.map(|found| found.fresh_launches),
            ceiling_gflops: found.map(|found| found.ceiling.fma_gflops),
            isolation: match judged {
                Ok(found) => &found.isolation,
                Err((_, isolation)) => isolation,
            },
            seed,
        })
    }

    /// Says what of the isolation this system does not offer.
    pub(crate) fn warn(&self) {
        if !self.isolation.is_complete() {
            output::note("warning: this system does not confine the kernel's process as it should:");
            for refused in &self.isolation.refused {
                output::note(&format!("warning:   {refused}"));
            }
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let head = format!("{} of {}: {}", self.symbol, self.workload, self.verdict);
        let (Some(kernel), Some(against)) = (&self.kernel, &self.against_times) else {
            return format!("{head} ({}): {}\n", self.reason, self.detail.as_deref().unwrap_or_default());
        };
        let effect = match &self.effect {
            Some(Effect { ratio: Some(ratio), low: Some(low), high: Some(high) }) => {
                format!("{ratio:.3} [{low:.3}, {high:.3}] of the time of {}", self.against.words())
            }
            _ => format!("beside {}", self.against.words()),
        };
        format!(
            "{head}, {effect}\n  {:.0} ns ({:.1} GFLOP/s) beside {:.0} ns ({:.1} GFLOP/s)\n",
            kernel.median_ns, kernel.gflops, against.median_ns, against.gflops
        )
    }
}
