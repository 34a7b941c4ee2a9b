//! `tilewright devices`, and what other commands need to know of this machine.

use anyhow::{Context, Result};
use serde::Serialize;
use tilewright_codegen::isas;
use tilewright_runtime::{DeviceReport, Effort, HostFacts, MemoryLevel, Pool, usable_processors};
use tilewright_stats::samples;

use crate::arguments::Devices;
use crate::output;
use crate::place;

/// Pairs of each A/A comparison.
const NOISE_PAIRS: usize = 200;

/// What is printed as JSON.
#[derive(Serialize)]
struct Printed<'a> {
    version: u32,
    id: &'static str,
    #[serde(flatten)]
    report: &'a DeviceReport,
    noise_floor: Vec<NoiseFloor>,
    instruction_sets: Vec<&'static str>,
}

#[derive(Serialize)]
struct NoiseFloor {
    threads: usize,
    /// Two standard errors of the median log-ratio of a kernel with itself.
    two_standard_errors: Option<f64>,
}

/// This machine's report, measured when it is not known yet.
pub(crate) fn report(refresh: bool, quiet: bool) -> Result<DeviceReport> {
    let host = HostFacts::detect();
    let fingerprint = host.fingerprint();
    let path = place::device_report(&fingerprint)?;
    // Other microcode can have other ceilings.
    if !refresh
        && let Some(report) = DeviceReport::cached(&path, &fingerprint)?
        && report.host.microcode == host.microcode
    {
        return Ok(report);
    }
    if !quiet {
        output::note("measuring this machine (about ten seconds, kept for later)");
    }
    let pool = Pool::new(usable_processors().len()).context("cannot start worker threads")?;
    let report = DeviceReport::measure(&pool, &Effort::default(), NOISE_PAIRS)?;
    report.store(&path)?;
    Ok(report)
}

/// Two standard errors of an A/A comparison with the nearest measured number of threads.
pub(crate) fn noise(report: &DeviceReport, threads: u32) -> Option<f64> {
    let floors = noise_floor(report);
    let nearest = floors.iter().min_by_key(|floor| floor.threads.abs_diff(threads as usize))?;
    nearest.two_standard_errors
}

fn noise_floor(report: &DeviceReport) -> Vec<NoiseFloor> {
    let floor = |noise: &tilewright_runtime::NoiseSamples| {
        let side = |at: usize| noise.pairs.iter().map(|pair| pair[at].max(1) as f64).collect::<Vec<_>>();
        NoiseFloor {
            threads: noise.threads,
            two_standard_errors: samples::noise_floor(&side(0), &side(1)).ok(),
        }
    };
    report.noise.iter().map(floor).collect()
}

/// Runs the command.
pub(crate) fn devices(arguments: &Devices) -> Result<()> {
    let report = report(arguments.refresh, arguments.json)?;
    let instruction_sets = isas().iter().filter(|isa| isa.available()).map(|isa| isa.id()).collect();
    if arguments.json {
        let printed = Printed {
            version: 1,
            id: "cpu:0",
            report: &report,
            noise_floor: noise_floor(&report),
            instruction_sets,
        };
        return output::json(&printed);
    }
    let host = &report.host;
    let mut text = format!("cpu:0  {}\n", host.brand.trim());
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<22}{value}\n"));
    line("fingerprint", report.fingerprint.clone());
    line("cores", format!("{} physical, {} logical", host.physical_cores, host.logical_processors));
    line(
        "memory",
        format!(
            "{:.1} GiB, pages of {} KiB",
            host.memory_bytes as f64 / f64::from(1 << 30),
            host.page_bytes >> 10
        ),
    );
    line(
        "system",
        format!("{} {}{}", host.os, host.kernel, if host.virtualised { ", virtual machine" } else { "" }),
    );
    line("microcode", host.microcode.clone().unwrap_or_else(|| "unknown".to_owned()));
    line("code generators", instruction_sets.join(", "));
    line("features", host.features.join(" "));
    for cache in host.data_caches() {
        line(
            &format!("L{} cache", cache.level),
            format!(
                "{} KiB, {} ways, lines of {} bytes, shared by {}",
                cache.bytes >> 10,
                cache.ways,
                cache.line_bytes,
                cache.shared_by
            ),
        );
    }
    for rate in &report.ceilings.fma {
        let name = format!("FMA f32 {}", output::name_of(&rate.isa));
        line(&name, format!("{:.1} GFLOP/s on {}", rate.gflops, output::threads(rate.threads)));
    }
    for read in &report.ceilings.bandwidth {
        let name = match read.level {
            MemoryLevel::Cache(level) => format!("read L{level}"),
            MemoryLevel::Memory => "read memory".to_owned(),
        };
        line(
            &name,
            format!(
                "{:.1} GB/s on {} ({} KiB)",
                read.gigabytes_per_second,
                output::threads(read.threads),
                read.footprint_bytes >> 10
            ),
        );
    }
    for floor in noise_floor(&report) {
        let value =
            floor.two_standard_errors.map_or("unknown".to_owned(), |value| format!("{:.3} %", value * 100.0));
        line(
            "noise floor",
            format!(
                "{value} on {} (two standard errors of an A/A median over 60 pairs)",
                output::threads(floor.threads)
            ),
        );
    }
    output::result(&text)
}
