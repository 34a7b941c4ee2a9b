//! `tilewright export`: trials and recordings in the forms that other tools read.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;
use tilewright_journal::JOURNAL_FILE;
use tilewright_recorded::{Content, RecordedSpace, kernel_tuner_cache, read, t4};
use tilewright_results::{Campaign, Table, write_csv, write_optuna_journal, write_parquet};

use crate::arguments::Export;
use crate::output_file::{Out, write};
use crate::{UsageError, output};

/// A form, by what it is made from.
enum Form {
    /// The trials of a campaign.
    Trials(fn(&Campaign, &mut Out) -> Result<()>),
    /// Configurations with their times, of a campaign or of others.
    Space(fn(&RecordedSpace, &mut Out) -> Result<()>),
}

/// Every form with the file that was asked for.
fn forms(arguments: &Export) -> [(&Option<PathBuf>, Form); 5] {
    [
        (&arguments.t4, Form::Space(|space, out| Ok(serde_json::to_writer(out, &t4(space))?))),
        (&arguments.cache, Form::Space(write_cache)),
        (&arguments.csv, Form::Trials(|campaign, out| Ok(write_csv(&Table::of_trials(campaign), out)?))),
        (
            &arguments.parquet,
            Form::Trials(|campaign, out| Ok(write_parquet(&Table::of_trials(campaign), out)?)),
        ),
        (&arguments.optuna_journal, Form::Trials(|campaign, out| Ok(write_optuna_journal(campaign, out)?))),
    ]
}

fn write_cache(space: &RecordedSpace, out: &mut Out) -> Result<()> {
    Ok(serde_json::to_writer(out, &kernel_tuner_cache(space, &jiff::Timestamp::now().to_string()))?)
}

/// Runs the command.
pub(crate) fn export(arguments: &Export) -> Result<()> {
    let source = &arguments.source;
    let mut written: Vec<&PathBuf> = Vec::new();
    let (mut campaign, mut space) = (None, None);
    for (file, form) in forms(arguments) {
        let Some(file) = file else { continue };
        match form {
            Form::Trials(form) => {
                let trials = match campaign.take() {
                    Some(known) => known,
                    None => trials(source)?,
                };
                write(file, |out| form(campaign.insert(trials), out))?;
            }
            Form::Space(form) => {
                let configurations = match space.take() {
                    Some(known) => known,
                    None => configurations(source)?,
                };
                write(file, |out| form(space.insert(configurations), out))?;
            }
        }
        written.push(file);
    }
    if arguments.json {
        return output::json(&json!({ "version": 1, "files": written }));
    }
    let lines: Vec<String> = written.iter().map(|file| format!("{}\n", file.display())).collect();
    output::result(&lines.concat())
}

/// The campaign in a folder, or whose journal this is.
fn trials(source: &Path) -> Result<Campaign> {
    let journal = source.file_name().is_some_and(|name| name == JOURNAL_FILE);
    let folder = source.parent().filter(|_| journal).unwrap_or(source);
    let needed = "--csv, --parquet and --optuna-journal are for campaigns";
    Campaign::read(folder).with_context(|| format!("{} is no campaign; {needed}", source.display()))
}

fn configurations(source: &Path) -> Result<RecordedSpace> {
    match read(source).map_err(|error| UsageError(error.to_string()))? {
        Content::Space(space) => Ok(space),
        Content::Problem(problem) => {
            let text = format!("{}: a problem description has no trials to export", problem.file);
            Err(UsageError(text).into())
        }
    }
}
