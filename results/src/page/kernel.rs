//! The winner: its schedule beside the default's, its loops, its machine code.

use std::collections::BTreeSet;

use tilewright_ir::Schedule;

use super::Source;
use super::listing::{assembly, program};
use super::markup::{details, facts, paragraph};
use crate::format::{count, escape};

pub(super) fn section(source: &Source<'_>) -> String {
    let summary = source.summary;
    let Some(winner) = &summary.winner else {
        return paragraph("There is none.");
    };
    let mut body = String::from("<h3>Schedule</h3>");
    body += &schedules(&winner.schedule, summary.default.as_ref().map(|default| &default.schedule));
    let confirmed = source.campaign.confirmation.as_ref().map(|confirmation| &confirmation.winner.listing);
    body += &facts(&[
        ("instruction set", confirmed.map(|listing| listing.isa.clone()).unwrap_or_default()),
        ("program", confirmed.map(|listing| listing.program_hash.clone()).unwrap_or_default()),
        ("artifact SHA-256", winner.artifact_sha256.clone().unwrap_or_default()),
    ]);
    let last_move = source.campaign.moves.last().map(|moved| moved.program.as_str());
    let text = confirmed.map(|listing| listing.program.as_str()).or(last_move).unwrap_or_default();
    if !text.is_empty() {
        body += "<h3>Loop nest</h3>";
        body += &paragraph("The program that was interpreted, simulated and compiled.");
        body += &program(text);
    }
    if let Some(listing) = confirmed.filter(|listing| !listing.disassembly.is_empty()) {
        let lines = listing.disassembly.lines().count() as u64;
        body += "<h3>Machine code</h3>";
        body += &details(&format!("Disassembly, {} lines", count(lines)), &assembly(&listing.disassembly));
    }
    body
}

/// Parameters of both schedules; rows in which they differ are marked.
fn schedules(winner: &Schedule, default: Option<&Schedule>) -> String {
    let names: BTreeSet<&String> =
        winner.parameters.keys().chain(default.iter().flat_map(|found| found.parameters.keys())).collect();
    if names.is_empty() {
        return paragraph("Every parameter has its default.");
    }
    let value = |schedule: Option<&Schedule>, name: &String| {
        let found = schedule.and_then(|schedule| schedule.parameters.get(name));
        found.map_or_else(|| "–".to_owned(), ToString::to_string)
    };
    let rows: String = names
        .into_iter()
        .map(|name| {
            let (mine, theirs) = (value(Some(winner), name), value(default, name));
            let class = if mine == theirs { "" } else { " class=\"differs\"" };
            format!(
                "<tr{class}><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(name),
                escape(&mine),
                escape(&theirs)
            )
        })
        .collect();
    format!(
        "<div class=\"scroll\"><table class=\"schedule\"><thead><tr><th>parameter</th><th>winner</th>\
         <th>default</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
}
