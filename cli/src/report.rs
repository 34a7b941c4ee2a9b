//! `tilewright report`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;
use tilewright_journal::JOURNAL_FILE;

use crate::arguments::Report;
use crate::{UsageError, output};

/// Runs the command.
pub(crate) fn report(arguments: &Report) -> Result<()> {
    let folder = &arguments.campaign;
    let journal = folder.join(JOURNAL_FILE);
    if !journal.is_file() {
        let text = format!("{} is no campaign: it has no {JOURNAL_FILE}", folder.display());
        return Err(UsageError(text).into());
    }
    let written = tilewright_results::report(folder)
        .with_context(|| format!("cannot make the report of {}", folder.display()))?;
    let (mut page, mut charts) = (written.page, written.charts);
    if let Some(out) = &arguments.out {
        std::fs::create_dir_all(out.join("charts"))
            .with_context(|| format!("cannot make {}", out.display()))?;
        let place = |from: &PathBuf| -> Result<PathBuf> {
            let to = out.join(from.strip_prefix(folder).unwrap_or(from));
            std::fs::copy(from, &to).with_context(|| format!("cannot write {}", to.display()))?;
            Ok(to)
        };
        (page, charts) = (place(&page)?, charts.iter().map(place).collect::<Result<_>>()?);
    }
    for damage in &written.damage {
        output::note(&format!("warning: {}: {damage}; the rest is reported", journal.display()));
    }
    if arguments.json {
        let damage: Vec<String> = written.damage.iter().map(ToString::to_string).collect();
        return output::json(&json!({ "version": 1, "page": page, "charts": charts, "damage": damage }));
    }
    output::result(&format!("{}\n", page.display()))
}
