//! `tilewright audit`: lets users see on their own machine how far claims can be trusted.
//!
//! Each part is a file, a field of [`Report`], and a promise in [`Report::broken`].

mod arguments;
mod host;
mod load;
mod recorded;

use anyhow::Result;
use serde::Serialize;

use crate::conduct::stop_flag;
use crate::{Ending, output};

pub(crate) use arguments::{Audit, EXAMPLES};
use host::{HostAa, HostPower, Power};
use recorded::RecordedAa;

/// Version of the report's form.
const VERSION: u32 = 1;

/// Comparisons of a kernel with itself: enough that none false bounds their rate by 10⁻⁴, and a quick look.
const COMPARISONS: [u64; 2] = [30_000, 2_000];
/// Runs of each planted gain.
const RUNS: [u32; 2] = [200, 40];
/// Highest rate of false claims that the full audit must exclude.
const MOST_FALSE: f64 = 1.01e-4;
/// Least share of planted gains that must be found.
const LEAST_FOUND: f64 = 0.9;
/// Widest margin that an otherwise idle machine should need.
const WIDEST_MARGIN: f64 = 0.015;

/// What was found.
#[derive(Debug, Serialize)]
struct Report {
    version: u32,
    quick: bool,
    aa: Aa,
    power: Vec<Power>,
    /// What the power was measured with.
    power_conditions: PowerConditions,
    /// Promises that do not hold.
    broken: Vec<String>,
}

/// Kernels beside themselves.
#[derive(Debug, Serialize)]
struct Aa {
    host: HostAa,
    recorded: Option<RecordedAa>,
}

#[derive(Debug, Serialize)]
struct PowerConditions {
    margin: f64,
    spread: f64,
    sample_ns: f64,
    disturbed: u32,
}

/// Runs the command.
pub(crate) fn audit(arguments: &Audit) -> Result<Ending> {
    let stop = stop_flag()?;
    let quiet = arguments.quiet || arguments.json;
    let tell = |text: &str| {
        if !quiet {
            output::note(text);
        }
    };
    let quick = usize::from(arguments.quick);
    let recorded = match &arguments.recorded[..] {
        [] => None,
        files => {
            tell("judging the recordings");
            Some(recorded::recorded(files, arguments.seed)?)
        }
    };
    let mut twins = host::start(arguments.seed)?;
    tell(&format!("planting gains in a kernel of {:.1} µs", twins.launch_ns() / 1e3));
    let power = host::power(&mut twins, RUNS[quick], arguments.seed, &stop)?;
    tell("comparing it with itself, while other load comes and goes");
    let plan = (COMPARISONS[quick], arguments.quick);
    let host = host::aa(&mut twins, plan, (arguments.seed, quiet), &stop)?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(Ending::Interrupted);
    }
    let HostPower { margin, spread, sample_ns, disturbed, gains } = power;
    let mut report = Report {
        version: VERSION,
        quick: arguments.quick,
        aa: Aa { host, recorded },
        power: gains,
        power_conditions: PowerConditions { margin, spread, sample_ns, disturbed },
        broken: Vec::new(),
    };
    report.broken = report.broken();
    if arguments.json {
        output::json(&report)?;
    } else {
        output::result(&report.text())?;
    }
    Ok(if report.broken.is_empty() { Ending::Done } else { Ending::Broken })
}

impl Report {
    /// The promises that do not hold.
    fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut promise = |holds: bool, text: String| {
            if !holds {
                broken.push(text);
            }
        };
        let host = &self.aa.host;
        let (wrong, all) = (host.false_claims, host.comparisons);
        promise(wrong == 0, format!("a kernel beat itself in {wrong} of {all} comparisons on this machine"));
        if !self.quick {
            let bound = host.upper_bound_95;
            promise(bound <= MOST_FALSE, format!("{all} comparisons bound false claims by {bound:.2e} only"));
        }
        if let Some(recorded) = &self.aa.recorded {
            let (wrong, all) = (recorded.false_claims, recorded.comparisons);
            promise(
                wrong as f64 <= recorded.nominal * all as f64,
                format!("recorded kernels beat themselves in {wrong} of {all} comparisons"),
            );
        }
        for Power { gain, pairs, found, .. } in &self.power {
            promise(
                *found >= LEAST_FOUND,
                format!(
                    "a gain of {:.1} % was found in {:.0} % of runs of {pairs} pairs",
                    1e2 * gain,
                    1e2 * found
                ),
            );
        }
        let margin = self.power_conditions.margin;
        promise(
            margin <= WIDEST_MARGIN,
            format!("the margin is {:.2} %: the machine is noisy", 1e2 * margin),
        );
        broken
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| text.push_str(&format!("{name:<16}{value}\n"));
        let host = &self.aa.host;
        line(
            "beside itself",
            format!(
                "{} false claims in {} comparisons of up to {} pairs under changing load; the rate is at most {:.2e} \
                 (95 %)",
                host.false_claims, host.comparisons, host.pairs, host.upper_bound_95
            ),
        );
        if let Some(recorded) = &self.aa.recorded {
            let share = |count: u64, of: u64| 100.0 * count as f64 / of.max(1) as f64;
            line(
                "recordings",
                format!(
                    "{} of {} kernels beat themselves at e ≥ {} ({:.3} %, at most {} % is nominal); measured one \
                     after the other {:.1} % would",
                    recorded.false_claims,
                    recorded.comparisons,
                    recorded.threshold,
                    share(recorded.false_claims, recorded.comparisons),
                    100.0 * recorded.nominal,
                    share(recorded.naive.false_claims, recorded.naive.comparisons)
                ),
            );
        }
        let PowerConditions { margin, spread, sample_ns, disturbed } = &self.power_conditions;
        line(
            "margin",
            format!(
                "{:.2} %: pairs of {:.0} µs spread by {:.2} %{}",
                100.0 * margin,
                sample_ns / 1e3,
                100.0 * spread,
                if *disturbed > 0 {
                    format!("; the machine was busy in {disturbed} runs")
                } else {
                    String::new()
                }
            ),
        );
        for Power { gain, pairs, found, runs, .. } in &self.power {
            line(
                "power",
                format!(
                    "{:.2} % found in {:.1} % of {runs} runs of {pairs} pairs",
                    100.0 * gain,
                    100.0 * found
                ),
            );
        }
        for broken in &self.broken {
            line("does not hold", broken.clone());
        }
        if self.broken.is_empty() {
            line("promises", "all hold".to_owned());
        }
        text
    }
}
