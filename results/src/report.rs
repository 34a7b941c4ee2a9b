use std::fs;
use std::path::{Path, PathBuf};

use tilewright_journal::Damage;

use crate::charts::charts;
use crate::page::page;
use crate::{Campaign, ReportError, Summary};

/// What [`report`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The page.
    pub page: PathBuf,
    /// The charts in it, each as a file.
    pub charts: Vec<PathBuf>,
    /// Lines of the journal that could not be read, which the page lists too.
    pub damage: Vec<Damage>,
}

/// Writes `report.html` and `charts/*.svg` into a campaign's folder, from its journal alone.
///
/// The same journal gives the same bytes. The page needs no script and no other file.
///
/// # Errors
/// When the journal cannot be read or does not say what was started, or a file cannot be written.
pub fn report(folder: &Path) -> Result<Report, ReportError> {
    let campaign = Campaign::read(folder)?;
    let charts = charts(&campaign)?;
    let chart_folder = folder.join("charts");
    fs::create_dir_all(&chart_folder)
        .map_err(|error| ReportError::Io { path: chart_folder.clone(), error })?;
    let mut written = Vec::new();
    for chart in &charts {
        let path = chart_folder.join(format!("{}.svg", chart.name));
        write(&path, &chart.svg)?;
        written.push(path);
    }
    let path = folder.join("report.html");
    write(&path, &page(&campaign, &Summary::of(&campaign), &charts))?;
    Ok(Report { page: path, charts: written, damage: campaign.damage })
}

fn write(path: &Path, text: &str) -> Result<(), ReportError> {
    fs::write(path, text).map_err(|error| ReportError::Io { path: path.to_owned(), error })
}
