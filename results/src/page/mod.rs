//! One self-contained page: text, tables and charts, no script, nothing loaded from elsewhere.
#![expect(
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a page is made once, and reads better so"
)]

mod kernel;
mod listing;
pub(crate) mod markup;
mod opening;
mod provenance;
mod search;
mod trust;

use crate::charts::Chart;
use crate::format::escape;
use crate::{Campaign, Summary};

pub(crate) const STYLE: &str = include_str!("style.css");

/// What every section is made from.
pub(crate) struct Source<'a> {
    pub(crate) campaign: &'a Campaign,
    pub(crate) summary: &'a Summary,
    charts: &'a [Chart],
}

impl Source<'_> {
    /// A chart with a caption, or nothing where the campaign has no numbers for it.
    fn figure(&self, name: &str, caption: &str) -> String {
        let Some(chart) = self.charts.iter().find(|chart| chart.name == name) else {
            return String::new();
        };
        format!("<figure>{}<figcaption>{}</figcaption></figure>", chart.inline(), escape(caption))
    }
}

/// The page.
pub(crate) fn page(campaign: &Campaign, summary: &Summary, charts: &[Chart]) -> String {
    let source = Source { campaign, summary, charts };
    let sections = [
        ("trust", "Why to believe it", trust::section(&source)),
        ("search", "The search", search::section(&source)),
        ("kernel", "The kernel", kernel::section(&source)),
        ("provenance", "Provenance", provenance::section(&source)),
    ];
    let links: String =
        sections.iter().map(|(id, title, _)| format!("<a href=\"#{id}\">{title}</a>")).collect();
    let body: String = sections
        .iter()
        .map(|(id, title, body)| format!("<section id=\"{id}\"><h2>{title}</h2>{body}</section>\n"))
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body><main>\n{opening}<nav>{links}</nav>\n{body}\
         <footer>Made by {tool} from the campaign's journal alone.</footer></main></body></html>\n",
        title = escape(&format!("Tilewright: {}", campaign.started.subject)),
        opening = opening::section(&source),
        tool = escape(&campaign.started.tool),
    )
}
