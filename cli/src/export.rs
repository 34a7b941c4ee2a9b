//! `tilewright export`: trials and recordings in the forms that other tools read.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;
use tilewright_recorded::{Content, kernel_tuner_cache, read, t4};
use tilewright_results::{Campaign, export_csv};

use crate::arguments::Export;
use crate::{UsageError, output};

/// Runs the command.
pub(crate) fn export(arguments: &Export) -> Result<()> {
    let source = &arguments.source;
    let mut written: Vec<&PathBuf> = Vec::new();
    if let Some(file) = &arguments.csv {
        let campaign = Campaign::read(source)
            .with_context(|| format!("{} is no campaign; --csv is for campaigns", source.display()))?;
        let mut out = BufWriter::new(create(file)?);
        export_csv(&campaign, &mut out).with_context(|| format!("cannot write {}", file.display()))?;
        written.push(file);
    }
    if arguments.t4.is_some() || arguments.cache.is_some() {
        let space = match read(source).map_err(|error| UsageError(error.to_string()))? {
            Content::Space(space) => space,
            Content::Problem(problem) => {
                let text = format!("{}: a problem description has no trials to export", problem.file);
                return Err(UsageError(text).into());
            }
        };
        let forms = [
            (&arguments.t4, t4 as fn(&_) -> _),
            (&arguments.cache, |space| kernel_tuner_cache(space, &jiff::Timestamp::now().to_string())),
        ];
        for (file, form) in forms {
            let Some(file) = file else { continue };
            serde_json::to_writer(BufWriter::new(create(file)?), &form(&space))
                .with_context(|| format!("cannot write {}", file.display()))?;
            written.push(file);
        }
    }
    if arguments.json {
        return output::json(&json!({ "version": 1, "files": written }));
    }
    let lines: Vec<String> = written.iter().map(|file| format!("{}\n", file.display())).collect();
    output::result(&lines.concat())
}

fn create(file: &Path) -> Result<std::fs::File> {
    std::fs::File::create(file).with_context(|| format!("cannot make {}", file.display()))
}
