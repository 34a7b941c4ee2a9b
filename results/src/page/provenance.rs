//! What was asked, of which machine, with which tool.

use super::Source;
use super::markup::{facts, table};
use crate::format::{bytes, count, number, percent, time};

pub(super) fn section(source: &Source<'_>) -> String {
    let campaign = source.campaign;
    let started = &campaign.started;
    let (request, host) = (&started.request, &started.host);
    let settings: Vec<String> =
        request.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let plateau = request.plateau.map_or(String::new(), |plateau| {
        format!("{} trials with a gain below {}", count(plateau.trials), percent(plateau.gain))
    });
    let asked = facts(&[
        ("command", started.command.join(" ")),
        ("workload", request.workload.to_string()),
        ("strategy", request.strategy.clone()),
        ("settings", settings.join(", ")),
        ("seed", request.seed.to_string()),
        ("time asked for", request.seconds.map(|seconds| time(seconds * 1e9)).unwrap_or_default()),
        ("trials asked for", request.trials.map(count).unwrap_or_default()),
        ("ends without progress after", plateau),
        ("points of the search space", started.space_points.map(number).unwrap_or_default()),
        ("tool", started.tool.clone()),
        ("started", started.started.clone()),
        (
            "resumed",
            campaign.resumed.iter().map(|resumed| resumed.resumed.as_str()).collect::<Vec<_>>().join(", "),
        ),
        ("time used", time(campaign.duration_ns() as f64)),
        ("time inside kernels", inside(source)),
    ]);
    let caches: Vec<String> = host
        .caches
        .iter()
        .map(|cache| format!("{} {} for {} thread(s)", cache.name, bytes(cache.bytes), cache.shared_by))
        .collect();
    let machine = facts(&[
        ("processor", host.processor.clone()),
        ("cores, threads", format!("{}, {}", host.cores, host.threads)),
        ("instruction sets", host.features.join(", ")),
        ("caches", caches.join("; ")),
        ("memory", bytes(host.memory_bytes)),
        ("system", host.system.clone()),
        ("fingerprint", host.fingerprint.clone()),
    ]);
    let ceilings = campaign.current_ceilings();
    let mut rows =
        vec![vec!["arithmetic".to_owned(), format!("{} GFLOP/s", number(ceilings.gflops)), String::new()]];
    rows.extend(ceilings.bandwidths.iter().map(|level| {
        let capacity = level.capacity_bytes.map(bytes).unwrap_or_default();
        vec![format!("reading {}", level.level), format!("{} GB/s", number(level.gbps)), capacity]
    }));
    if let Some(floor) = ceilings.noise_floor {
        rows.push(vec!["noise floor".to_owned(), percent(floor), String::new()]);
    }
    let title =
        format!("Ceilings, {} thread(s), measured {} times", ceilings.threads, 1 + campaign.ceilings.len());
    format!(
        "<div class=\"columns\"><div><h3>What was asked</h3>{asked}</div><div><h3>The machine</h3>{machine}</div>\
         </div><h3>{title}</h3>{}",
        table(&["", "at most", "capacity"], &rows)
    )
}

/// Share of the search that was spent inside kernels that count.
fn inside(source: &Source<'_>) -> String {
    let campaign = source.campaign;
    let kernels: u64 = campaign
        .trials
        .iter()
        .filter_map(|finished| finished.trial.outcome.as_ref().ok())
        .map(|measurement| measurement.kernel_ns)
        .sum();
    match campaign.search_ns() {
        0 => String::new(),
        total => format!("{} of the search", percent(kernels as f64 / total as f64)),
    }
}
